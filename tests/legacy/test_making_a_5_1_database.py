"""The tool that runs the published 5.1: its logs, and what it says is wrong."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest
from ingest.ingest_support import Server

TOOL = Path(__file__).parents[2] / "tools" / "make_5_1_database.py"


@pytest.fixture
def tool():
    spec = importlib.util.spec_from_file_location("make_5_1_database", TOOL)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(*arguments):
    return subprocess.run(
        [sys.executable, str(TOOL), *map(str, arguments)], capture_output=True, text=True
    )


def test_its_logs_are_read_by_this_version_too(tool, tmp_path):
    tool.make_logs(tmp_path / "projects", 3, 8, 1)
    with Server(tmp_path) as server:
        report = server.ingest()
        assert report.errors == ()
        counts = server.rows(
            "SELECT s.title, count(DISTINCT p.message_uid) FROM sessions s"
            " JOIN passages p ON p.session_id = s.id GROUP BY s.id"
        )
    assert [count for _, count in counts] == [8, 8, 8]
    assert all(title.startswith("About ") for title, _ in counts)


def test_the_same_seed_makes_the_same_words(tool, tmp_path):
    for name in ("a", "b"):
        tool.make_logs(tmp_path / name, 2, 6, 7)
    texts = [
        [path.name for path in sorted((tmp_path / name).rglob("*.jsonl"))] for name in ("a", "b")
    ]
    assert texts[0] == texts[1]
    assert len(texts[0]) == 2


def test_a_folder_that_is_not_empty_is_not_touched(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "mine").write_text("precious", encoding="utf-8")
    done = run("--cloxy", "cloxy", "--models", tmp_path, "--data", tmp_path / "data")
    assert done.returncode == 1
    assert "is not empty" in done.stderr
    assert [path.name for path in (tmp_path / "data").iterdir()] == ["mine"]


def test_its_options_are_explained():
    done = run("--help")
    assert done.returncode == 0
    for option in ("--cloxy", "--models", "--data", "--sessions"):
        assert option in done.stdout
