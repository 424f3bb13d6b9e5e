"""Finding logs: everything that a rule wants, nothing through a link."""

import os
import socket
from pathlib import Path

import pytest
from logs.logs_kit import lines_below, write

from cloxy_core.services.logs import folders, walk
from cloxy_hookspecs import LogTree

LINE = {"text": "x"}


def open_descriptors():
    folder = Path("/proc/self/fd")
    return len(list(folder.iterdir())) if folder.exists() else 0


def found(source, **options):
    failures = []
    items = list(source.discover(failures, **options))
    return sorted(item.uri for item in items), {f.uri: f.reason for f in failures}


def test_item_tells_identity_size_and_time(source, projects):
    file = write(projects / "a.jsonl", LINE)
    status = file.stat()

    (item,) = source.discover([])
    moved = file.rename(projects / "b.jsonl")
    (again,) = source.discover([])

    assert (item.uri, item.size, item.mtime_ns) == (str(file), status.st_size, status.st_mtime_ns)
    assert again.identity == item.identity
    assert again.uri == str(moved)


def test_missing_root_is_empty_until_it_appears(tmp_path):
    root = tmp_path / "later"
    source = lines_below(root)
    assert found(source) == ([], {})

    file = write(root / "p" / "a.jsonl", LINE)

    assert list(source.roots()) == [root]
    assert found(source) == ([str(file)], {})


def test_links_are_reported_and_not_followed(source, projects, tmp_path):
    outside = write(tmp_path / "outside" / "secret.jsonl", LINE)
    kept = write(projects / "a" / "kept.jsonl", LINE)
    (projects / "a" / "file.jsonl").symlink_to(outside)
    (projects / "a" / "dangling.jsonl").symlink_to(tmp_path / "nothing")
    (projects / "folder").symlink_to(outside.parent)
    (projects / "loop").symlink_to(projects)
    (projects / "self.jsonl").symlink_to("self.jsonl")
    (projects / "harmless").symlink_to(tmp_path / "nothing")

    uris, failures = found(source)

    assert uris == [str(kept)]
    assert failures == {
        str(projects / name): "is a link"
        for name in ("a/file.jsonl", "a/dangling.jsonl", "folder", "loop", "self.jsonl")
    }


def test_root_may_be_a_link(projects, tmp_path):
    file = write(projects / "p" / "a.jsonl", LINE)
    (tmp_path / "link").symlink_to(projects)
    source = lines_below(tmp_path / "link")

    uris, failures = found(source)
    (item,) = source.discover([], under=file)

    assert uris == [str(tmp_path / "link" / "p" / "a.jsonl")]
    assert not failures
    assert item.uri == uris[0]
    assert len(list(source.read(item, 0))) == 1


def test_same_folder_under_two_roots_is_read_once(projects, tmp_path):
    write(projects / "p" / "a.jsonl", LINE)
    (tmp_path / "link").symlink_to(projects)
    source = lines_below(projects, tmp_path / "link", projects / "p")

    assert len(list(source.discover([]))) == 1


def test_pipes_sockets_and_devices_are_reported(source, projects):
    os.mkfifo(projects / "pipe.jsonl")
    with socket.socket(socket.AF_UNIX) as server:
        os.chdir(projects)
        server.bind("socket.jsonl")
        uris, failures = found(source)

    assert uris == []
    assert failures == {
        str(projects / name): "is not a regular file" for name in ("pipe.jsonl", "socket.jsonl")
    }


@pytest.fixture(autouse=True)
def same_folder_afterwards():
    before = Path.cwd()
    yield
    os.chdir(before)


def test_hard_links_are_read_and_told(source, projects, tmp_path):
    first = write(tmp_path / "elsewhere.jsonl", LINE)
    os.link(first, projects / "a.jsonl")

    uris, failures = found(source)

    assert uris == [str(projects / "a.jsonl")]
    assert list(failures) == [str(projects)]
    assert "1 file(s)" in failures[str(projects)]


def test_files_of_other_users_are_reported(source, projects, monkeypatch):
    write(projects / "a.jsonl", LINE)
    monkeypatch.setattr(walk.Walk, "_owners", frozenset(), raising=False)
    real = walk.Walk._item

    def item(self, path, status):
        self._owners = {status.st_uid + 1}
        return real(self, path, status)

    monkeypatch.setattr(walk.Walk, "_item", item)

    assert found(source) == ([], {str(projects / "a.jsonl"): "belongs to another user"})


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_unreadable_folder_is_reported(source, projects):
    write(projects / "closed" / "a.jsonl", LINE)
    kept = write(projects / "open" / "b.jsonl", LINE)
    (projects / "closed").chmod(0)
    try:
        uris, failures = found(source)
    finally:
        (projects / "closed").chmod(0o700)

    assert uris == [str(kept)]
    assert list(failures) == [str(projects / "closed")]


def test_folder_that_cannot_be_opened_is_reported(source, projects, monkeypatch):
    write(projects / "closed" / "a.jsonl", LINE)
    kept = write(projects / "open" / "b.jsonl", LINE)
    real = folders.DescriptorFolder.folder

    def refuse(self, name):
        if name == "closed":
            raise PermissionError(13, "Permission denied")
        return real(self, name)

    monkeypatch.setattr(folders.DescriptorFolder, "folder", refuse)

    assert found(source) == (
        [str(kept)],
        {str(projects / "closed"): "may not be read (permission denied)"},
    )


def test_file_that_vanishes_during_the_walk_is_passed_over(source, projects, monkeypatch):
    kept = write(projects / "b.jsonl", LINE)
    write(projects / "a.jsonl", LINE)
    real = walk.Walk._entry

    def entry(self, tree, folder, found_entry, *arguments):
        if found_entry.name == "a.jsonl":
            (projects / "a.jsonl").unlink()
        return real(self, tree, folder, found_entry, *arguments)

    monkeypatch.setattr(walk.Walk, "_entry", entry)

    assert found(source) == ([str(kept)], {})


def test_folder_that_becomes_a_link_during_the_walk_is_not_entered(
    source, projects, tmp_path, monkeypatch
):
    write(projects / "p" / "a.jsonl", LINE)
    outside = write(tmp_path / "outside" / "secret.jsonl", LINE)
    real = folders.DescriptorFolder.folder

    def swap(self, name):
        (projects / "p").rename(tmp_path / "moved")
        (projects / "p").symlink_to(outside.parent)
        return real(self, name)

    monkeypatch.setattr(folders.DescriptorFolder, "folder", swap)
    uris, failures = found(source)

    assert uris == []
    assert list(failures) == [str(projects / "p")]


def test_depth_is_bounded(source, projects):
    write(projects.joinpath(*["d"] * 15, "a.jsonl"), LINE)
    write(projects.joinpath(*["d"] * 17, "b.jsonl"), LINE)

    uris, failures = found(source)

    assert len(uris) == 1
    assert list(failures.values()) == ["more than 16 folders deep"]


def test_names_that_are_not_unicode_are_reported(source, projects):
    path = os.fsencode(projects) + b"/\xff.jsonl"
    Path(os.fsdecode(path)).write_bytes(b"{}\n")

    uris, failures = found(source)

    assert uris == []
    (shown,) = failures
    assert shown.encode("utf-8")


def test_many_failures_are_summed_up(source, projects):
    for number in range(130):
        (projects / f"{number}.jsonl").symlink_to("nowhere")
    failures = []
    list(source.discover(failures))

    assert len(failures) == 101
    assert failures[-1].reason == "and 30 more that could not be looked at"


def test_no_descriptor_is_left_open(source, projects):
    for number in range(5):
        write(projects / f"p{number}" / "deep" / "a.jsonl", LINE)
    before = open_descriptors()

    walker = source.discover([])
    item = next(iter(walker))
    walker.close()
    reader = source.read(item, 0)
    next(iter(reader))
    reader.close()

    assert open_descriptors() == before


def test_under_restricts_to_a_folder_or_a_file(source, projects, tmp_path):
    one = write(projects / "p" / "one.jsonl", LINE)
    two = write(projects / "p" / "q" / "two.jsonl", LINE)
    other = write(projects / "r" / "three.jsonl", LINE)

    assert found(source, under=projects / "p")[0] == [str(one), str(two)]
    assert found(source, under=two)[0] == [str(two)]
    assert found(source, under=projects)[0] == sorted(map(str, (one, two, other)))
    assert found(source, under=tmp_path)[0] == sorted(map(str, (one, two, other)))
    assert found(source, under=projects / "p" / ".." / "r")[0] == [str(other)]


def test_under_leads_nowhere_else(source, projects, tmp_path):
    outside = write(tmp_path / "outside" / "secret.jsonl", LINE)
    write(projects / "notes.txt", LINE)
    (projects / "link").symlink_to(outside.parent)
    (projects / "file.jsonl").symlink_to(outside)

    assert found(source, under=outside.parent) == ([], {})
    assert found(source, under=projects / "nothing") == ([], {})
    assert found(source, under=projects / "notes.txt") == ([], {})
    assert found(source, under=projects / "file.jsonl")[0] == []
    assert found(source, under=projects / "link")[0] == []
    assert found(source, under=projects / "link" / "secret.jsonl")[0] == []
    assert found(source, under=projects / "a\0b")[0] == []
    assert found(source, under=projects / ("x" * 5000))[0] == []


def test_root_that_is_a_file_is_reported(tmp_path):
    file = write(tmp_path / "a.jsonl", LINE)

    uris, failures = found(lines_below(file))

    assert uris == []
    assert list(failures) == [str(file)]


def wants_jsonl(parts):
    return parts[-1].endswith(".jsonl")


def test_rules_are_given_paths_below_the_root(projects):
    write(projects / "a" / "b" / "c.jsonl", LINE)
    asked = {"wanted": [], "entered": []}

    def wanted(parts):
        asked["wanted"].append(parts)
        return True

    def enter(parts):
        asked["entered"].append(parts)
        return True

    from cloxy_core.services.logs.lines import LineLogs

    list(LineLogs([LogTree(projects, wanted, enter)]).discover([]))

    assert asked == {"wanted": [("a", "b", "c.jsonl")], "entered": [("a",), ("a", "b")]}


def test_folders_that_hold_no_logs_are_never_opened(projects, tmp_path, monkeypatch):
    from cloxy_core.services.logs.lines import LineLogs

    kept = write(projects / "yes" / "a.jsonl", LINE)
    inside = write(projects / "no" / "deep" / "b.jsonl", LINE)
    (projects / "no" / "link").symlink_to(tmp_path)
    tree = LogTree(projects, wants_jsonl, lambda parts: parts[0] != "no")
    opened = []
    real = folders.DescriptorFolder.folder
    monkeypatch.setattr(
        folders.DescriptorFolder,
        "folder",
        lambda self, name: opened.append(name) or real(self, name),
    )
    source = LineLogs([tree])

    assert found(source) == ([str(kept)], {})
    assert found(source, under=inside) == ([], {})
    assert found(source, under=inside.parent) == ([], {})
    assert opened == ["yes"]


def test_trees_of_one_root_with_rules_of_their_own(projects):
    from cloxy_core.services.logs.lines import LineLogs

    one = write(projects / "p" / "a.jsonl", LINE)
    two = write(projects / "p" / "b.log", LINE)
    trees = [
        LogTree(projects, wants_jsonl),
        LogTree(projects, lambda parts: parts[-1].startswith(("a", "b"))),
    ]
    source = LineLogs(trees)

    assert sorted(item.uri for item in source.discover([])) == [str(one), str(two)]
    assert list(source.roots()) == [projects]
    assert found(source.of(projects / "p"))[0] == [str(one), str(two)]
