"""Cutting a long memory to what was asked."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cloxy_core.cli.excerpt import LIMIT, excerpt

FILLER = "nothing to see here, move along please. " * 60


def test_short_text_is_left_alone():
    assert excerpt("x" * LIMIT, "x") == "x" * LIMIT


def test_start_is_shown_when_nothing_else_is_known():
    shown = excerpt("first words " + FILLER, "absent")
    assert shown.startswith("first words")
    assert shown.endswith(" …")


@pytest.mark.parametrize("place", [0, 700, 2000])
def test_short_passage_is_inside(place):
    body = FILLER[:place] + "THE PASSAGE" + FILLER[place:]
    assert "THE PASSAGE" in excerpt(body, "x", (place, place + 11))


def test_end_of_text_has_no_mark_after_it():
    body = FILLER + "the end"
    shown = excerpt(body, "x", (len(FILLER), len(body)))
    assert shown.startswith("… ")
    assert shown.endswith("the end")


def test_long_passage_is_shown_where_most_words_of_the_question_are():
    body = FILLER + "port alone " + FILLER + "the Port that CLASHES with the dashboard " + FILLER
    shown = excerpt(body, "which port clashes with dashboard", (0, len(body)))
    assert "the Port that CLASHES with the dashboard" in shown


def test_characters_that_change_length_in_lower_case_do_not_shift_the_place():
    body = "İ" * 700 + "needle" + "İ" * 700
    assert len(excerpt(body, "needle", (0, len(body)))) <= LIMIT + 4


@given(
    body=st.text(alphabet="ab \n", min_size=0, max_size=3000),
    query=st.text(alphabet="ab (*", max_size=10),
    start=st.integers(0, 3000),
    length=st.integers(1, 3000),
)
def test_always_a_piece_of_the_text_within_the_limit(body, query, start, length):
    start = min(start, len(body))
    shown = excerpt(body, query, (start, min(len(body), start + length)))
    assert shown.removeprefix("… ").removesuffix(" …") in body
    assert len(shown) <= LIMIT + 4
