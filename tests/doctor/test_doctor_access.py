"""What the doctor says of the key, and of where the server would listen."""

import os

import pytest
from process.cli_runner import run_cloxy

from cloxy_core.core_settings import load_settings
from cloxy_core.services.doctor.access import examine_access
from cloxy_core.services.doctor.logs import examine_roots

GOOD = "Vq3-one-Key-of-32-Characters-5512"


def access(folder, **environment):
    return examine_access(load_settings({"CLOXY_DATA_DIR": str(folder), **environment}))


def test_without_a_key_it_says_plainly_who_can_read_the_memory(tmp_path):
    found = access(tmp_path)
    assert found.severity == "note"
    (problem,) = found.problems
    assert problem.name == "no-key"
    assert "every account of this machine" in problem.message
    assert "read" in problem.message
    assert "cloxy key create" in problem.remedy


def test_with_a_key_nothing_is_said(tmp_path):
    (tmp_path / "server.key").write_text(GOOD + "\n")
    for given in ({}, {"CLOXY_API_KEY": GOOD}):
        found = access(tmp_path, **given)
        assert found.problems == ()
        assert "key" in found.summary
        assert GOOD not in found.summary


@pytest.mark.parametrize("content", ["", "\n", "bell\x07"])
def test_a_key_file_without_a_key_is_an_error(tmp_path, content):
    (tmp_path / "server.key").write_text(content)
    (problem,) = access(tmp_path).problems
    assert (problem.name, problem.severity) == ("key-unusable", "error")
    assert "cloxy key create --force" in problem.remedy


@pytest.mark.parametrize("key", ["", "short", "changeme-changeme"])
def test_an_address_beyond_this_machine_wants_a_proper_key(tmp_path, key):
    (problem,) = access(tmp_path, CLOXY_HOST="0.0.0.0", CLOXY_API_KEY=key).problems
    assert (problem.name, problem.severity) == ("exposed", "error")
    assert access(tmp_path, CLOXY_HOST="0.0.0.0", CLOXY_API_KEY=GOOD).problems == ()


def test_a_short_key_is_a_warning(tmp_path):
    (problem,) = access(tmp_path, CLOXY_API_KEY="short").problems
    assert (problem.name, problem.severity) == ("short-key", "warning")


def test_the_command_says_it(patient):
    shown = run_cloxy("doctor", **patient.environment)
    assert shown.returncode == 0
    assert b"every account of this machine" in shown.stdout
    run_cloxy("key", "create", **patient.environment)
    assert b"every account" not in run_cloxy("doctor", **patient.environment).stdout


def test_what_is_watched_is_told_and_what_cannot_be_read_of_it(tmp_path):
    folder, file, closed = (tmp_path / name for name in ("folder", "one.md", "closed"))
    folder.mkdir()
    closed.mkdir()
    file.write_text("x")
    closed.chmod(0)
    try:
        if os.access(closed, os.R_OK):
            pytest.skip("this user may read everything")
        found = examine_roots([folder, file, closed, tmp_path / "gone"])
    finally:
        closed.chmod(0o700)
    assert [problem.details for problem in found.problems] == [(str(closed),)]


def test_a_file_that_is_watched_alone_is_no_folder_that_cannot_be_entered(tmp_path):
    file = tmp_path / "one.md"
    file.write_text("x")
    file.chmod(0o400)
    found = examine_roots([file, tmp_path / "gone"])
    assert found.problems == ()
    assert found.summary == f"{file}; 1 not there"


def test_the_sources_of_this_machine_are_examined(patient):
    watched = next(each for each in patient.examine().examined if each.part == "watched folders")
    assert "none" not in watched.summary
