"""What is forgotten is gone, and does not come back; what is said again is new."""

import os

import pytest
from ingest_support import age, append
from session_lines import instant, line, lines, now, pairs, said, title, turns

from cloxy_core.services.holding import Cause, hold_ingest
from cloxy_hookspecs import InputError, NotFoundError, StoreError

CANARY = "the quetzalcoatl invoice was paid in obsidian coins last winter"
LONG = " ".join(f"{CANARY} number {n}." for n in range(120))


def memory_of(server, uid, session="s1"):
    return next(p.memory for p in server.parts() if (p.uid, p.session) == (uid, session))


def resurrect(server, path):
    """Everything that might bring a text back."""
    server.restart()
    server.ingest(force=True)
    age(path)
    server.ingest()
    data = path.read_bytes()
    moved = path.rename(path.with_name("renamed.jsonl"))
    server.ingest()
    copy = path.with_name("fork.jsonl")
    copy.write_bytes(data.replace(b'"sessionId": "s1"', b'"sessionId": "s-fork"'))
    server.ingest()
    moved.write_bytes(data)
    os.utime(moved, ns=(0, 10**18))
    server.ingest()
    append(moved, lines(*turns(1, stem="later")))
    server.ingest()
    server.do(server.engine.memories.reindex())


@pytest.mark.parametrize("text", [CANARY, LONG, "quetzalcoatl"], ids=["short", "long", "word"])
def test_a_forgotten_message_never_comes_back(server, text):
    records = [*turns(3), said(text, "secret"), *turns(3, first=3)]
    path = server.write(lines(*records))
    server.ingest()
    done = server.forget(memory_of(server, "secret"))
    assert done.messages >= 1
    assert not any("quetzal" in part.text for part in server.parts())
    server.check()
    resurrect(server, path)
    assert not any("quetzal" in part.text for part in server.parts())
    assert server.recall("quetzalcoatl obsidian") == [] or text == "quetzalcoatl"
    server.check()
    server.stop()
    assert server.holders("quetzal") == []
    server.start()


def test_forgetting_takes_what_shares_the_memory_and_nothing_else(server):
    first = turns(3)
    rest = [said("x" * 1400, "big"), said("tail words", "tail")]
    server.write(lines(*first, *rest))
    server.ingest()
    memory = memory_of(server, "big")
    inside = {part.uid for part in server.parts() if part.memory == memory}
    server.forget(memory)
    assert {uid for uid, _text in server.messages()} == {
        record["uuid"] for record in [*first, *rest]
    } - inside
    server.check()


def test_copies_in_forks_vanish_with_it(server):
    server.write(lines(said("first words", "a0"), said(CANARY, "a1"), *turns(2)))
    server.write(
        lines(
            *turns(2, session="s2"),
            said(CANARY, "a1", session="s2"),
            *turns(30, session="s2", first=2),
        ),
        "b.jsonl",
    )
    server.write(lines(*turns(2, session="s3"), said(CANARY, "new-id", session="s3")), "c.jsonl")
    server.ingest()
    server.remember(CANARY)
    assert server.forget(memory_of(server, "a1")).messages >= 3
    assert not any("quetzal" in part.text for part in server.parts())
    assert len(server.messages("s2")) == 32
    assert server.messages("s2") == pairs(*turns(32, session="s2"))
    server.check()
    assert server.holders("quetzal") == []
    server.stop()
    assert server.holders("quetzal") == []
    server.start()


@pytest.mark.parametrize("text", [CANARY, LONG], ids=["short", "long"])
def test_a_copy_with_a_new_id_is_recognised_by_its_text(server, text):
    records = [said(text, "old"), *turns(2)]
    server.write(lines(*records))
    server.ingest()
    server.forget(memory_of(server, "old"))
    altered = "  " + text.upper().replace(" ", "\n ")
    server.write(
        lines(
            said(text, "new1", session="s2"),
            said(altered, "new2", session="s2"),
            said(text, "new3", session="s2") | {"timestamp": None},
            *turns(1, session="s2"),
        ),
        "b.jsonl",
    )
    server.ingest()
    assert server.messages("s2") == pairs(*turns(1, session="s2"))
    assert "quetzal" not in (server.title("s2") or "").lower()
    server.check()


def test_a_crash_while_a_title_is_taken_away_is_made_good_at_start(server, monkeypatch):
    from cloxy_core.services.write import service

    server.write(lines(said(CANARY, "first"), *turns(150)))
    server.ingest()

    async def crash(*_arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(service, "retitle", crash)
    with pytest.raises(KeyboardInterrupt):
        server.forget(memory_of(server, "first"))
    monkeypatch.undo()
    server.restart()
    server.check()
    assert server.recall("quetzalcoatl") == []


def test_a_longer_message_that_shares_a_part_is_left_whole(server):
    head = "shared words of a pasted log that say much. " * 40
    one, two = head + "one " * 300, head + "two " * 300
    server.write(lines(said(one, "one"), said("between", "b"), said(two, "two")))
    server.ingest()
    server.forget(memory_of(server, "one"))
    assert server.messages() == [("b", "between"), ("two", two)]
    server.ingest(force=True)
    assert server.messages() == [("b", "between"), ("two", two)]
    server.check()


def test_a_message_taken_out_of_the_middle_leaves_the_others_in_place(server):
    records = [said(f"message number {n} of the packed memory", f"m{n}") for n in range(12)]
    copy = said(records[5]["message"]["content"], "m5", session="s2")
    server.write(lines(*records))
    server.write(lines(copy, *turns(30, session="s2")), "b.jsonl")
    server.ingest()
    server.forget(memory_of(server, "m5", "s2"))
    assert [uid for uid, _text in server.messages()] == [f"m{n}" for n in range(12) if n != 5]
    assert server.messages() == pairs(*records[:5], *records[6:])
    server.check()
    append(server.file(), lines(said("one more", "m12")))
    server.ingest()
    assert server.messages()[-1] == ("m12", "one more")
    server.check()


@pytest.mark.parametrize("number", [0, 11])
def test_the_first_or_last_message_taken_out_leaves_the_others_in_place(server, number):
    records = [said(f"message number {n} of the packed memory", f"m{n}") for n in range(12)]
    wanted = records[number]["message"]["content"]
    server.write(lines(*records))
    server.write(lines(said(wanted, f"m{number}", session="s2")), "b.jsonl")
    server.ingest()
    server.forget(memory_of(server, f"m{number}", "s2"))
    del records[number]
    assert server.messages() == pairs(*records)
    server.check()
    append(server.file(), lines(said("one more", "m12")))
    server.ingest()
    assert server.messages()[-1] == ("m12", "one more")
    server.check()


def test_the_same_words_said_later_are_stored(server):
    path = server.write(lines(said(CANARY, "first"), *turns(1)))
    server.ingest()
    server.forget(memory_of(server, "first"))
    append(path, lines(said(CANARY, "again", at=now(1))))
    server.ingest()
    assert ("again", CANARY) in server.messages()
    server.check()


def test_the_same_text_can_be_remembered_afterwards(server):
    (memory,) = server.remember(CANARY)
    server.forget(memory)
    assert server.notes() == []
    server.remember(CANARY)
    assert server.notes() == [CANARY]
    server.check()


def test_a_title_that_quotes_what_is_forgotten_vanishes_from_every_byte(server):
    records = [said(CANARY, "first"), *turns(150)]
    path = server.write(lines(*records, title(CANARY, kind="custom-title")))
    server.ingest()
    assert server.title() == CANARY
    server.check()
    server.forget(memory_of(server, "first"))
    assert server.title() is None
    server.check()
    append(path, line(title(CANARY, kind="custom-title")))
    server.ingest()
    resurrect(server, path)
    assert all("quetzal" not in (row[0] or "") for row in server.rows("SELECT title FROM sessions"))
    server.stop()
    assert server.holders("quetzal") == []
    server.start()


def test_a_source_is_forgotten_by_whole_segments(server):
    for key in ("s1", "s10", "s1/agent-x", "S1"):
        server.write(lines(*turns(4, session=key)), f"{key.replace('/', '-')}.jsonl")
    server.remember("a note", "convo:s1")
    server.ingest()
    dry = server.forget_source("convo:s1", dry_run=True)
    assert (dry.memories, dry.messages) == (2, 5)
    server.check()
    done = server.forget_source("convo:s1")
    assert (done.memories, done.messages) == (dry.memories, dry.messages)
    assert set(server.sessions()) == {"s10", "s1/agent-x", "S1"}
    assert server.notes() == []
    server.check()
    server.ingest(force=True)
    assert set(server.sessions()) == {"s10", "s1/agent-x", "S1"}
    server.check()


@pytest.mark.parametrize("prefix", ["convo:s_", "convo:s%", "convo:s1:0:x", "convo:S1", "conv"])
def test_a_prefix_that_is_no_segment_forgets_nothing(server, prefix):
    server.write(lines(*turns(4)))
    server.ingest()
    assert server.forget_source(prefix).messages == 0
    assert server.messages() == pairs(*turns(4))


@pytest.mark.parametrize("prefix", ["", " ", ":", " : "])
def test_an_empty_prefix_is_refused(server, prefix):
    with pytest.raises(InputError):
        server.forget_source(prefix)


def test_a_memory_that_is_not_there_is_told(server):
    with pytest.raises(NotFoundError):
        server.forget(7)


def test_one_memory_of_a_source_is_forgotten_and_counted_alike(server):
    server.write(lines(said(LONG, "long"), *turns(2)))
    server.ingest()
    dry = server.forget_source("convo:s1:0", dry_run=True)
    done = server.forget_source("convo:s1:0")
    assert (dry.memories, dry.messages) == (done.memories, done.messages)
    assert [uid for uid, _text in server.messages()] == ["s1-turn-0", "s1-turn-1"]
    server.check()
    server.ingest(force=True)
    assert [uid for uid, _text in server.messages()] == ["s1-turn-0", "s1-turn-1"]


def test_forgetting_one_session_leaves_the_history_in_its_fork(server):
    records = turns(4)
    server.write(lines(*records))
    fork = [record | {"sessionId": "fork"} for record in records]
    server.write(lines(*fork, said("only here", "f5", session="fork")), "fork.jsonl")
    server.ingest()
    server.forget_source("convo:s1")
    assert server.messages("fork") == [*pairs(*records), ("f5", "only here")]
    server.ingest(force=True)
    assert set(server.sessions()) == {"fork"}
    server.check()


def test_notes_of_the_parser_are_taken_even_while_a_pass_runs(server, monkeypatch):
    path = server.write(lines(said(CANARY, "first"), *turns(1)))
    server.ingest()
    append(path, lines(*turns(1, first=1)))
    (reader,) = server.engine.ingest.readers
    original, memory = type(reader.source).read, memory_of(server, "first")

    def forgetting(self, item, offset):
        yield from original(self, item, offset)
        import asyncio

        work = server.engine.memories.forget(memory)
        asyncio.run_coroutine_threadsafe(work, server.loop).result(20)

    monkeypatch.setattr(type(reader.source), "read", forgetting)
    server.ingest()
    assert server.rows("SELECT parser_state FROM sources") == [("{}",)]
    monkeypatch.undo()
    append(path, lines(said("later words", "m9", at=instant(99))))
    server.ingest()
    assert ("m9", "later words") in server.messages()
    assert "quetzal" not in (server.title() or "")
    server.check()


@pytest.fixture
def forgetful(server):
    """A stopped server that has forgotten a message, of whose log there is a new copy."""
    data = lines(said(CANARY, "first"), *turns(1))
    server.write(data)
    server.ingest()
    server.forget(memory_of(server, "first"))
    server.restart()
    assert server.status().warnings == ()
    server.stop()
    server.write(data, "copy.jsonl")
    return server


def lose_key(server):
    (server.data / "tombstones.key").unlink()


def refused(server):
    """A pass is refused, and nothing that was forgotten is there."""
    with pytest.raises(StoreError, match="forgotten text would come back") as error:
        server.ingest()
    assert "quetzal" not in str(server.contents())
    assert (server.data / "ingest.hold").exists()
    assert str(server.data / "ingest.hold") in error.value.hint
    return error.value


def test_a_lost_key_is_told_and_no_log_is_read(forgetful):
    lose_key(forgetful)
    forgetful.start()
    assert any("tombstones.key" in warning for warning in forgetful.status().warnings)
    refused(forgetful)
    forgetful.restart()
    refused(forgetful)


def test_the_right_key_takes_the_hold_away(forgetful):
    key = forgetful.data / "tombstones.key"
    right = key.read_bytes()
    lose_key(forgetful)
    forgetful.start()
    wrong = key.read_bytes()
    forgetful.stop()
    # The same wrong key again: that its hold went away was no consent.
    for _ in range(2):
        key.write_bytes(wrong)
        forgetful.start()
        refused(forgetful)
        forgetful.stop()
        key.write_bytes(right)
        forgetful.start()
        assert not (forgetful.data / "ingest.hold").exists()
        assert forgetful.status().warnings == ()
        forgetful.stop()
    forgetful.start()
    forgetful.ingest()
    assert "quetzal" not in str(forgetful.contents())


def test_the_right_key_does_not_take_away_the_hold_of_a_repair(forgetful):
    key = forgetful.data / "tombstones.key"
    right = key.read_bytes()
    lose_key(forgetful)
    for cause in (Cause.LIST, Cause.KEY_AT_REPAIR):
        hold_ingest(forgetful.data, cause)
        forgetful.start()
        refused(forgetful)
        forgetful.stop()
    key.write_bytes(right)
    forgetful.start()
    refused(forgetful)
    assert "cause: key-lost\n" not in (forgetful.data / "ingest.hold").read_text()
    (forgetful.data / "ingest.hold").unlink()
    forgetful.ingest()
    assert "quetzal" not in str(forgetful.contents())


def test_consent_counts_for_this_key_alone(forgetful):
    lose_key(forgetful)
    forgetful.start()
    refused(forgetful)
    (forgetful.data / "ingest.hold").unlink()
    forgetful.ingest()
    assert "quetzal" in str(forgetful.contents())
    assert forgetful.value("SELECT count(*) FROM tombstones WHERE scope = 'key'") == 1
    assert forgetful.value("SELECT count(*) FROM tombstones WHERE scope = 'uid'") >= 1
    assert forgetful.value("SELECT count(*) FROM counters WHERE key LIKE 'ingest.held%'") == 0
    # The new key keeps what is forgotten from now on.
    forgetful.forget(memory_of(forgetful, "first"))
    forgetful.restart()
    assert forgetful.status().warnings == ()
    forgetful.ingest(force=True)
    assert "quetzal" not in str(forgetful.contents())
    forgetful.stop()
    lose_key(forgetful)
    forgetful.write(lines(said(CANARY, "first"), *turns(1)), "copy-2.jsonl")
    forgetful.start()
    refused(forgetful)


def test_a_hold_for_the_key_does_not_end_with_that_of_the_list(forgetful):
    hold_ingest(forgetful.data, Cause.LIST)
    forgetful.start()
    refused(forgetful)
    forgetful.stop()
    lose_key(forgetful)
    forgetful.start()
    assert "tombstones.key" in refused(forgetful).message
    assert "could not save the list" in refused(forgetful).message


def test_a_torn_key_is_kept_and_counts_as_lost(forgetful):
    key = forgetful.data / "tombstones.key"
    torn = [key.read_bytes()[:31], key.read_bytes() + b"\n"]
    for left in torn:
        key.write_bytes(left)
        forgetful.start()
        refused(forgetful)
        forgetful.stop()
    assert (forgetful.data / "tombstones.key.torn").read_bytes() == torn[0]
    assert (forgetful.data / "tombstones.key.torn-2").read_bytes() == torn[1]


def test_where_nothing_was_forgotten_a_lost_key_holds_nothing_back(server):
    server.stop()
    lose_key(server)
    server.start()
    server.write(lines(*turns(2)))
    server.ingest()
    assert server.messages() == pairs(*turns(2))
    assert server.status().warnings == ()


def test_many_neighbours_are_the_same_as_few(server):
    from cloxy_core.services.write import removal

    server.write(lines(*turns(60), *turns(60, session="s2")))
    server.ingest()
    ids = [part.id for part in server.parts()]
    for wanted in (ids[:1], ids[-1:], ids, ids[5:9], ids[::3], [ids[10], ids[100]]):
        few = server.read(
            lambda c, w=wanted: set().union(
                *(
                    removal._beside_few(c, s, [i for i in w if (i <= ids[59]) == (s == 1)])
                    for s in (1, 2)
                )
            )
        )
        many = server.read(
            lambda c, w=wanted: set().union(
                *(
                    removal._beside_many(c, s, [i for i in w if (i <= ids[59]) == (s == 1)])
                    for s in (1, 2)
                )
            )
        )
        assert few == many == server.read(lambda c, w=wanted: removal.neighbours(c, w))
