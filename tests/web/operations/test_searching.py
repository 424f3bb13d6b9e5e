"""`/search`: which lines match, what is shown around them, and patterns that cannot hang."""

import asyncio
import sys

import pytest
from web.operations.pages import URL, Context, Pages, page

from cloxy_hookspecs import BlockedURLError, InputError, MissingExtraError
from cloxy_plugins.web import operations_patterns, operations_search
from cloxy_plugins.web.operations_models import SearchInput
from cloxy_plugins.web.operations_patterns import WINDOW, find_pattern, find_text
from cloxy_plugins.web.operations_search import create_search

TEXT = "one\ntwo Harbour\nthree\nfour\nfive harbour\nsix\nseven"


def search(pages, pattern="harbour", **more):
    run = create_search(Context(pages))
    return asyncio.run(run(SearchInput(url=URL, pattern=pattern, **more)))


def test_lines_are_counted_from_0_and_shown_with_two_on_either_side():
    found = search({URL: page(TEXT, from_cache=True, final_url="https://example.com/there")})
    assert [(match.line, match.context) for match in found.matches] == [
        (1, "one\ntwo Harbour\nthree\nfour"),
        (4, "three\nfour\nfive harbour\nsix\nseven"),
    ]
    assert (found.url, found.pattern, found.total_matches) == (URL, "harbour", 2)
    assert found.final_url == "https://example.com/there"
    assert (found.from_cache, found.fetched_at) == (True, "2026-01-01T00:00:00.000Z")
    assert (found.next_offset, found.searched) == (None, "clean")


def test_nothing_found():
    found = search({URL: page(TEXT)}, "lighthouse")
    assert (found.matches, found.total_matches, found.notes) == ([], 0, [])


def test_dots_and_brackets_are_themselves_unless_it_is_an_expression():
    pages = {URL: page("a.b[c]\naxbc")}
    assert [match.line for match in search(pages, "a.b[c]").matches] == [0]
    assert [match.line for match in search(pages, "a.b[c]", regex=True).matches] == [1]


@pytest.mark.parametrize(
    ("line", "text"),
    [("STRASSE", "straße"), ("cafe\u0301", "caf\u00e9"), ("灯塔是白色的", "白色"), ("Ω", "ω")],
)
def test_case_and_composition_do_not_matter(line, text):
    assert find_text([line], text).lines == [0]


def test_a_page_without_readable_text_is_searched_as_it_came():
    pages = Pages({(URL, "clean"): page(" \n"), (URL, "raw"): page("<b>\nHarbour\r\n</b>")})
    found = search(pages)
    assert [request.mode for request in pages.asked] == ["clean", "raw"]
    assert [(match.line, match.context) for match in found.matches] == [(1, "<b>\nHarbour\n</b>")]
    assert found.searched == "raw"
    assert any("as it is" in note for note in found.notes)


def test_matches_come_a_part_at_a_time_and_none_is_lost():
    pages = {URL: page("\n".join(f"x{number}" for number in range(25)))}
    lines, offset = [], 0
    while offset is not None:
        part = search(pages, "x", limit=10, offset=offset)
        assert part.total_matches == 25
        lines += [match.line for match in part.matches]
        offset = part.next_offset
    assert lines == list(range(25))


def test_why_the_text_may_not_be_all_is_told():
    cut = page(TEXT, truncated=True, flags=frozenset({"needs_browser"}), notes=("a feed",))
    found = search({URL: cut})
    assert found.flags == ["needs_browser"]
    assert found.notes[0] == "a feed"
    assert "browser" in found.notes[1]
    assert "its end is missing" in found.notes[2]


def test_a_refusal_is_passed_on():
    with pytest.raises(BlockedURLError):
        search({URL: BlockedURLError("no")})


def test_expression_sees_one_line_and_no_case():
    lines = ["Version 1.2", "version", "x version 10.20 y", ""]
    assert find_pattern(lines, r"^version \d+").lines == [0]
    assert find_pattern(lines, r"\bversion\s\d+\.\d+$").lines == [0]
    assert find_pattern(lines, r"(?-i)^version").lines == [1]
    assert find_pattern(lines, "^$").lines == [3]


@pytest.mark.parametrize("bad", ["(", "a{2,1}", "[z-a]", r"(a)\1", "(?=a)", "(?<!b)a", "*"])
def test_what_is_no_expression_is_refused_before_anything_is_fetched(bad):
    pages = Pages({})
    with pytest.raises(InputError, match="pattern") as refused:
        search(pages, bad, regex=True)
    assert refused.value.http_status == 400
    assert pages.asked == []


@pytest.mark.parametrize("large", [r"(.{0,999}x){1}", r"\pL{0,1000}x", r"(?:\w{0,30}){0,900}"])
def test_an_expression_that_compiles_to_too_much_is_refused(large):
    with pytest.raises(InputError, match="pattern"):
        find_pattern(["x"], large)


@pytest.mark.parametrize(
    "hostile", [r"(a+)+$", r"(a|a)*b", r"(a|aa)+$", r"(.*a){20}b", r"^(\w+\s?)*$", "(?:a?){500}b"]
)
def test_expressions_that_hang_other_engines_end(hostile):
    # An engine that goes back would need longer than the sun has left.
    found = find_pattern(["a" * 100_000 + "!"], hostile)
    assert found.complete


def test_time_is_looked_at_within_a_line_and_what_was_found_is_kept():
    ticks = iter(range(100))
    line = "b" * (4 * WINDOW)
    found = find_pattern(["xa", line, line + "a"], "a", clock=lambda: next(ticks))
    assert (list(found.lines), found.complete) == ([0], False)


def test_late_answer_says_so(monkeypatch):
    monkeypatch.setattr(operations_patterns, "SECONDS", -1.0)
    found = search({URL: page(TEXT)}, "h.rbour", regex=True)
    assert found.total_matches == 0
    assert "later lines were not searched" in found.notes[0]


def test_windows_of_a_long_line_are_one_line():
    border = WINDOW - 3
    line = "b" * border + "needle" + "b" * WINDOW
    assert find_pattern([line], "needle").lines == [0]
    assert find_pattern([line], "b{100}needle").lines == [0]
    # Anchors and borders of words are those of the line, not those of a window.
    assert find_pattern([line], "^needle|needle$").lines == []
    assert find_pattern(["ab" * WINDOW], r"^b|\bb|a$|a\b").lines == []
    assert find_pattern(["é" * WINDOW + "x"], "éx$").lines == [0]


@pytest.mark.parametrize("place", [0, 17_000, 19_999, 200_000, 380_000])
@pytest.mark.parametrize("length", [10, 1_999, 2_500, 21_000, 15_000])
def test_match_of_any_length_at_any_place_of_a_long_line(place, length):
    line = "-" * place + "b" + "a" * length + "c" + "-" * (400_000 - place)
    assert find_pattern([line], "ba+c").lines == [0]
    assert find_pattern([line], "^-*ba+c-*$").lines == [0]
    assert find_pattern([line], f"ba{{{min(length, 900)}}}a*c").whole
    assert find_pattern([line], "ba+d").lines == []


def test_text_of_any_length_at_any_place_of_a_long_line():
    needle = "x" + "ab" * 400
    assert find_text(["ab" * 100_000 + needle + "ab" * 100_000], needle).lines == [0]


def test_too_little_time_for_long_matches_is_told(monkeypatch):
    """The first pass took so long that the second would end too late."""
    seconds = iter([0.0, *[0.0, 0.1, 1.1, 1.1], *[1.2, 1.2], 1.3])
    long = "b" + "a" * (WINDOW + 10_000) + "c"
    found = find_pattern([long, "bac"], "ba+c", clock=lambda: next(seconds))
    assert (list(found.lines), found.complete, found.whole) == ([1], True, False)
    late = operations_patterns.Found([1], whole=False)
    monkeypatch.setattr(operations_search, "find_pattern", lambda *_given: late)
    assert "matches of up to 2,000" in search({URL: page(TEXT)}, "x", regex=True).notes[0]


def test_without_the_engine_the_command_that_installs_it_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "re2", None)
    with pytest.raises(MissingExtraError, match="google-re2"):
        find_pattern(["x"], "x")
    assert find_text(["x"], "x").lines == [0]
