"""Dates in questions, in the asker's zone; and what only looks like one."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from cloxy_plugins.expansion.time_hints import find_window

SHANGHAI = ZoneInfo("Asia/Shanghai")
NOW = datetime(2026, 5, 13, 10, 30, tzinfo=UTC)  # a Wednesday


def window(text, now=NOW, zone=UTC, protected=()):
    hint = find_window(text, int(now.timestamp() * 1000), zone, protected)
    if hint is None:
        return None
    return tuple(
        None if at is None else datetime.fromtimestamp(at / 1000, zone).strftime("%Y-%m-%d")
        for at in (hint.window.since, hint.window.until)
    )


@pytest.mark.parametrize(
    ("text", "since", "until"),
    [
        ("what broke on 2026-05-02?", "2026-05-02", "2026-05-03"),
        ("changes from 2026-02", "2026-02-01", "2026-03-01"),
        ("on 3 May 2026", "2026-05-03", "2026-05-04"),
        ("the 3rd of May, 2026", "2026-05-03", "2026-05-04"),
        ("May 3, 2026", "2026-05-03", "2026-05-04"),
        ("on June 3", "2025-06-03", "2025-06-04"),
        ("work during July 2026", "2026-07-01", "2026-08-01"),
        ("what happened in March", "2026-03-01", "2026-04-01"),
        ("what happened in December", "2025-12-01", "2026-01-01"),
        ("in 2025", "2025-01-01", "2026-01-01"),
        ("Q1 2026 plans", "2026-01-01", "2026-04-01"),
        ("the second quarter of 2025", "2025-04-01", "2025-07-01"),
        ("what did we do yesterday", "2026-05-12", "2026-05-13"),
        ("the day before yesterday", "2026-05-11", "2026-05-12"),
        ("today", "2026-05-13", "2026-05-14"),
        ("last week", "2026-05-04", "2026-05-11"),
        ("this week", "2026-05-11", "2026-05-18"),
        ("last month", "2026-04-01", "2026-05-01"),
        ("last quarter", "2026-01-01", "2026-04-01"),
        ("last weekend", "2026-05-09", "2026-05-11"),
        ("31 February 2026", "2026-02-01", "2026-03-01"),
        ("two days ago", "2026-05-11", "2026-05-12"),
        ("3 months ago", "2026-02-01", "2026-03-01"),
        ("in the last 3 days", "2026-05-10", "2026-05-14"),
        ("past two weeks", "2026-04-29", "2026-05-14"),
        ("since Tuesday", "2026-05-12", None),
        ("last Wednesday", "2026-05-06", "2026-05-07"),
        ("on Friday", "2026-05-08", "2026-05-09"),
        ("before 2026-05-02", None, "2026-05-02"),
        ("after 3 May 2026", "2026-05-04", None),
        ("from 2026-01-05 to 2026-01-09", "2026-01-05", "2026-01-10"),
        ("昨天做了什么", "2026-05-12", "2026-05-13"),
        ("上周的评审", "2026-05-04", "2026-05-11"),
        ("2026年4月3日的会议", "2026-04-03", "2026-04-04"),
        ("三天前", "2026-05-10", "2026-05-11"),
    ],
)
def test_dates_become_windows(text, since, until):
    assert window(text) == (since, until)


@pytest.mark.parametrize(
    "text",
    [
        "open 2026-05-02.log",
        "logs/2026-05-02/app",
        "version 2024.1 of the tool",
        "v2026-05 image",
        "tag release-2026-05-02",
        "port 2024:2024",
        "2026-13-45",
        "may I march on",
        "you may see second thoughts",
        "1999 bottles",
        "the sun and the mon key",
        "we met 3 times",
        "Q5 review",
    ],
)
def test_what_is_no_date(text):
    assert window(text) is None


def test_literals_are_protected():
    text = "image 2026-05-02 here"
    assert window(text) is not None
    assert window(text, protected=[(6, 16)]) is None


def test_words_are_read_in_the_askers_zone():
    late = datetime(2026, 5, 12, 17, 0, tzinfo=UTC)  # already the 13th in Shanghai
    assert window("yesterday", late, SHANGHAI) == ("2026-05-12", "2026-05-13")
    assert window("yesterday", late, UTC) == ("2026-05-11", "2026-05-12")


def test_relative_words_are_told_apart_from_dates():
    now = int(NOW.timestamp() * 1000)
    text = "ledger work last week"
    hint = find_window(text, now, UTC)
    assert [text[slice(*span)] for span in hint.relative] == ["last week"]
    assert find_window("ledger work in May 2026", now, UTC).relative == ()
