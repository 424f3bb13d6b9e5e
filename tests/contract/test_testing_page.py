"""What the page about testing shows runs, and what it lists is there."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from cloxy_core.testing import conformance
from cloxy_hookspecs.seats import SEATS

PAGE = (Path(__file__).parents[2] / "docs" / "plugins" / "testing.md").read_text(encoding="utf-8")


def test_example_on_the_page_passes(tmp_path):
    plugin, tests = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    (tmp_path / "cloxy_greeter.py").write_text(plugin)
    (tmp_path / "test_greeter.py").write_text(tests)
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-W", "error", "-p", "no:cacheprovider"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert int(re.search(r"(\d+) passed", run.stdout).group(1)) >= 10


@pytest.mark.parametrize("seat", SEATS, ids=lambda seat: seat.hook)
def test_every_seat_is_in_the_table_with_its_classes(seat):
    (row,) = re.findall(rf"^\| `{seat.hook}` \|([^|]*)\|", PAGE, re.MULTILINE)
    classes = {name for name in conformance.__all__ if _fills(getattr(conformance, name), seat)}
    assert set(re.findall(r"`(\w+)`", row)) == classes


def _fills(cls, seat):
    return getattr(cls, "seat", None) is seat


def test_example_of_a_source_passes(tmp_path):
    page = (Path(__file__).parents[2] / "docs" / "plugins" / "write-a-source.md").read_text("utf-8")
    parts = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    for name, text in zip(
        ("chatter_sessions", "cloxy_chatter", "test_chatter"), parts, strict=True
    ):
        (tmp_path / f"{name}.py").write_text(text)
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-W", "error", "-p", "no:cacheprovider"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert int(re.search(r"(\d+) passed", run.stdout).group(1)) >= 10
