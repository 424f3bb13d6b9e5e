"""The line above a memory, as shown and as indexed."""

from datetime import UTC, datetime

import pytest

from cloxy_core.services.headers import basename, header, index_header

AT = int(datetime(2026, 5, 8, 13, 56, 59, tzinfo=UTC).timestamp() * 1000)


@pytest.mark.parametrize(
    ("parts", "shown"),
    [
        ((AT, "/src/app", "Ledger", "abcdef0123"), "[2026-05-08 13:56 · app · Ledger]"),
        ((AT, "/src/app", None, "abcdef0123"), "[2026-05-08 13:56 · app · abcdef01]"),
        ((AT, None, None, None), "[2026-05-08 13:56]"),
        ((None, "app", None, "abc"), "[app · abc]"),
        ((None, None, None, None), ""),
        ((10**30, "app", None, None), "[app]"),
    ],
)
def test_the_shown_header(parts, shown):
    assert header(*parts) == shown


def test_the_indexed_header_says_the_day_as_people_do():
    line = index_header(AT, "/src/app", "Ledger", "abc", "user")
    assert line == "[2026-05-08 Friday 8 May 2026 · user · app · Ledger]"
    assert index_header(10**30, None, None, None, "note") == "[note]"


@pytest.mark.parametrize(
    ("project", "name"),
    [("/a/b/", "b"), ("C:\\work\\app", "app"), ("app", "app"), ("/", "/"), ("", ""), (None, "")],
)
def test_basename(project, name):
    assert basename(project) == name
