"""The bundled sessions are moved to the present, whatever day it is."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from cloxy_core import demo
from cloxy_core.demo.sessions import copy_sessions

ZONES = [UTC, ZoneInfo("Europe/Lisbon"), ZoneInfo("Pacific/Kiritimati"), ZoneInfo("Pacific/Niue")]
# Every day of the week, the first and last minute of the day, both changes of the clocks.
MOMENTS = [
    *(datetime(2026, 7, day, 0, 1, tzinfo=UTC) for day in range(6, 13)),
    datetime(2026, 3, 29, 23, 59, tzinfo=UTC),
    datetime(2026, 4, 4, 12, 0, tzinfo=UTC),
    datetime(2026, 10, 31, 1, 30, tzinfo=UTC),
    datetime(2028, 2, 29, 12, 0, tzinfo=UTC),
]


def spoken(folder):
    """Time and words of every line that has a time."""
    found = []
    for file in sorted(folder.rglob("*.jsonl")):
        for line in file.read_text(encoding="utf-8").splitlines():
            record = json.loads(line)
            if "timestamp" in record:
                found.append((datetime.fromisoformat(record["timestamp"]), line))
    return found


@pytest.mark.parametrize("zone", ZONES, ids=str)
@pytest.mark.parametrize("now", MOMENTS, ids=str)
def test_one_session_about_retries_is_of_last_week_and_nothing_is_of_the_future(
    tmp_path, now, zone
):
    assert copy_sessions(tmp_path, now, zone) == 8
    today = now.astimezone(zone).date()
    monday = today - timedelta(days=today.weekday() + 7)
    lines = [(moment.astimezone(zone).date(), line) for moment, line in spoken(tmp_path)]
    last_week = [line for day, line in lines if monday <= day < monday + timedelta(days=7)]
    assert any("eight tries" in line for line in last_week)
    assert not any("three tries" in line for line in last_week)
    assert max(day for day, _ in lines) == today - timedelta(days=1)


def test_the_hour_of_the_day_stays_when_the_clocks_change(tmp_path):
    lisbon = ZoneInfo("Europe/Lisbon")
    hours = []
    for month in (7, 12):
        copy_sessions(tmp_path / str(month), datetime(2026, month, 15, 12, tzinfo=UTC), lisbon)
        moments = [moment for moment, _ in spoken(tmp_path / str(month))]
        hours.append([moment.astimezone(lisbon).time() for moment in moments])
    assert hours[0] == hours[1]


def test_lines_are_otherwise_as_they_were_written(tmp_path):
    copy_sessions(tmp_path, datetime(2026, 7, 11, 12, tzinfo=UTC), ZoneInfo("Asia/Tokyo"))
    bundled = Path(demo.__file__).parent / "logs"
    assert len(list(bundled.rglob("*.jsonl"))) == 8
    for file in bundled.rglob("*.jsonl"):
        lines = file.read_text(encoding="utf-8").splitlines()
        moved = (tmp_path / file.relative_to(bundled)).read_text(encoding="utf-8").splitlines()
        for before, after in zip(map(json.loads, lines), map(json.loads, moved), strict=True):
            assert list(before) == list(after)
            if "timestamp" in before:
                assert before.pop("timestamp") < after.pop("timestamp")
            assert before == after
