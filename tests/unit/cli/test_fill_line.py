"""The progress of `cloxy reembed`."""

import pytest

from cloxy_core.cli.reembed_progress import FillProgress, fill_line


@pytest.mark.parametrize(
    ("done", "total", "elapsed", "line"),
    [
        (0, 0, 0.0, f"[{' ' * 20}] 0/0 passages"),
        (1, 4, 0.0, f"[{'#' * 5}{' ' * 15}] 1/4 passages"),
        (1_000, 3_000, 10.0, f"[{'#' * 6}{' ' * 14}] 1,000/3,000 passages · 100.0 a second"
         " · about 20 s left"),
        (3_000, 3_000, 10.0, f"[{'#' * 20}] 3,000/3,000 passages · 300.0 a second"),
    ],
)  # fmt: skip
def test_line(done, total, elapsed, line):
    assert fill_line(done, total, elapsed) == line


def test_a_file_gets_a_line_for_each_tenth(capsys):
    with FillProgress() as progress:
        for done in range(1, 1_001):
            progress(done, 1_000)
    lines = capsys.readouterr().err.splitlines()
    assert [line.partition("] ")[2].partition("/")[0] for line in lines] == [
        "100", "200", "300", "400", "500", "600", "700", "800", "900", "1,000"
    ]  # fmt: skip


def test_a_terminal_gets_one_line_that_goes_away(capsys, monkeypatch):
    monkeypatch.setattr("cloxy_core.cli.output.is_terminal", lambda stream: True)
    with FillProgress() as progress:
        progress(10, 1_000)
        progress(20, 1_000)
    said = capsys.readouterr().err
    assert "\n" not in said
    assert "20/1,000 passages" in said
    assert said.endswith("\r")
    assert said.rstrip("\r").rpartition("\r")[2].strip() == ""


def test_how_far_it_came():
    progress = FillProgress()
    assert progress.reached() == "no passage has been embedded yet"
    progress(1_200, 3_400)
    assert progress.reached() == "1,200 of 3,400 passages have been embedded"
