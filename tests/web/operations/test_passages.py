"""Sentences and passages: whole, in order, and really in the text."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cloxy_plugins.web.operations_passages import PART, TARGET, parts, passages, sentences
from cloxy_plugins.web.operations_words import overlaps, words


def told(text):
    return [text[span.start : span.end] for span in sentences(text)]


@pytest.mark.parametrize(
    "expected",
    [
        ["It rains.", "Is it cold?", "Yes!", "Well…", "Go on."],
        ["Dr. Smith of the U.S. Navy met Mr. Jones at 5 p.m. on the pier.", "They left."],
        ["It costs 3.50 dollars, e.g. in Berlin.", "Version 1.2.3 is out."],
        ['She said "Stop!" and left.', "“It works.”", "(Really.)", "Fine."],
        ["J. R. R. Tolkien wrote it.", "See Fig. 3 for more."],
        ["Chapter 3.", "The end."],
        ["Das gilt z.B. für Nr. 5 und ca. 30 Fälle.", "Ende."],
        ["Wait... what happened?", "Nothing."],
    ],
)
def test_sentences_of_a_line(expected):
    assert told(" ".join(expected)) == expected


def test_sentences_without_spaces_between_them():
    assert told("港口很大。灯塔是白色的！真的吗？「是的。」他说。") == [
        "港口很大。",
        "灯塔是白色的！",
        "真的吗？",
        "「是的。」",
        "他说。",
    ]


def test_a_line_ends_a_sentence():
    assert told("# Heading\n\n- one item\n- another\r\n\tcode(x)") == [
        "# Heading",
        "- one item",
        "- another",
        "code(x)",
    ]


def test_passages_are_whole_sentences():
    text = " ".join(
        f"Sentence number {number} tells something about cranes." for number in range(60)
    )
    found = [text[span.start : span.end] for span in passages(text)]
    assert len(found) > 3
    assert all(len(passage) <= TARGET for passage in found)
    assert all(passage.startswith("Sentence") and passage.endswith("cranes.") for passage in found)
    assert " ".join(found) == text


def test_a_heading_begins_a_passage():
    text = "First part.\n\n## Limits\n\nThe limit is 5."
    assert [text[s.start : s.end] for s in passages(text)] == [
        "First part.",
        "## Limits\n\nThe limit is 5.",
    ]


def test_characters_that_say_more_fill_a_passage_sooner():
    text = "灯塔是白色的。" * 100
    assert max(span.end - span.start for span in passages(text)) <= TARGET / 2


def test_one_endless_sentence_is_cut_between_words():
    text = "crane " * 1000
    found = [text[span.start : span.end] for span in passages(text)]
    assert all(set(passage.split()) == {"crane"} for passage in found)
    assert sum(passage.count("crane") for passage in found) == 1000


TEXTS = st.text(
    st.sampled_from("ab .!?\n\t。！灯é\u00a0#\u2028\u0301x") | st.characters(codec="utf-8"),
    max_size=3000,
)


@settings(max_examples=150, deadline=None)
@given(TEXTS)
def test_nothing_is_lost_invented_or_twice(text):
    for spans in (sentences(text), passages(text)):
        end = 0
        for span in spans:
            assert not text[end : span.start].strip()
            assert text[span.start : span.end].strip() == text[span.start : span.end] != ""
            end = span.end
        assert not text[end:].strip()


@settings(max_examples=100, deadline=None)
@given(TEXTS, st.integers(1, 8))
def test_parts_join_to_the_text(text, times):
    found = parts(text * times)
    assert "".join(found) == (text * times if text.strip() else "")
    assert all(0 < len(part) <= PART for part in found)


def test_parts_end_at_lines():
    text = "".join(f"line {number}\n" for number in range(2000))
    assert all(part.endswith("\n") for part in parts(text))


def test_words_are_compared_without_case_endings_and_what_every_text_has():
    assert words("The cranes were Caching!") == words("crane cached") == {"cran", "cach"}
    assert words("灯塔白") == {"灯塔", "塔白"}


def test_rare_words_count_more():
    texts = ["the crane moves", "the crane rests", "the crane sleeps", "a lighthouse moves"]
    shared = overlaps("crane lighthouse", texts)
    assert shared[3] > shared[0] > 0
    assert overlaps("crane moves", texts)[0] == 1.0
    assert overlaps("the of", texts) == [0.0] * 4


@pytest.mark.parametrize("run", ["!", '?" ', "a.", ". ", "\n", "…)", "。」"])
def test_endless_runs_of_marks_end(run):
    # With a pattern that tries again at every mark this would take hours.
    text = run * (400_000 // len(run))
    assert all(span.end > span.start for span in passages(text))
