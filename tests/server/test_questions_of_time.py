"""What people ask about a time, of the running server."""

from datetime import UTC, datetime, timedelta

import pytest
from server.live_server import line, write_session


def said(uid, text, days_ago, role="user"):
    at = datetime.now(UTC) - timedelta(days=days_ago)
    stamp = at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return line(uid, text, role=role, session=f"s-{days_ago}", timestamp=stamp)


@pytest.fixture(scope="module")
def remembered(shared):
    write_session(shared.logs, "s-400", said("o1", "what did we do about the redis port then", 400))
    write_session(shared.logs, "s-1", said("y1", "the queue was renamed to lane two", 1))
    write_session(shared.logs, "s-1", said("y2", "and redis moved to 6380", 1, "assistant"))
    assert shared.ask("POST", "/ingest_convos", {})[0] == 200
    shared.wait_for_vectors()
    return shared


def noon():
    """A zone in which it is about noon, so that no day ends while the tests run."""
    hours = 12 - datetime.now(UTC).hour
    return f"{'+' if hours >= 0 else '-'}{abs(hours):02}:00"


ZONE = noon()


def recall(server, query):
    return server.ask("POST", "/recall", {"query": query, "group": "passage", "tz": ZONE})[1]


@pytest.mark.parametrize("query", ["yesterday", "what did we do yesterday", "recap of yesterday"])
def test_a_time_alone_gives_what_was_said_then(remembered, query):
    answer = recall(remembered, query)
    texts = [hit["passages"][0]["text"] for hit in answer["results"]]
    assert texts == ["and redis moved to 6380", "the queue was renamed to lane two"]
    assert answer["channels"] == ["time"]


def test_nothing_said_then_is_an_answer(remembered):
    answer = recall(remembered, "what happened three days ago")
    assert (answer["results"], answer["notes"]) == ([], ["nothing was said in that time"])


def test_words_and_a_time_put_that_time_ahead(remembered):
    answer = recall(remembered, "redis port yesterday")
    assert answer["results"][0]["passages"][0]["text"] == "and redis moved to 6380"


def test_words_that_were_said_at_other_times_are_told_so(remembered):
    answer = recall(remembered, "redis three days ago")
    assert answer["results"]
    assert answer["notes"] == ["nothing of that time answers; these are from other times"]
