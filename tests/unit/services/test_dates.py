"""What callers may write as since and until, to the millisecond."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cloxy_core.services.dates import Dates, SystemZone
from cloxy_hookspecs import FilterError, Window

SHANGHAI = ZoneInfo("Asia/Shanghai")
ZURICH = ZoneInfo("Europe/Zurich")


def ms(*parts, zone=UTC):
    return int(datetime(*parts, tzinfo=zone).timestamp() * 1000)


NOW = ms(2026, 5, 13, 10, 30)


def window(since=None, until=None, zone=UTC):
    return Dates().window(since, until, now=NOW, zone=zone)


def test_a_date_means_the_readers_whole_day():
    said = ms(2026, 4, 15, 16, 30)
    for zone, inside in ((SHANGHAI, True), (UTC, False)):
        span = window("2026-04-16", "2026-04-16", zone)
        assert (span.since <= said < span.until) is inside


def test_until_a_day_includes_it_and_until_an_instant_does_not():
    assert window(until="2026-09-30").until == ms(2026, 10, 1)
    assert window(until="2026-09-30T12:00Z").until == ms(2026, 9, 30, 12)


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("2026-04-15T10:00:00.500Z", ms(2026, 4, 15, 10) + 500),
        ("2026-04-15T10:00:00+00:00", ms(2026, 4, 15, 10)),
        ("2026-04-15t10:00:00z", ms(2026, 4, 15, 10)),
        ("1784278801", 1784278801000),
        ("1784278801000", 1784278801000),
        (1784278801.5, 1784278801500),
        (1784278801000, 1784278801000),
        ("2026-09-12 14:40", ms(2026, 9, 12, 14, 40, zone=SHANGHAI)),
    ],
)
def test_instants_of_every_format(text, instant):
    assert window(since=text, zone=SHANGHAI).since == instant


@pytest.mark.parametrize(
    ("text", "since", "until"),
    [
        ("yesterday", ms(2026, 5, 12), ms(2026, 5, 13)),
        ("Today", ms(2026, 5, 13), ms(2026, 5, 14)),
        ("last week", ms(2026, 5, 4), ms(2026, 5, 11)),
        ("this month", ms(2026, 5, 1), ms(2026, 6, 1)),
        ("last month", ms(2026, 4, 1), ms(2026, 5, 1)),
        ("last quarter", ms(2026, 1, 1), ms(2026, 4, 1)),
        ("last year", ms(2025, 1, 1), ms(2026, 1, 1)),
        ("3 days ago", ms(2026, 5, 10), ms(2026, 5, 11)),
        ("three  days ago", ms(2026, 5, 10), ms(2026, 5, 11)),
        ("2 weeks", ms(2026, 4, 29), NOW),
        ("last 3 days", ms(2026, 5, 10), NOW),
        ("a month ago", ms(2026, 4, 13), ms(2026, 4, 14)),
        ("tuesday", ms(2026, 5, 12), ms(2026, 5, 13)),
        ("last wednesday", ms(2026, 5, 6), ms(2026, 5, 7)),
        ("2026-02", ms(2026, 2, 1), ms(2026, 3, 1)),
        ("2025", ms(2025, 1, 1), ms(2026, 1, 1)),
    ],
)
def test_words_are_spans(text, since, until):
    assert window(text, text) == Window(since, until)


def test_hours_are_counted_from_now():
    assert window("2 hours ago").since == NOW - 7_200_000


def test_the_last_day_of_a_month_has_a_counterpart():
    end = ms(2026, 3, 31, 12)
    assert Dates().window("1 month ago", None, now=end, zone=UTC).since == ms(2026, 2, 28)


def test_a_day_of_the_clock_change_is_as_long_as_it_is():
    span = window("2026-03-29", "2026-03-29", ZURICH)
    assert span.until - span.since == 23 * 3_600_000


@pytest.mark.parametrize(
    "text",
    [
        "soon",
        "2026-13-01",
        "2026-02-30",
        "99999999999999999",
        "1e9",
        "NaN",
        "last",
        "5 apples ago",
        "x" * 9999,
    ],
)
def test_anything_else_is_refused_with_examples(text):
    with pytest.raises(FilterError) as refused:
        window(since=text)
    assert "since" in refused.value.message
    assert "2026-09-30" in (refused.value.hint or "")


@given(st.text(max_size=40))
def test_any_text_is_a_window_or_a_refusal(text):
    try:
        span = window(since=text)
    except FilterError:
        return
    assert span.until is None


def test_an_empty_span_is_refused():
    with pytest.raises(FilterError):
        window("2026-05-02", "2026-05-01")


def test_no_bounds():
    assert window() == window("", " ") == Window()


def test_zones():
    dates = Dates()
    assert dates.zone("Europe/Zurich") == ZURICH
    assert dates.zone("+02:00").utcoffset(None) == timedelta(hours=2)
    assert dates.zone("UTC-5:30").utcoffset(None) == timedelta(hours=-5, minutes=-30)
    for name in ("Mars/Base", "../etc/passwd", "\x00", "+99:00"):
        with pytest.raises(FilterError):
            dates.zone(name)


@given(st.integers(0, 2_000_000_000))
def test_the_systems_zone_returns_every_instant(seconds):
    moment = datetime.fromtimestamp(seconds, SystemZone())
    assert moment.timestamp() == seconds
    assert moment.utcoffset() == datetime.fromtimestamp(seconds).astimezone().utcoffset()
