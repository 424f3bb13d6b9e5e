"""The reader's time zone."""

import time
from pathlib import Path

import pytest

from cloxy_core.cli.zone import reader_zone

ROOT = Path("/usr/share/zoneinfo")
needs_zones = pytest.mark.skipif(not (ROOT / "Europe/Oslo").exists(), reason="no zone files here")


@pytest.fixture
def local_zone(monkeypatch):
    """Sets TZ for the C library as well, and sets it back."""

    def use(name):
        monkeypatch.setenv("TZ", name)
        time.tzset()
        return {"TZ": name}

    yield use
    monkeypatch.undo()
    time.tzset()


@needs_zones
@pytest.mark.parametrize(
    ("value", "zone"),
    [
        ("Europe/Oslo", "Europe/Oslo"),
        (":Europe/Oslo", "Europe/Oslo"),
        ("/usr/share/zoneinfo/Europe/Oslo", "Europe/Oslo"),
        ("/usr/share/zoneinfo/posix/Europe/Oslo", "Europe/Oslo"),
        ("UTC", "UTC"),
        ("EST5EDT", "EST5EDT"),
    ],
)
def test_named_zone(value, zone):
    if not (ROOT / zone).exists():
        pytest.skip("this machine lacks the zone")
    assert reader_zone({"TZ": value}) == zone


@pytest.mark.parametrize(
    ("value", "offset"),
    [
        ("XYZ-5:30", "+05:30"),
        ("ABC3", "-03:00"),
        ("Nowhere/Land", "+00:00"),
        ("../../etc", "+00:00"),
    ],
)
def test_what_has_no_name_is_an_offset(local_zone, value, offset):
    assert reader_zone(local_zone(value)) == offset


@needs_zones
def test_link_of_the_machine(tmp_path):
    link = tmp_path / "localtime"
    link.symlink_to(ROOT / "Europe/Oslo")
    resolved = reader_zone({}, link)
    assert (
        resolved in {"Europe/Oslo", "Arctic/Longyearbyen", "Atlantic/Jan_Mayen"} or "/" in resolved
    )


def test_copied_zone_file_is_an_offset(local_zone, tmp_path):
    local_zone("ABC3")
    file = tmp_path / "localtime"
    file.write_bytes(b"TZif2")
    assert reader_zone({}, file) == "-03:00"
