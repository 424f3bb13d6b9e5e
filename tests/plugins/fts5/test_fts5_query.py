"""No text of a user is an operator, and none makes SQLite fail."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cloxy_plugins.fts5.query import (
    MAX_CHOSEN,
    MAX_CONSIDERED,
    MAX_ROWS,
    Terms,
    choose,
    expression,
    read_terms,
)

HOSTILE = [
    'unbalanced "quote',
    '"',
    '""',
    'say ""hi""',
    "don't",
    "alpha AND",
    "OR alpha",
    "NOT alpha",
    "NEAR(alpha beta)",
    "NEAR(alpha beta, -1)",
    "(alpha",
    "alpha)))",
    "alpha*",
    "*",
    "^alpha",
    "-alpha",
    "+alpha",
    "body:alpha",
    "{body parts}: alpha",
    "- body : alpha",
    "rowid:1",
    "a/b",
    "a,b",
    "20.04",
    "C++",
    "@user",
    "grammar::fa",
    "{x}",
    "alpha\x00beta",
    "\ud800 alpha",
    "\ufffd",
    "x'; DROP TABLE fts_passages; --",
    "\\",
    "%",
    "_",
    "🙂",
    "\u202ealpha",
    "a" * 50_000,
    "alpha " * 5_000,
    '"' * 999,
    "(" * 999 + "alpha",
]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_text_finds_its_words_or_nothing(shelf, text):
    shelf.put("alpha speaks", "beta answers", "unrelated gamma")
    answer = shelf.found(text, text)
    assert "unrelated gamma" not in answer
    if "alpha" in text:
        assert "alpha speaks" in answer


@settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(text=st.text(max_size=120), literal=st.text(max_size=20))
def test_any_text_is_a_valid_expression(shelf, text, literal):
    terms = read_terms(text, [literal])
    for term in (*terms.phrases, *terms.literals, *terms.words):
        shelf.sql("SELECT count(*) FROM passages_fts WHERE passages_fts MATCH ?", term)
    match = expression(choose(terms, lambda _term: 1))
    if match:
        shelf.sql("SELECT count(*) FROM passages_fts WHERE passages_fts MATCH ?", match)


def test_operators_select_nothing(shelf):
    shelf.put("alpha alone", "beta alone", "near and not or")
    assert shelf.found("alpha NOT alpha") == ["alpha alone"]
    assert set(shelf.found("alpha AND beta")) == {"alpha alone", "beta alone"}
    assert shelf.found("alph*") == []
    assert shelf.found("body:alpha") == ["alpha alone"]


def test_a_question_of_operators_alone_is_words(shelf):
    shelf.put("near and not or", "something else")
    assert shelf.found("AND NOT") == ["near and not or"]


def test_stop_words_do_not_search_unless_alone():
    assert read_terms("what is the ledger").words == ('"ledger"',)
    assert read_terms("what is it").words == ('"what"', '"is"', '"it"')


def test_nothing_to_search_for_is_falsy():
    assert not read_terms(' ?! "" 🙂 ')
    assert read_terms("x")


def test_quoted_phrase_is_exact_and_required(shelf):
    shelf.put("the lane two opens", "two lane road", "lane number two", "about the road")
    assert shelf.found('road "lane two"') == ["the lane two opens"]
    assert shelf.found('"two lane road"') == ["two lane road"]
    assert shelf.found('"road lane"') == []


def test_a_neighbours_text_does_not_satisfy_a_phrase(shelf):
    shelf.put("own words", before="red lantern")
    assert shelf.found("red lantern") == ["own words"]
    assert shelf.found('"red lantern"') == []


def test_possessive_and_typographic_apostrophes(shelf):
    shelf.put("Melanie paints", "don't retry on 429")
    assert shelf.found("Melanie’s") == ["Melanie paints"]
    assert shelf.found("“don’t retry”") == ["don't retry on 429"]


def test_the_rarest_terms_are_chosen_and_literals_first():
    counts = {f'"w{number}"': number + 1 for number in range(30)} | {'"gone"': 0, '"a.b"': 500}
    terms = Terms((), ('"a.b"',), tuple(reversed(counts)))
    chosen = choose(terms, counts.__getitem__).terms
    assert chosen[0] == '"a.b"'
    assert set(chosen[1:]) == {f'"w{number}"' for number in range(MAX_CHOSEN - 1)}


def test_common_words_are_left_out_when_rarer_ones_are_there():
    counts = {'"rare"': 5, '"seldom"': 50, '"common"': MAX_ROWS, '"every"': 3 * MAX_ROWS}
    chosen = choose(Terms((), (), tuple(counts)), counts.__getitem__).terms
    assert chosen == ('"rare"', '"seldom"')
    only = choose(Terms((), (), ('"common"', '"every"')), counts.__getitem__).terms
    assert only == ('"common"', '"every"')


def test_a_pasted_page_is_read_within_limits():
    page = " ".join(f"word{number}" for number in range(3_000))
    assert len(read_terms(page).words) == MAX_CONSIDERED


def test_word_and_number_are_a_phrase():
    assert '"HTTP 400"' in read_terms("what about HTTP 400").literals
    assert read_terms("about 400").literals == ()
