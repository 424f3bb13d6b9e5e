"""Times in logs: any form, or none."""

import pytest
from claude_logs import NOW, record

DAY = 86_400_000
AT = 1_784_278_801_000


@pytest.mark.parametrize(
    ("value", "at"),
    [
        ("2026-07-17T09:00:01Z", AT),
        ("2026-07-17T09:00:01.000Z", AT),
        ("2026-07-17T09:00:01.500Z", AT + 500),
        ("2026-07-17T09:00:01+00:00", AT),
        ("2026-07-17T11:00:01+02:00", AT),
        ("2026-07-17T09:00:01", AT),
        ("2026-07-17 09:00", AT - 1000),
        (1784278801, AT),
        (1784278801.5, AT + 500),
        (1784278801000, AT),
        ("1784278801", AT),
        ("1784278801000", AT),
        (None, None),
        (True, None),
        ([], None),
        ("", None),
        ("yesterday", None),
        ("9999-99-99", None),
        ("9999-12-31T23:59:59Z", None),
        ("9999-12-31T23:59:59-23:00", None),
        ("0001-01-01T00:00:00+23:00", None),
        ("1999-12-31T23:59:59Z", None),
        (-1, None),
        (0, None),
        (10**400, None),
        ("1e400", None),
        ("nan", None),
        ("inf", None),
    ],
)
def test_forms_of_time(logs, value, at):
    assert logs.result(record("user", "u1", "x", timestamp=value)).messages[0].at == at


def test_missing_time(logs):
    line = record("user", "u1", "x")
    del line["timestamp"]

    assert logs.result(line).messages[0].at is None


@pytest.mark.parametrize("number", [b"1e400", b"NaN", b"-Infinity", b"9" * 5000])
def test_numbers_that_are_no_time(logs, number):
    line = b'{"type":"user","uuid":"u1","timestamp":' + number + b',"message":{"content":"x"}}'

    message = logs.result(line).messages[0]

    assert (message.text, message.at) == ("x", None)


def test_future_is_not_believed_beyond_a_day(logs):
    near, far = NOW + DAY // 2, NOW + 365 * DAY
    result = logs.result(
        record("user", "u1", "x", timestamp=near), record("user", "u2", "y", timestamp=far)
    )

    assert [m.at for m in result.messages] == [near, None]


def test_file_from_a_machine_whose_clock_is_ahead_is_believed(logs):
    later = NOW + 30 * DAY
    logs.mtime_ns = later * 1_000_000

    assert logs.result(record("user", "u1", "x", timestamp=later)).messages[0].at == later
