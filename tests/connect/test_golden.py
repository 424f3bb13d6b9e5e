"""Every client's file, byte for byte: fresh, with comments and others, twice, changed, undone."""

import json
import tomllib

import pytest
from connect.bench import Bench
from connect.samples import PROGRAM, SAMPLES

from cloxy_core.connect.catalogue import CLIENTS, client_named
from cloxy_core.connect.errors import ConnectError

NAMES = sorted(SAMPLES)


def snapshot(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
    }


@pytest.fixture(params=NAMES)
def sample(request):
    return SAMPLES[request.param]


@pytest.fixture
def bench(request, tmp_path, sample):
    return Bench(tmp_path, next(name for name, each in SAMPLES.items() if each is sample))


def test_every_client_has_a_sample():
    assert {client.key for client in CLIENTS} == set(SAMPLES)


def test_the_page_of_the_format_is_noted(bench, sample):
    assert (bench.client.documentation, bench.client.looked_up) == (
        sample.documentation,
        sample.looked_up,
    )


def test_fresh(bench, sample):
    empty = snapshot(bench.home)
    assert bench.connect().action == "add"
    assert bench.path.read_text() == sample.fresh
    assert bench.undo().action == "remove"
    assert snapshot(bench.home) == empty


def test_existing_with_comments_and_another_server(bench, sample):
    before = bench.write(sample.existing)
    bench.connect()
    assert bench.path.read_text() == sample.merged
    bench.undo()
    assert bench.path.read_bytes() == before


def test_twice_changes_nothing(bench, sample):
    bench.write(sample.existing)
    bench.connect()
    once, status = bench.path.read_bytes(), bench.path.stat()
    assert bench.connect().action == "same"
    assert bench.path.read_bytes() == once
    assert bench.path.stat().st_mtime_ns == status.st_mtime_ns
    assert bench.path.stat().st_ino == status.st_ino


def test_undo_twice_changes_nothing(bench, sample):
    before = bench.write(sample.existing)
    bench.connect()
    bench.undo()
    assert bench.undo().action == "absent"
    assert bench.path.read_bytes() == before


def test_an_old_path_is_brought_up_to_date_and_undo_still_exact(bench, sample):
    before = bench.write(sample.existing)
    bench.connect("/old/place/cloxy")
    assert bench.connect().action == "update"
    assert bench.path.read_text() == sample.merged
    bench.undo()
    assert bench.path.read_bytes() == before


def test_a_fresh_file_brought_up_to_date_goes_with_undo(bench, sample):
    empty = snapshot(bench.home)
    bench.connect("/old/place/cloxy")
    assert bench.connect().action == "update"
    assert bench.path.read_text() == sample.fresh
    bench.undo()
    assert snapshot(bench.home) == empty


def test_the_address(bench, sample):
    if sample.http is None:
        assert bench.client.http is None
        return
    bench.connect(http=True)
    assert bench.path.read_text() == sample.http
    # And from the address back to the program.
    assert bench.connect().action == "update"
    assert bench.path.read_text() == sample.fresh


def test_changed_in_between_only_ours_goes(bench, sample):
    bench.write(sample.existing)
    bench.connect()
    changed = bench.path.read_text().replace("npx", "uvx")
    bench.write(changed)
    bench.undo()
    assert bench.path.read_text() == sample.existing.replace("npx", "uvx")


def test_a_fresh_file_that_got_something_else_stays(bench, sample):
    bench.connect()
    text = bench.path.read_text()
    more = {
        "codex": text + '\n[tui]\ntheme = "x"\n',
        "continue": text + "  - name: other\n    command: npx\n",
    }.get(bench.client.key, text.replace("{\n", '{\n  "theme": "x",\n', 1))
    bench.write(more)
    bench.undo()
    left = bench.path.read_text()
    assert "cloxy" not in left.lower().replace("name: cloxy", "")
    if bench.client.key == "codex":
        assert tomllib.loads(left) == {"tui": {"theme": "x"}}
    elif bench.client.key == "continue":
        assert left.endswith("mcpServers:\n  - name: other\n    command: npx\n")
    else:
        assert json.loads(left) == {"theme": "x"}


def test_undo_without_what_was_remembered(bench, sample, tmp_path):
    bench.write(sample.existing)
    bench.connect()
    (tmp_path / "data" / "connections.json").unlink()
    bench.undo()
    assert bench.path.read_text() == sample.existing


def test_an_invalid_file_is_refused_with_its_line_and_untouched(bench, sample):
    before = bench.write(sample.broken)
    for act in (bench.connect, bench.undo):
        with pytest.raises(ConnectError) as caught:
            act()
        assert f"{bench.path}, line {sample.broken_line}, column " in caught.value.message
        assert bench.path.read_bytes() == before
    assert not (bench.path.parent / "connections.json").exists()


def test_what_is_not_utf8_is_refused_with_its_line(bench, sample):
    before = bench.write(sample.existing.encode() + b"\n\xff\xfe\n")
    with pytest.raises(ConnectError, match=rf"line {sample.existing.count(chr(10)) + 2}, byte 1"):
        bench.connect()
    assert bench.path.read_bytes() == before


def test_line_ends_of_windows_stay(bench, sample):
    before = bench.write(sample.existing.replace("\n", "\r\n"))
    bench.connect()
    assert bench.path.read_bytes() == sample.merged.replace("\n", "\r\n").encode()
    assert bench.connect().action == "same"
    bench.undo()
    assert bench.path.read_bytes() == before


def test_a_byte_order_mark_stays(bench, sample):
    before = bench.write("\ufeff" + sample.existing)
    bench.connect()
    assert bench.path.read_text() == "\ufeff" + sample.merged
    bench.undo()
    assert bench.path.read_bytes() == before


def test_a_missing_last_line_end_stays_missing(bench, sample):
    before = bench.write(sample.existing.rstrip("\n"))
    bench.connect()
    assert bench.connect().action == "same"
    bench.undo()
    assert bench.path.read_bytes() == before


def test_an_empty_file(bench, sample):
    bench.write(b"")
    bench.connect()
    assert bench.path.read_text() == sample.fresh
    bench.undo()
    assert bench.path.read_bytes() == b""


def test_an_entry_of_another_program_is_not_overwritten(bench, sample):
    bench.connect()
    foreign = bench.write(bench.path.read_text().replace(PROGRAM, "/usr/bin/other"))
    with pytest.raises(ConnectError, match="not of Cloxy") as caught:
        bench.connect()
    assert "--replace" in caught.value.hint
    assert bench.path.read_bytes() == foreign
    undone = bench.undo()
    assert undone.action == "absent"
    assert "stays" in undone.notes[0]
    assert bench.path.read_bytes() == foreign
    assert bench.connect(replace=True).action == "replace"
    assert bench.path.read_text() == sample.fresh


def test_what_a_person_added_to_our_entry_stays(bench, sample):
    bench.connect("/old/place/cloxy")
    text = bench.path.read_text()
    if bench.client.key == "continue":
        changed = text + '    env:\n      EXTRA: "1"\n'
    elif bench.client.key == "codex":
        changed = text + "startup_timeout_sec = 20 # slow disk\n"
    else:
        changed = text.replace('"args"', '"timeout": 20, // slow disk\n      "args"')
    bench.write(changed)
    assert bench.connect().action == "update"
    assert bench.path.read_text() == changed.replace("/old/place/cloxy", PROGRAM)


def test_a_variable_goes_along_and_is_no_reason_to_change_again(bench):
    bench.connect(environment={"CLOXY_DATA_DIR": "/data"})
    assert "CLOXY_DATA_DIR" in bench.path.read_text()
    assert bench.connect(environment={"CLOXY_DATA_DIR": "/data"}).action == "same"
    assert bench.connect(environment={"CLOXY_DATA_DIR": "/other"}).action == "update"
    assert "/other" in bench.path.read_text()


def test_names_and_aliases_are_found():
    assert client_named("Claude Code").key == "claude-code"
    assert client_named("VS_CODE").key == "vscode"
    with pytest.raises(ConnectError) as caught:
        client_named("emacs")
    assert "cursor" in caught.value.hint
