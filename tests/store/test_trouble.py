"""The place of the database is lost or turns read-only while it is open; its bytes rot."""

import os
import subprocess
import sys

import pytest
from sqlalchemy import insert, text
from store_kit import add_memories, memory_row, passage_row, query, sound, with_store

from cloxy_core.store.checks import ContentCheck, FileCheck
from cloxy_core.store.engine import Checkpoint
from cloxy_core.store.reserve import MEBIBYTE, Reserve, room
from cloxy_core.store.trouble import DamagedTexts
from cloxy_hookspecs.errors import IntegrityError, StoreError, StoreFullError
from cloxy_hookspecs.tables import passages

posix = pytest.mark.skipif(os.name != "posix", reason="an open file cannot be moved there")


def count(connection):
    return connection.execute(text("SELECT count(*) FROM memories")).scalar()


@posix
def test_away_nothing_is_read_or_written_and_back_everything_is(tmp_path):
    folder, elsewhere = tmp_path / "d", tmp_path / "elsewhere"

    async def work(store):
        await store.write(add_memories(memory_row(1)), durable=True)
        folder.rename(elsewhere)
        refused = [
            store.read(count),
            store.write(add_memories(memory_row(2))),
            store.write(add_memories(memory_row(3)), durable=True),
            store.back_up(),
        ]
        for attempt in refused:
            with pytest.raises(StoreError, match="is not at"):
                await attempt
        assert (await store.checkpoint()) == Checkpoint(emptied=False, ended_reads=())
        facts = store.facts()
        assert any(words.endswith("or restart Cloxy.") for words in facts.warnings)
        assert (facts.size, facts.log_size, facts.free) == (0, 0, 0)
        elsewhere.rename(folder)
        assert not [words for words in store.facts().warnings if str(folder) in words]
        await store.write(add_memories(memory_row(4)))
        assert (await store.checkpoint()).emptied
        return await store.read(count)

    assert with_store(folder, work) == 2
    assert sound(folder / "memory.db")


@posix
def test_closed_while_away_the_newest_changes_are_kept(tmp_path):
    folder, elsewhere = tmp_path / "d", tmp_path / "elsewhere"

    async def work(store):
        await store.write(add_memories(memory_row(1)), durable=True)
        folder.rename(elsewhere)

    with_store(folder, work)
    assert not folder.exists()
    elsewhere.rename(folder)
    assert query(folder / "memory.db", "SELECT uid FROM memories") == [("uid-1",)]


@posix
def test_another_file_in_its_place_is_left_alone(tmp_path):
    path, kept = tmp_path / "d" / "memory.db", tmp_path / "kept"

    async def work(store):
        path.rename(kept)
        path.write_bytes(b"another")
        with pytest.raises(StoreError, match="another file took the place"):
            await store.write(add_memories(memory_row(1)))
        path.unlink()
        kept.rename(path)
        return await store.write(add_memories(memory_row(2)))

    assert with_store(tmp_path / "d", work) == 1


@pytest.fixture
def immutable():
    """Makes files unwritable even for who has them open."""
    made = set()

    def switch(to, *files):
        try:
            done = subprocess.run(["chattr", to, *files], capture_output=True)
        except FileNotFoundError:
            pytest.skip("there is no chattr here")
        if done.returncode:
            pytest.skip("files cannot be made immutable here (that takes root and ext4 or so)")
        made.update(files)

    yield switch
    if left := [file for file in made if file.exists()]:
        subprocess.run(["chattr", "-i", *left], check=True)


def test_read_only_it_reads_and_refuses_and_then_goes_on(tmp_path, immutable):
    folder = tmp_path / "d"

    async def work(store):
        await store.write(add_memories(memory_row(1)))
        # Not the memory map beside them: a first write to that would be a signal, not an error.
        files = [folder / name for name in ("memory.db", "memory.db-wal", "reserve.bin")]
        immutable("+i", *files)
        for durable in (False, True):
            with pytest.raises(StoreError, match="read-only") as caught:
                await store.write(add_memories(memory_row(2)), durable=durable)
            assert not isinstance(caught.value, StoreFullError)
        assert not (await store.checkpoint()).emptied
        assert await store.read(count) == 1
        assert any("cannot be written" in words for words in store.facts().warnings)
        immutable("-i", *files)
        assert not [words for words in store.facts().warnings if str(folder) in words]
        await store.write(add_memories(memory_row(3)), durable=True)
        assert (await store.checkpoint()).emptied

    with_store(folder, work)
    assert sound(folder / "memory.db")
    assert query(folder / "memory.db", "SELECT uid FROM memories") == [("uid-1",), ("uid-3",)]


def test_a_reserve_that_cannot_be_removed_is_no_space(tmp_path, immutable):
    reserve = Reserve(tmp_path / "reserve.bin", size=MEBIBYTE, spare=0)
    assert reserve.ensure()
    immutable("+i", tmp_path / "reserve.bin")
    assert not reserve.release()
    assert reserve.held


def test_a_folder_that_is_gone_has_no_room_and_says_so(tmp_path):
    with pytest.raises(StoreError, match="cannot be looked at"):
        room(tmp_path / "gone")


def test_a_text_that_is_no_text_is_damage(tmp_path):
    async def work(store):
        await store.write(add_memories(memory_row(1)))
        spoil = "UPDATE memories SET content = CAST(x'ff41' AS TEXT)"
        await store.write(lambda c: c.exec_driver_sql(spoil))
        with pytest.raises(IntegrityError):
            await store.read(lambda c: c.exec_driver_sql("SELECT content FROM memories").all())

    with_store(tmp_path / "d", work)


def test_damaged_texts_are_named_up_to_five():
    texts = DamagedTexts()
    assert texts.warnings() == ()
    texts.add({3, 1})
    texts.add([3])
    assert "the text of memory 1, 3;" in texts.warnings()[0]
    texts.add(range(1, 9))
    assert "1, 2, 3, 4, 5 and 3 more;" in texts.warnings()[0]


TEXT = b"text 31 of many "


def flip_a_bit_of_a_text(data):
    data[data.index(TEXT) + 2] ^= 4


def zero_a_page_of_texts(data):
    start = data.index(TEXT) // 4096 * 4096
    data[start : start + 4096] = bytes(4096)


def tear_a_sector_of_texts(data):
    start = data.index(TEXT) // 512 * 512
    data[start : start + 512] = data[4096 * 3 : 4096 * 3 + 512]


def cut_the_end_off(data):
    del data[len(data) // 2 :]


@pytest.mark.parametrize(
    "harm",
    [flip_a_bit_of_a_text, zero_a_page_of_texts, tear_a_sector_of_texts, cut_the_end_off],
)
def test_rot_is_found(tmp_path, harm):
    path = tmp_path / "d" / "memory.db"

    async def fill(store):
        contents = [f"text {number} of many " * 60 for number in range(60)]
        await store.write(add_memories(*(memory_row(n, c) for n, c in enumerate(contents))))
        spans = [passage_row(n + 1, 0, len(c)) for n, c in enumerate(contents)]
        await store.write(lambda c: c.execute(insert(passages), spans))
        return await check(store)

    async def check(store):
        found = [*await FileCheck(store).run(), *await ContentCheck(store, after=0).run()]
        return {finding.severity for finding in found}

    assert with_store(tmp_path / "d", fill) == {"ok"}
    data = bytearray(path.read_bytes())
    harm(data)
    path.write_bytes(data)
    try:
        assert "error" in with_store(tmp_path / "d", check)
    except IntegrityError:
        assert harm is cut_the_end_off


def test_nothing_opens_the_files_of_an_open_database(tmp_path):
    """Closing any other descriptor of them would drop SQLite's locks in this process."""
    path, opened_files, listening = tmp_path / "d" / "memory.db", [], []

    def listen(event, arguments):
        if listening and event == "open" and str(arguments[0]).startswith(str(path)):
            opened_files.append(arguments[0])

    sys.addaudithook(listen)

    async def work(store):
        listening.append(True)
        for number in range(30):
            await store.write(add_memories(memory_row(number)), durable=number % 2 == 0)
        await store.read(count)
        await store.back_up()
        await store.checkpoint()
        store.facts()
        for check in (FileCheck(store), ContentCheck(store, after=0)):
            await check.run()
        assert opened_files == []
        other = path.with_name("memory.db-other")
        other.write_bytes(b"")
        assert opened_files == [str(other)], "the listener hears nothing"
        listening.clear()

    with_store(tmp_path / "d", work)


def test_a_damaged_page_that_a_read_met_is_told_until_the_end(tmp_path):
    with_store(tmp_path / "d", lambda store: store.write(add_memories(memory_row(1))))
    path = tmp_path / "d" / "memory.db"
    ((root,),) = query(path, "SELECT rootpage FROM sqlite_schema WHERE name = 'memories'")
    data = bytearray(path.read_bytes())
    data[(root - 1) * 4096 : root * 4096] = bytes(4096)
    path.write_bytes(data)

    def told(store):
        return [words for words in store.facts().warnings if "damaged page" in words]

    async def work(store):
        before = told(store)
        with pytest.raises(IntegrityError, match="is damaged"):
            await store.read(lambda c: c.execute(text("SELECT content FROM memories")).all())
        return before, told(store)

    before, after = with_store(tmp_path / "d", work)
    assert before == []
    assert "stop Cloxy and run `cloxy doctor --repair`" in after[0]
    # It is known since the start alone; the next one has to meet the page again.
    assert with_store(tmp_path / "d", lambda store: _nothing(store, told)) == []


async def _nothing(store, told):
    return told(store)
