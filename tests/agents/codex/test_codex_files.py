"""Where rollouts lie, compressed ones, and the list of names."""

import json
import os
from pathlib import Path
from types import SimpleNamespace

import pytest
from codex_kit import NOW, START, THREAD, Log, uuid7

from cloxy_core.services.logs.reader import Logs
from cloxy_core.testing.fakes import raw_lines
from cloxy_hookspecs import LogReader, SourceItem
from cloxy_plugins.codex.compressed import CompressedRollouts, create_compressed_source
from cloxy_plugins.codex.inflating import lines_of
from cloxy_plugins.codex.names import home_of_file, thread_of_file
from cloxy_plugins.codex.parser import RolloutParser, create_parser
from cloxy_plugins.codex.roots import codex_home, session_folders
from cloxy_plugins.codex.source import create_source, trees_of
from cloxy_plugins.codex.threads import ThreadNames

try:
    from compression import zstd
except ImportError:
    from backports import zstd

NAME = f"rollout-2026-05-02T11-00-00-{THREAD}.jsonl"


@pytest.fixture
def home(tmp_path):
    folder = tmp_path / "codex"
    (folder / "sessions/2026/05/02").mkdir(parents=True)
    (folder / "archived_sessions").mkdir()
    return folder


@pytest.fixture
def reader(tmp_path):
    return Logs(tmp_path / "copies")


@pytest.fixture
def context(reader, tmp_path):
    services = {LogReader: reader}
    return SimpleNamespace(
        service=services.__getitem__,
        paths=SimpleNamespace(data=tmp_path / "cloxy"),
        clock=SimpleNamespace(now_ms=lambda: NOW),
    )


def write(path, data):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def names(source, under=None):
    failures = []
    found = sorted(Path(item.uri).name for item in source.discover(failures, under))
    assert failures == []
    return found


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, "/home/pat/.codex"),
        ({"CODEX_HOME": ""}, "/home/pat/.codex"),
        ({"CODEX_HOME": "/srv/codex/../agents"}, "/srv/agents"),
        ({"CODEX_HOME": "~/agents"}, "/home/pat/agents"),
        ({"CODEX_SQLITE_HOME": "/srv/db"}, "/home/pat/.codex"),
    ],
)
@pytest.mark.skipif(os.name == "nt", reason="paths of POSIX")
def test_the_home_of_codex(environment, expected):
    assert codex_home(environment, Path("/home/pat")) == Path(expected)
    assert session_folders(environment, Path("/home/pat")) == (
        Path(expected) / "sessions",
        Path(expected) / "archived_sessions",
    )


def test_names_tell_the_thread_and_the_home():
    path = f"/home/pat/.codex/sessions/2026/05/02/{NAME}"
    assert thread_of_file(path) == thread_of_file(path + ".zst") == THREAD
    assert thread_of_file("/srv/rollout-odd.jsonl") == "rollout-odd"
    assert home_of_file(path) == Path("/home/pat/.codex")
    assert home_of_file(f"/home/pat/.codex/archived_sessions/{NAME}") == Path("/home/pat/.codex")
    assert home_of_file(f"/srv/copies/{NAME}") is None


def test_only_rollouts_are_found_and_each_by_its_own_source(home, context, monkeypatch):
    monkeypatch.setenv("CODEX_HOME", str(home))
    day = home / "sessions/2026/05/02"
    packed = zstd.compress(b"{}\n")
    write(day / NAME, b"{}\n")
    write(day / f"{NAME}.zst", packed)
    write(day / "rollout-old.jsonl.zst", packed)
    write(home / "archived_sessions" / "rollout-archived.jsonl", b"{}\n")
    for other in ("auth.json", "config.toml", "history.jsonl", "state_5.sqlite"):
        write(home / other, b"FAKE")
    for other in ("notes.jsonl", "rollout-x.txt", ".tmp/rollout-x.jsonl"):
        write(day / other, b"{}\n")
    assert names(create_source(context)) == [NAME, "rollout-archived.jsonl"]
    assert names(create_compressed_source(context)) == ["rollout-old.jsonl.zst"]
    assert create_source(context).roots() == create_compressed_source(context).roots()


def test_a_compressed_rollout_gives_what_the_plain_one_gives(home, reader):
    log = Log().meta().turn(uuid7(START, 1)).both("hello", "hi there")
    log.line("response_item", {"type": "function_call_output", "output": "noise " * 5_000})
    log.line("world_state", {"full": True, "state": {"text": "noise " * 5_000}}, ordinal=7)
    log.event("token_count", info={"x": "y" * 5_000}).both("and", "more")
    data = log.data()
    path = write(home / "sessions/2026/05/02" / f"{NAME}.zst", zstd.compress(data))
    source = CompressedRollouts(reader, [home / "sessions"])
    (item,) = source.discover([])
    lines = list(source.read(item, 0))
    assert [line.start for line in lines] == list(range(len(log.lines)))
    assert all(line.finished for line in lines)
    assert sum(len(line.data) for line in lines) < len(data) / 10, "bulk is left out"
    parser = RolloutParser("/srv/cloxy", lambda: NOW)
    packed = parser.parse(item, lines, {})
    plain = parser.parse(SourceItem(str(path)[:-4], "1:1", 1, 1), raw_lines(data), {})
    assert [(m.uid, m.text, m.at) for m in packed.messages] == [
        (m.uid, m.text, m.at) for m in plain.messages
    ]
    assert len(packed.messages) == 4
    assert packed.state == plain.state
    assert (packed.records, packed.unknown) == (plain.records, plain.unknown)
    assert [line.start for line in source.read(item, 3)] == list(range(3, len(log.lines)))


@pytest.mark.parametrize("piece", [1, 7, 1 << 20])
def test_lines_come_whole_however_they_are_unpacked(piece):
    data = zstd.compress(b'{"a": 1}\r\n\n{"b": "') + zstd.compress(b'\xe2\x80\xa8"}\nlast')
    lines = list(lines_of(data, "x", piece=piece))
    assert [line.data for line in lines] == [b'{"a": 1}', b"", b'{"b": "\xe2\x80\xa8"}', b"last"]


def test_a_line_that_is_too_long_is_only_told_of():
    data = zstd.compress(b"a" * 5_000 + b"\nb\n" + b"c" * 101)
    lines = list(lines_of(data, "x", limit=100, piece=64))
    assert [(line.data, line.dropped) for line in lines] == [(b"", 5_000), (b"b", 0), (b"", 101)]


def test_what_unpacks_to_too_much_is_refused_before_it_fills_the_memory():
    bomb = zstd.compress(b"\n" * 50_000_000)
    assert len(bomb) < 10_000
    seen = 0
    with pytest.raises(OSError, match="more than 1,000,000 bytes"):
        for _line in lines_of(bomb, "x", most=1_000_000, piece=1_000):
            seen += 1
    assert seen <= 1_000_000


def test_damage_is_told_after_the_lines_before_it():
    data = zstd.compress(os.urandom(200_000).hex().encode() + b"\nsecond\n")
    for broken, reason in ((data[:-40], "ends too early"), (b"no zstd", "damaged")):
        with pytest.raises(OSError, match=reason):
            list(lines_of(broken, "x"))
    lines = []
    with pytest.raises(OSError, match="damaged"):
        for line in lines_of(zstd.compress(b"one\ntwo\n") + b"no zstd", "x"):
            lines.append(line.data)
    assert lines == [b"one", b"two"]


def test_a_file_outside_of_the_folders_is_refused(home, reader, tmp_path):
    path = write(tmp_path / f"{NAME}.zst", zstd.compress(b"{}\n"))
    source = CompressedRollouts(reader, [home / "sessions"])
    with pytest.raises(OSError, match="not inside"):
        list(source.read(SourceItem(str(path), "1:1", 1, 1), 0))


def test_another_folder_can_be_read_once(home, reader, tmp_path):
    folder = tmp_path / "copies-of-pat"
    write(folder / f"{NAME}.zst", zstd.compress(b"{}\n"))
    source = CompressedRollouts(reader, [home / "sessions"]).of(folder)
    assert names(source) == [f"{NAME}.zst"]
    assert source.roots() == (folder,)
    assert reader.lines(trees_of([home / "sessions"])).of(folder).roots() == (folder,)


def test_a_folder_above_that_of_codex_can_be_read_once(home, reader, tmp_path):
    folder = tmp_path / "of-pat"
    write(folder / ".codex/sessions/2026/05/02" / NAME, b"{}\n")
    write(folder / ".codex/.tmp" / NAME, b"{}\n")
    write(folder / ".other" / NAME, b"{}\n")
    found = reader.lines(trees_of([home / "sessions"])).of(folder).discover([])
    assert [Path(item.uri).parent.name for item in found] == ["02"]


def listed(home, *rows):
    lines = [json.dumps({"id": i, "thread_name": n, "updated_at": "x"}) for i, n in rows]
    return write(home / "session_index.jsonl", "\n".join(lines).encode() + b"\n")


def test_the_last_name_of_a_thread_in_the_list_is_its_title(home, context):
    data = Log().meta().both("hello", "hi there").data()
    path = write(home / "sessions/2026/05/02" / NAME, data)
    item = SourceItem(str(path), "1:1", len(data), NOW * 1_000_000)
    parser = create_parser(context)

    def title():
        return parser.parse(item, raw_lines(data), {}).sessions[THREAD].title

    assert title() == "hello"
    listed(home, (THREAD, "First name"), ("other", "No"), (THREAD, "Second name"))
    assert title() == "Second name"
    listed(home, (THREAD, "A third and longer name"))
    assert title() == "A third and longer name"
    write(home / "session_index.jsonl", b'{"id": 7}\n[]\nno json\n{"id":"x","thread_name":null}\n')
    assert title() == "hello"
    (home / "session_index.jsonl").unlink()
    assert title() == "hello"


def test_a_name_alone_makes_no_session(home, context):
    listed(home, (THREAD, "A name"))
    data = Log().meta().data()
    item = SourceItem(str(home / "sessions" / NAME), "1:1", len(data), NOW * 1_000_000)
    assert create_parser(context).parse(item, raw_lines(data), {}).sessions == {}


@pytest.mark.skipif(os.name == "nt", reason="links need a right of their own there")
def test_a_list_that_is_a_link_is_not_read(home, reader, tmp_path):
    real = listed(tmp_path, (THREAD, "A name"))
    (home / "session_index.jsonl").symlink_to(real)
    assert ThreadNames(reader).name_of(str(home / "sessions" / NAME), THREAD) is None


def test_the_list_is_read_again_only_when_it_changed(home, reader):
    listed(home, (THREAD, "A name"))
    opened = []

    class Counting:
        def content(self, *arguments):
            opened.append(arguments)
            return reader.content(*arguments)

    threads = ThreadNames(Counting())
    for _ in range(3):
        assert threads.name_of(str(home / "sessions" / NAME), THREAD) == "A name"
    assert len(opened) == 1
    path = listed(home, (THREAD, "B name"))
    os.utime(path, ns=(1, 1))
    assert threads.name_of(str(home / "sessions" / NAME), THREAD) == "B name"
