"""Which project a working directory belongs to."""

import os
import shutil
import subprocess

import pytest

from cloxy_core.services.projects import ProjectResolver


def git(folder, *arguments):
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "a",
        "GIT_AUTHOR_EMAIL": "a@example.com",
        "GIT_COMMITTER_NAME": "a",
        "GIT_COMMITTER_EMAIL": "a@example.com",
    }
    subprocess.run(
        ["git", *arguments], cwd=folder, env=environment, check=True, capture_output=True
    )


@pytest.fixture
def repository(tmp_path):
    folder = tmp_path / "demo" / "shop"
    folder.mkdir(parents=True)
    git(folder, "init", "-q")
    git(folder, "commit", "-q", "--allow-empty", "-m", "first")
    return folder


@pytest.fixture
def worktree(repository, tmp_path):
    folder = tmp_path / "wt" / "fix-17"
    git(repository, "worktree", "add", "-q", "-b", "fix-17", str(folder))
    (folder / "src" / "deep").mkdir(parents=True)
    return folder


def test_worktree_and_its_subfolders_are_the_repository(repository, worktree):
    resolver = ProjectResolver()

    assert resolver.resolve(str(worktree)) == str(repository)
    assert resolver.resolve(str(worktree / "src" / "deep")) == str(repository)
    assert resolver.resolve(str(worktree) + "/") == str(repository)


def test_plain_folders_stay_as_recorded(repository, tmp_path):
    (repository / "src").mkdir()
    resolver = ProjectResolver()

    assert resolver.resolve(str(repository)) == str(repository)
    assert resolver.resolve(str(repository / "src")) == str(repository / "src")
    assert resolver.resolve(str(tmp_path)) == str(tmp_path)


def test_removed_worktree_is_remembered(repository, worktree):
    resolver = ProjectResolver()
    resolver.resolve(str(worktree))
    git(repository, "worktree", "remove", "--force", str(worktree))

    assert not worktree.exists()
    assert resolver.resolve(str(worktree)) == str(repository)
    assert ProjectResolver().resolve(str(worktree)) == str(worktree)


def test_deleted_subfolder_of_a_worktree_still_belongs_to_it(repository, worktree):
    assert ProjectResolver().resolve(str(worktree / "gone" / "away")) == str(repository)


def test_relative_pointer_without_commondir(repository, worktree):
    inside = repository / ".git" / "worktrees" / "fix-17"
    (worktree / ".git").write_text(f"gitdir: {os.path.relpath(inside, worktree)}\n")
    (inside / "commondir").unlink()

    assert ProjectResolver().resolve(str(worktree)) == str(repository)


def test_bare_repository_is_its_own_root(repository, tmp_path):
    bare = tmp_path / "shop.git"
    git(tmp_path, "clone", "-q", "--bare", str(repository), str(bare))
    folder = tmp_path / "checked-out"
    git(bare, "worktree", "add", "-q", "-b", "one", str(folder))

    assert ProjectResolver().resolve(str(folder)) == str(bare)


def test_hidden_bare_repository_belongs_to_the_folder_around_it(repository, tmp_path):
    around = tmp_path / "around"
    around.mkdir()
    git(tmp_path, "clone", "-q", "--bare", str(repository), str(around / ".bare"))
    git(around / ".bare", "worktree", "add", "-q", "-b", "one", str(around / "one"))

    assert ProjectResolver().resolve(str(around / "one")) == str(around)


def test_submodule_is_no_worktree(repository, tmp_path):
    outer = tmp_path / "outer"
    outer.mkdir()
    git(outer, "init", "-q")
    git(outer, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(repository), "in")

    assert (outer / "in" / ".git").is_file()
    assert ProjectResolver().resolve(str(outer / "in")) == str(outer / "in")


@pytest.mark.parametrize(
    ("cwd", "project"),
    [
        ("/srv/shop/.claude/worktrees/fix-17", "/srv/shop"),
        ("/srv/shop/.claude/worktrees/fix-17/src/app", "/srv/shop"),
        ("/srv/shop/.claude/worktrees/a/.claude/worktrees/b", "/srv/shop"),
        ("/srv/shop/.claude/worktrees", "/srv/shop/.claude/worktrees"),
        ("/srv/shop/.claude/worktrees/", "/srv/shop/.claude/worktrees/"),
        ("/srv/shop/.worktrees/fix-17", "/srv/shop/.worktrees/fix-17"),
        ("/srv/shop/x.claude/worktrees/fix-17", "/srv/shop/x.claude/worktrees/fix-17"),
        ("C:\\Work\\Shop\\.claude\\worktrees\\x", "C:\\Work\\Shop"),
        ("C:\\Work\\Shop", "C:\\Work\\Shop"),
        ("c:/work/shop/", "c:/work/shop/"),
        ("/mnt/c/Work/Shop", "/mnt/c/Work/Shop"),
        ("relative/folder", "relative/folder"),
        ("", ""),
    ],
)
def test_places_that_need_not_exist(cwd, project):
    assert ProjectResolver().resolve(cwd) == project


def test_agent_worktree_inside_a_linked_worktree(repository, worktree):
    inner = worktree / ".claude" / "worktrees" / "x"

    assert ProjectResolver().resolve(str(inner)) == str(repository)


@pytest.mark.parametrize(
    "pointer",
    [
        b"",
        b"gitdir:",
        b"nonsense",
        b"gitdir: /x/.git/worktrees/a/b",
        b"gitdir: \xff\xfe\0/worktrees/x",
        b"\0" * 5000,
    ],
)
def test_damaged_pointers_leave_the_folder_as_recorded(tmp_path, pointer):
    (tmp_path / ".git").write_bytes(pointer)

    assert ProjectResolver().resolve(str(tmp_path)) == str(tmp_path)


def test_pipe_as_pointer_does_not_block(tmp_path):
    os.mkfifo(tmp_path / ".git")

    assert ProjectResolver().resolve(str(tmp_path)) == str(tmp_path)


def test_worktrees_that_point_at_each_other_end(tmp_path):
    for one, other in (("a", "b"), ("b", "a")):
        folder = tmp_path / one
        folder.mkdir()
        (folder / ".git").write_text(f"gitdir: {tmp_path / other}/.git/worktrees/x\n")

    assert ProjectResolver().resolve(str(tmp_path / "a")) in {
        str(tmp_path / "a"),
        str(tmp_path / "b"),
    }


@pytest.mark.parametrize("cwd", ["/a\0b", "/" + "x" * 5000, "/a" * 2000, "/\udcff/x"])
def test_impossible_paths_are_left_as_recorded(cwd):
    assert ProjectResolver().resolve(cwd) == cwd


def test_disk_is_asked_once_for_a_folder_and_a_bounded_number_of_times(monkeypatch, tmp_path):
    asked = []
    real = os.lstat
    monkeypatch.setattr(os, "lstat", lambda path: asked.append(path) or real(path))
    resolver = ProjectResolver()
    cwd = str(tmp_path) + "/x" * 500
    resolver.resolve(cwd)
    first = len(asked)
    resolver.resolve(cwd)

    assert 0 < first <= 40
    assert len(asked) == first


def test_memory_is_bounded(tmp_path):
    resolver = ProjectResolver()
    for number in range(10_050):
        resolver.resolve(f"relative/{number}")

    assert len(resolver._known) == 10_000


def test_two_repositories_of_one_name_stay_apart(tmp_path):
    for parent in ("one", "two"):
        (tmp_path / parent / "api").mkdir(parents=True)
        git(tmp_path / parent / "api", "init", "-q")
    resolver = ProjectResolver()

    one = resolver.resolve(str(tmp_path / "one" / "api"))
    shutil.rmtree(tmp_path / "one")

    assert one != resolver.resolve(str(tmp_path / "two" / "api"))
