"""The readers as they stand in a recall: soft fields change, hard ones never."""

import asyncio
from datetime import UTC, datetime

import pytest

from cloxy_hookspecs import Filters, Query
from cloxy_plugins.expansion.latest import find_newest
from cloxy_plugins.expansion.plugin import cloxy_expanders

NOW = int(datetime(2026, 5, 13, tzinfo=UTC).timestamp() * 1000)


def expanded(text, **more):
    query = Query(text=text, top_k=5, now=NOW, search_text=text, **more)
    for record in sorted(cloxy_expanders(), key=lambda record: record.order):
        query = asyncio.run(record.create(None).expand(query))
    return query


def test_all_three_read_one_question():
    query = expanded("latest change to a_b.py last week")
    assert query.literals == ("a_b.py",)
    assert query.order == "newest"
    assert query.window is not None
    assert query.search_text == "change to a_b.py"
    assert query.text == "latest change to a_b.py last week"


def test_a_date_stays_a_word_in_prose_and_goes_beside_a_literal():
    assert expanded("the picnic in May 2026").search_text == "the picnic in May 2026"
    assert expanded("work on a_b.py in May 2026").search_text == "work on a_b.py"


def test_hard_fields_stay():
    hard = {
        "filters": Filters(project="/p", roles=("user",)),
        "recency_weight": 0.5,
        "mode": "keyword",
    }
    query = expanded("yesterday x_y", **hard)
    assert {name: getattr(query, name) for name in hard} == hard
    assert (query.top_k, query.now, query.group) == (5, NOW, "memory")


def test_nothing_is_taken_when_nothing_would_be_left():
    query = expanded("yesterday?")
    assert query.search_text == "yesterday?"
    assert query.window is not None


@pytest.mark.parametrize(
    "text",
    [
        "latest status",
        "the most recent deploy",
        "newest build",
        "current port",
        "when did we last deploy",
        "最新的部署",
    ],
)
def test_wishes_for_the_newest(text):
    assert find_newest(text)


@pytest.mark.parametrize(
    "text", ["the last name of Ann", "as a last resort", "at last it works", "the last two rows"]
)
def test_other_uses_of_the_words(text):
    assert not find_newest(text)


def test_words_inside_of_literals_do_not_count():
    assert expanded("what is current_user").order == "relevance"
    assert expanded("see node:latest.tar").order == "relevance"
