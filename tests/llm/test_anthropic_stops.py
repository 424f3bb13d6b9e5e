"""The texts before which an answer ends, however its pieces are cut."""

from hypothesis import given
from hypothesis import strategies as st

from cloxy_plugins.model_api.anthropic_stops import StopWatch


def run(stops, pieces):
    watch = StopWatch(stops)
    shown = "".join(watch.take(piece) for piece in pieces)
    return shown + watch.rest(), watch.matched


def test_one_that_is_split_over_pieces():
    assert run(["END"], ["abc E", "N", "D and more"]) == ("abc ", "END")


def test_what_only_looked_like_one_is_shown():
    assert run(["END"], ["abc E", "N", "C"]) == ("abc ENC", None)
    assert run(["END"], ["abc EN"]) == ("abc EN", None)


def test_text_goes_on_as_soon_as_it_can():
    watch = StopWatch(["END"])
    assert watch.take("abc") == "abc"
    assert watch.take("dE") == "d"
    assert watch.take("x") == "Ex"


def test_nothing_comes_after_one():
    watch = StopWatch(["b"])
    assert watch.take("abc") == "a"
    assert watch.take("more") == ""
    assert watch.rest() == ""


def test_the_one_that_is_complete_first_counts():
    assert run(["abcd", "c"], ["xabcd"]) == ("xab", "c")
    assert run(["b", "ab"], ["ab"]) == ("", "ab")


@given(
    st.lists(st.text("ab", min_size=1, max_size=3), max_size=3),
    st.lists(st.text("ab", max_size=3), max_size=8),
)
def test_it_does_not_matter_how_a_text_is_cut(stops, pieces):
    whole = "".join(pieces)
    assert run(stops, pieces) == run(stops, list(whole))
    shown, matched = run(stops, pieces)
    if matched is None:
        assert shown == whole
        assert not any(stop in whole for stop in stops)
    else:
        assert whole.startswith(shown + matched)
        assert not any(stop in shown for stop in stops)
