"""Sessions: forks, sub-agents, summaries, titles and projects that come late."""

import pytest
from ingest_support import append
from session_lines import line, lines, pairs, said, title, turns

from cloxy_plugins.chunking.messages import LONGEST, TARGET


def test_a_fork_keeps_all_turns_and_both_sessions_are_one_hit(server):
    records = [said(f"quince{n} about the fork", f"u{n}", session="s-aaa") for n in range(4)]
    fork = [record | {"sessionId": "s-bbb"} for record in records]
    last = said("only in the fork", "u5", session="s-bbb")
    server.write(lines(*records), "aaa.jsonl")
    server.write(lines(*fork, last), "bbb.jsonl")
    server.ingest()
    assert server.messages("s-aaa") == pairs(*records)
    assert server.messages("s-bbb") == pairs(*records, last)
    hits = server.recall("quince0", top_k=10)
    assert len(hits) == 1
    assert "s-aaa" in str(hits[0]) and "s-bbb" in str(hits[0])
    server.check()


def test_a_resumed_copy_grows_by_itself(server):
    records = turns(5, session="old")
    copy = [record | {"sessionId": "new"} for record in records]
    server.write(lines(*records), "old.jsonl")
    path = server.write(lines(*copy), "new.jsonl")
    server.ingest()
    more = turns(3, session="new", first=5)
    append(path, lines(*more))
    server.ingest()
    assert server.messages("new") == pairs(*copy, *more)
    assert server.messages("old") == pairs(*records)
    server.check()


def test_a_sub_agent_is_a_session_of_its_own(server):
    main = turns(3, session="s-aaa")
    inner = [
        record | {"isSidechain": True, "agentId": "9f"}
        for record in turns(3, session="s-aaa", stem="inner")
    ]
    server.write(lines(*main), "s-aaa.jsonl")
    path = server.write(lines(*inner), "agent-9f.jsonl", "-srv-demo-app/s-aaa/subagents")
    server.ingest()
    assert server.sessions() == {"s-aaa": pairs(*main), "s-aaa/agent-9f": pairs(*inner)}
    parent = "SELECT parent_key FROM sessions WHERE key = 's-aaa/agent-9f'"
    assert server.value(parent) == "s-aaa"
    server.ingest(path.parent, force=True)
    server.ingest(force=True)
    assert server.sessions() == {"s-aaa": pairs(*main), "s-aaa/agent-9f": pairs(*inner)}
    server.check()


def test_a_compaction_summary_is_never_user_speech(server):
    summary = said("a summary of all that was said", "sum", isCompactSummary=True)
    boundary = {"type": "system", "subtype": "compact_boundary", "sessionId": "s1", "uuid": "b"}
    server.write(lines(*turns(2), boundary, summary, *turns(2, first=2)))
    server.ingest()
    roles = {part.uid: part.role for part in server.parts()}
    assert roles["sum"] == "summary"
    assert server.messages() == pairs(*turns(2), summary, *turns(2, first=2))
    server.check()


def test_a_title_that_comes_late_is_found_by_its_word(server):
    path = server.write(lines(*turns(120)))
    server.ingest()
    assert server.recall("zeppelinword") == []
    append(path, line(title("The zeppelinword affair")))
    server.ingest()
    assert server.title() == "The zeppelinword affair"
    assert len(server.recall("zeppelinword", top_k=10)) > 1
    server.check()
    append(path, line(title("Custom rutabaga", kind="custom-title")) + line(title("Later one")))
    server.ingest()
    assert server.title() == "Custom rutabaga"
    assert server.recall("zeppelinword") == []
    assert server.recall("rutabaga")
    server.check()


def test_a_title_before_its_messages_needs_no_second_indexing(server, monkeypatch):
    from cloxy_core.services.ingest import service

    path = server.write(line(title("Early title")))
    server.ingest()
    append(path, lines(*turns(5)))
    calls = []

    async def noted(_store, _indexing, session_id):
        calls.append(session_id)

    monkeypatch.setattr(service, "retitle", noted)
    server.ingest()
    server.restart()
    assert calls == []
    assert server.recall("early")
    server.check()


def test_a_crash_between_a_title_and_its_indexing_is_made_good_at_start(server, monkeypatch):
    from cloxy_core.services.ingest import service

    path = server.write(lines(*turns(30)))
    server.ingest()

    async def crash(*_arguments):
        raise KeyboardInterrupt

    append(path, line(title("The zeppelinword affair")))
    monkeypatch.setattr(service, "retitle", crash)
    with pytest.raises(KeyboardInterrupt):
        server.ingest()
    monkeypatch.undo()
    assert server.recall("zeppelinword") == []
    server.restart()
    assert server.recall("zeppelinword")
    server.check()


def test_a_project_that_comes_late_reaches_what_is_stored(server):
    early = [said(f"word {n}", f"m{n}") for n in range(3)]
    for record in early:
        del record["cwd"]
    path = server.write(lines(*early))
    server.ingest()
    assert server.rows("SELECT DISTINCT project_id FROM memories") == [(None,)]
    append(path, lines(*turns(3)))
    server.ingest()
    paths = server.rows(
        "SELECT DISTINCT p.path FROM memories m LEFT JOIN projects p ON p.id = m.project_id"
    )
    assert paths == [("/srv/demo/app",)]
    server.check()


def test_a_crash_between_a_project_and_its_indexing_is_made_good_at_start(server, monkeypatch):
    from cloxy_core.services.ingest import service

    early = [said(f"word {n}", f"m{n}") for n in range(3)]
    for record in early:
        del record["cwd"]
    path = server.write(lines(*early, title("A title")))
    server.ingest()

    async def crash(*_arguments):
        raise KeyboardInterrupt

    append(path, lines(*turns(1)))
    monkeypatch.setattr(service, "retitle", crash)
    with pytest.raises(KeyboardInterrupt):
        server.ingest()
    monkeypatch.undo()
    server.restart()
    server.check()


def test_directories_branches_and_times_are_stored(server):
    records = [said("one", "m0"), said("two", "m1", gitBranch="fix/17")]
    server.write(lines(*records))
    server.ingest()
    (session,) = server.rows("SELECT cwd, branch, started_at < ended_at FROM sessions")
    assert session == ("/srv/demo/app", "fix/17", 1)
    ((extra, source, origin, immutable),) = server.rows(
        "SELECT extra, source, origin, immutable FROM memories"
    )
    assert '"git_branch"' in extra and '"main"' in extra
    assert (source, origin, immutable) == ("convo:s1:0", "transcript", 1)


@pytest.mark.parametrize("size", [1, TARGET, TARGET + 1, LONGEST - 1, LONGEST])
def test_a_message_that_is_not_long_is_never_split(server, size):
    records = [said("a b " * 20, "m0"), said(("word " * 500)[:size], "m1"), said("c d", "m2")]
    records[1]["message"]["content"] = records[1]["message"]["content"].strip().ljust(size, "x")
    server.write(lines(*records))
    server.ingest()
    assert [part.uid for part in server.parts()] == ["m0", "m1", "m2"]
    assert server.messages() == pairs(*records)
    server.check()


@pytest.mark.parametrize("step", [1, 3, 7])
def test_packing_in_many_passes_equals_packing_in_one(server, step):
    records = [
        said(f"{n} " + "some words to fill the memory with. " * (n * 7 % 23), f"m{n}")
        for n in range(30)
    ]
    twin = [record | {"sessionId": "twin"} for record in records]
    server.write(lines(*twin), "twin.jsonl")
    path = server.file()
    path.touch()
    for start in range(0, len(records), step):
        append(path, lines(*records[start : start + step]))
        server.ingest()
    contents = {
        key: server.rows(
            "SELECT content FROM memories m JOIN sessions s ON s.id = m.session_id"
            " WHERE s.key = ? ORDER BY m.ordinal",
            key,
        )
        for key in ("s1", "twin")
    }
    assert contents["s1"] == contents["twin"]
    assert server.messages() == pairs(*records)
    server.check()


def test_a_last_long_message_survives_growth(server):
    record = said("long words in the end. " * 300, "long")
    path = server.write(lines(*turns(2), record))
    server.ingest()
    assert server.recall("long words in the end")
    append(path, lines(*turns(2, first=2)))
    server.ingest()
    assert server.messages() == pairs(*turns(2), record, *turns(2, first=2))
    server.check()


def test_a_growing_memory_keeps_its_id(server):
    path = server.write(lines(*turns(2)))
    server.ingest()
    (before,) = server.rows("SELECT id, uid, version FROM memories")
    append(path, lines(*turns(2, first=2)))
    server.ingest()
    (after,) = server.rows("SELECT id, uid, version FROM memories")
    assert after == (before[0], before[1], before[2] + 1)
    assert server.rows("SELECT op FROM memory_events ORDER BY id") == [("add",), ("update",)]
    server.check()
