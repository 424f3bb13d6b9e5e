"""Which folders may be read on request, and what lies in them."""

import os

import pytest
from ingest_support import Server
from session_lines import lines, pairs, turns

from cloxy_hookspecs import ForbiddenError, InputError


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A server that watches `~/.claude/projects`, with a secret beside it."""
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".ssh").mkdir()
    (tmp_path / ".ssh" / "id.jsonl").write_bytes(lines(*turns(2, session="secret")))
    with Server(tmp_path, watch=tmp_path / ".claude" / "projects") as server:
        server.write(lines(*turns(3)))
        yield server


def given(text):
    """The path as the operation hands it on."""
    from pathlib import Path

    return Path(text)


@pytest.mark.parametrize(
    "text",
    [
        "~/.claude/projects",
        "~/.claude/projects/../projects",
        "~/.claude/projects/",
        "~/.claude/./projects/-srv-demo-app",
        "~/.claude/projects/-srv-demo-app/a.jsonl",
    ],
)
def test_a_watched_folder_and_what_lies_in_it_may_be_named(home, text):
    assert home.ingest(given(text)).messages_added == 3
    home.check()


@pytest.mark.parametrize(
    "text",
    [
        "/",
        "/etc",
        "~",
        "~/.ssh",
        "../../../../etc",
        "~/.claude/projects/../../.ssh",
        "/proc/self",
        "/dev",
        "file:///etc",
        "//host/share",
        r"\\host\share",
        r"C:\Windows",
        "~root",
        "~root/.ssh",
        "$HOME/.ssh",
        "$HOME/.claude/projects",
        "~/.claude/projects\0/etc",
        "~/.claude/projects/" + "a" * 5000,
        "~/.claude/projects/" + "a" * 300,
        "~/.claude/projects/\ud800",
        "~/.claude/projects-other",
        "~/.claude",
        "",
        ".",
        " ",
    ],
)
def test_any_other_path_is_refused_in_words(home, text):
    with pytest.raises((InputError, ForbiddenError)) as caught:
        home.ingest(given(text))
    assert caught.value.hint
    assert home.sessions() == {}
    assert home.ingest().messages_added == 3


def test_a_folder_that_is_not_there_is_an_input_error(home):
    with pytest.raises(InputError):
        home.ingest(home.watched / "nowhere")


def test_a_folder_that_leads_outside_is_refused(home):
    (home.watched / "out").symlink_to(home.folder / ".ssh")
    with pytest.raises((InputError, ForbiddenError)):
        home.ingest(home.watched / "out")
    with pytest.raises((InputError, ForbiddenError)):
        home.ingest(home.watched / "out" / "id.jsonl")
    home.ingest()
    assert set(home.sessions()) == {"s1"}


def test_a_file_that_leads_outside_is_passed_over(home):
    (home.watched / "-srv-demo-app" / "x.jsonl").symlink_to(home.folder / ".ssh" / "id.jsonl")
    report = home.ingest()
    assert set(home.sessions()) == {"s1"}
    assert report.errors == ()
    assert any("x.jsonl: is a link" in told for told in home.passed_over())
    assert home.status().warnings == ()


def test_a_folder_swapped_for_a_link_between_look_and_read_leads_nowhere(home, monkeypatch):
    (home.folder / ".ssh" / "a.jsonl").write_bytes(lines(*turns(2, session="secret")))
    folder = home.watched / "-srv-demo-app"
    (reader,) = home.engine.ingest.readers
    original = type(reader.source).discover

    def swapping(self, failures, under=None):
        found = list(original(self, failures, under))
        folder.rename(home.folder / "away")
        folder.symlink_to(home.folder / ".ssh")
        return found

    monkeypatch.setattr(type(reader.source), "discover", swapping)
    assert home.ingest().errors
    assert home.sessions() == {}


def test_pipes_devices_and_loops_are_passed_over_and_never_block(home):
    folder = home.watched / "-srv-demo-app"
    os.mkfifo(folder / "pipe.jsonl")
    (folder / "zero.jsonl").symlink_to("/dev/zero")
    (folder / "loop").symlink_to(home.watched)
    (home.watched / "self").symlink_to(home.watched)
    report = home.ingest()
    assert report.messages_added == 3
    assert report.errors == ()
    told = home.passed_over()
    for name, reason in (
        ("pipe.jsonl", "is not a regular file"),
        ("zero.jsonl", "is a link"),
        ("loop", "is a link"),
        ("self", "is a link"),
    ):
        assert any(f"{name}: {reason}" in each for each in told)
    assert home.status().warnings == ()
    assert home.messages() == pairs(*turns(3))


def test_a_hard_link_is_read_once_and_told(home):
    os.link(home.file(), home.file("b.jsonl"))
    report = home.ingest()
    assert report.messages_added == 3
    assert report.errors == ()
    assert any("hard link" in told for told in home.passed_over())
    assert home.ingest().files_skipped == 2
    home.check()


def test_a_root_that_is_a_link_may_be_named_by_both_its_names(tmp_path):
    real = tmp_path / "real"
    real.mkdir()
    (tmp_path / "named").symlink_to(real)
    with Server(tmp_path, watch=tmp_path / "named") as server:
        server.write(lines(*turns(2)))
        assert server.ingest(real / "-srv-demo-app").messages_added == 2
        assert server.ingest(tmp_path / "named").messages_added == 0
        assert server.messages() == pairs(*turns(2))
        server.check()


def test_only_the_named_folder_is_read(home):
    home.write(lines(*turns(2, session="other")), folder="-srv-other")
    assert home.ingest(home.watched / "-srv-other").messages_added == 2
    assert set(home.sessions()) == {"other"}
    home.ingest()
    assert set(home.sessions()) == {"other", "s1"}
