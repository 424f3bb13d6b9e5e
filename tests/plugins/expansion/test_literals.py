"""What people copy rather than phrase."""

import pytest

from cloxy_plugins.expansion.literals import MAX_LITERALS, find_literals, is_literal
from cloxy_plugins.expansion.spans import cut


@pytest.mark.parametrize(
    "literal",
    [
        "--no-verify",
        "x_y",
        "a.b:80",
        "PROJ-482",
        "C++",
        "C#",
        "v5.1",
        "10.0.0.7",
        "src/app/a_b-c.py",
        "std::vector",
        "HttpRetryPolicy",
        "7f3ac1",
        "ECONNRESET",
        "JWT_SECRET",
        "@user",
        "~/.bashrc",
        "./run.sh",
        "foo()",
    ],
)
def test_literals_are_found_in_a_sentence(literal):
    text = f"why did ({literal}), fail?"
    [(found, span)] = find_literals(text)
    assert found == literal
    assert text[slice(*span)] == found


@pytest.mark.parametrize(
    "word",
    ["well-known", "don't", "and/or", "Caroline", "JSON", "2nd", "100%", "12:30", "5", "3rd", "I"],
)
def test_prose_and_numbers_are_none(word):
    assert not is_literal(word)


def test_only_the_first_ones_count():
    text = " ".join(f"name_{number}" for number in range(50))
    assert [name for name, _ in find_literals(text)] == [f"name_{n}" for n in range(MAX_LITERALS)]


@pytest.mark.parametrize("text", ["a" * 40_000, "a1" * 20_000, "x-" * 20_000, "(" * 40_000])
def test_data_is_no_literal(text):
    assert find_literals(text) == []


def test_cut_closes_the_gap():
    assert cut("the last week of it", [(4, 13)]) == "the of it"
    assert cut("as it was", []) == "as it was"
