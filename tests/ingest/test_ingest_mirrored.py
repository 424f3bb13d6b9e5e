"""A folder that rsync keeps as a mirror of another machine's: read once, under its own project.

Each step is rsync's own: a temporary file with a dot and six characters, filled in pieces, given
the time of the original, then renamed over the target.
"""

import os
import shutil
import stat

import pytest
from ingest_support import Server
from session_lines import lines, now, pairs, said, turns
from test_ingest_watcher import Watching

LONG_AGO = 1_700_000_000
PIECE = 97


def mirror(target, data, at, *, pieces=True):
    """Bring a file to what it is on the other machine."""
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = target.with_name(f".{target.name}.Xq3zT9")
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        for begin in range(0, len(data), PIECE if pieces else len(data)):
            file.write(data[begin : begin + (PIECE if pieces else len(data))])
            file.flush()
    os.utime(draft, (at, at))
    draft.chmod(0o644)
    draft.replace(target)


@pytest.fixture
def server(tmp_path):
    with Server(tmp_path) as server:
        yield server


def test_each_growth_brings_only_what_is_new(server):
    target = server.file("laptop.jsonl", "-home-ana-shop")
    for count in (2, 3, 3, 9):
        mirror(target, lines(*turns(count)), LONG_AGO + count)
        before = len(server.messages())
        report = server.ingest()
        assert report.errors == ()
        assert report.messages_added == count - before
        assert server.messages() == pairs(*turns(count))
    server.check()


def test_a_draft_that_was_left_behind_is_not_read(server):
    target = server.file("laptop.jsonl", "-home-ana-shop")
    mirror(target, lines(*turns(2)), LONG_AGO)
    # Cut off in the middle of a transfer: the next run takes another name.
    draft = target.with_name(f".{target.name}.a1B2c3")
    draft.write_bytes(lines(*turns(6))[:-40])
    server.ingest()
    assert server.messages() == pairs(*turns(2))
    mirror(target, lines(*turns(6)), LONG_AGO + 6)
    server.ingest()
    assert server.messages() == pairs(*turns(6))
    assert server.status().files_tracked == 1
    server.check()


def test_a_line_that_the_other_machine_had_not_finished_is_completed_later(server):
    target = server.file("laptop.jsonl", "-home-ana-shop")
    whole = lines(*turns(4))
    mirror(target, whole[:-30], LONG_AGO)
    server.ingest()
    assert server.messages() == pairs(*turns(3))
    mirror(target, whole, LONG_AGO + 1)
    server.ingest()
    assert server.messages() == pairs(*turns(4))
    server.check()


def test_the_project_is_that_of_the_other_machine(server):
    target = server.file("laptop.jsonl", "-home-ana-shop")
    for count in (2, 5):
        mirror(target, lines(*turns(count, cwd="/home/ana/shop")), LONG_AGO + count)
        server.ingest()
    paths = server.rows(
        "SELECT DISTINCT p.path FROM memories m LEFT JOIN projects p ON p.id = m.project_id"
    )
    assert paths == [("/home/ana/shop",)]
    found = {(hit.project, hit.session_id) for hit in server.recall("turn")}
    assert found == {("/home/ana/shop", "s1")}


def test_rsync_of_the_whole_folder_again_and_a_restart_change_nothing(server):
    target = server.file("laptop.jsonl", "-home-ana-shop")
    data = lines(*turns(5))
    mirror(target, data, LONG_AGO)
    server.ingest()
    stored = server.rows("SELECT id, content FROM memories ORDER BY id")
    # `--times` left out: the same content under a new time, inode and mode.
    mirror(target, data, LONG_AGO + 10_000, pieces=False)
    server.ingest()
    shutil.rmtree(target.parent)
    server.ingest()
    mirror(target, data, LONG_AGO)
    server.restart()
    server.ingest()
    assert server.rows("SELECT id, content FROM memories ORDER BY id") == stored
    server.check()


def test_two_machines_with_the_same_folder_names_are_kept_apart(server):
    for machine in ("laptop", "tower"):
        target = server.watched / machine / "-home-ana-shop" / "a.jsonl"
        mirror(target, lines(*turns(3, session=f"s-{machine}")), LONG_AGO)
    server.ingest()
    assert server.messages("s-laptop") == pairs(*turns(3, session="s-laptop"))
    assert server.messages("s-tower") == pairs(*turns(3, session="s-tower"))
    server.check()


@pytest.mark.parametrize("more", [{"sweep": 3000.0, "interval": 3000.0}, {"use_events": False}])
def test_the_watcher_follows_the_mirror_by_events_and_by_looking(server, more):
    target = server.file("laptop.jsonl", "-home-ana-shop")

    async def story():
        async with Watching(server, **more) as watching:
            if "sweep" in more:
                await watching.until_events()
            for count in (2, 3, 7):
                mirror(target, lines(*turns(count)), LONG_AGO + count)
                await watching.until_stored(count)
                assert await watching.count() == count

    server.do(story())
    assert server.messages() == pairs(*turns(7))
    assert stat.S_IMODE(target.stat().st_mode) == 0o644
    server.check()


def test_a_mirror_far_behind_in_time_is_dated_by_its_lines(server):
    target = server.file("laptop.jsonl", "-home-ana-shop")
    mirror(target, lines(said("just now", "u-now", at=now())), LONG_AGO)
    server.ingest()
    (hit,) = server.recall("just now")
    assert hit.ts_end[:4] != str(1970 + LONG_AGO // 31_556_952)
