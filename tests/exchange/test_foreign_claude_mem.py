"""Databases of claude-mem, of each of its generations, and what comes of them."""

import sqlite3
from contextlib import closing

import pytest
from exchange.exchange_kit import SECRET, Place, conversation
from exchange.foreign_readers_kit import Read, build, damage, insert

from cloxy_core.services.exchange.foreign_limits import ForeignTrouble

AT = 1_760_000_000_123
ISO = "2025-10-09T08:53:20.123Z"
KEY = "5d0f6f3e-7777-4aaa-8bbb-0123456789ab"
TELLING = "The harbour light is driven by a clockwork that is wound on Thursdays."

OLD = (
    """CREATE TABLE sdk_sessions (
        id INTEGER PRIMARY KEY AUTOINCREMENT, claude_session_id TEXT UNIQUE NOT NULL,
        sdk_session_id TEXT UNIQUE, project TEXT NOT NULL, user_prompt TEXT,
        started_at TEXT NOT NULL, started_at_epoch INTEGER NOT NULL, completed_at TEXT,
        completed_at_epoch INTEGER, status TEXT NOT NULL DEFAULT 'active')""",
    """CREATE TABLE observations (
        id INTEGER PRIMARY KEY AUTOINCREMENT, sdk_session_id TEXT NOT NULL,
        project TEXT NOT NULL, text TEXT NOT NULL, type TEXT NOT NULL,
        created_at TEXT NOT NULL, created_at_epoch INTEGER NOT NULL)""",
    """CREATE TABLE session_summaries (
        id INTEGER PRIMARY KEY AUTOINCREMENT, sdk_session_id TEXT UNIQUE NOT NULL,
        project TEXT NOT NULL, request TEXT, investigated TEXT, learned TEXT, completed TEXT,
        next_steps TEXT, files_read TEXT, files_edited TEXT, notes TEXT,
        created_at TEXT NOT NULL, created_at_epoch INTEGER NOT NULL)""",
)
NEW = (
    """CREATE TABLE sdk_sessions (
        id INTEGER PRIMARY KEY AUTOINCREMENT, content_session_id TEXT NOT NULL,
        memory_session_id TEXT UNIQUE, project TEXT NOT NULL,
        platform_source TEXT NOT NULL DEFAULT 'claude', user_prompt TEXT,
        started_at TEXT NOT NULL, started_at_epoch INTEGER NOT NULL, completed_at TEXT,
        completed_at_epoch INTEGER, status TEXT NOT NULL DEFAULT 'active', worker_port INTEGER,
        prompt_counter INTEGER DEFAULT 0, custom_title TEXT,
        UNIQUE (platform_source, content_session_id))""",
    """CREATE TABLE observations (
        id INTEGER PRIMARY KEY AUTOINCREMENT, memory_session_id TEXT NOT NULL,
        project TEXT NOT NULL, text TEXT, type TEXT NOT NULL, title TEXT, subtitle TEXT,
        facts TEXT, narrative TEXT, concepts TEXT, files_read TEXT, files_modified TEXT,
        prompt_number INTEGER, discovery_tokens INTEGER DEFAULT 0, content_hash TEXT,
        agent_type TEXT, agent_id TEXT, merged_into_project TEXT, generated_by_model TEXT,
        metadata TEXT, created_at TEXT NOT NULL, created_at_epoch INTEGER NOT NULL,
        UNIQUE (memory_session_id, content_hash))""",
    """CREATE TABLE session_summaries (
        id INTEGER PRIMARY KEY AUTOINCREMENT, memory_session_id TEXT NOT NULL,
        project TEXT NOT NULL, request TEXT, investigated TEXT, learned TEXT, completed TEXT,
        next_steps TEXT, files_read TEXT, files_edited TEXT, notes TEXT, prompt_number INTEGER,
        discovery_tokens INTEGER DEFAULT 0, merged_into_project TEXT,
        created_at TEXT NOT NULL, created_at_epoch INTEGER NOT NULL)""",
    """CREATE TABLE user_prompts (
        id INTEGER PRIMARY KEY AUTOINCREMENT, session_db_id INTEGER,
        content_session_id TEXT NOT NULL, prompt_number INTEGER NOT NULL,
        prompt_text TEXT NOT NULL, created_at TEXT NOT NULL, created_at_epoch INTEGER NOT NULL)""",
    "CREATE VIRTUAL TABLE user_prompts_fts USING fts5("
    "prompt_text, content='user_prompts', content_rowid='id')",
    """CREATE TABLE pending_messages (
        id INTEGER PRIMARY KEY AUTOINCREMENT, session_db_id INTEGER NOT NULL,
        content_session_id TEXT NOT NULL, message_type TEXT NOT NULL, tool_input TEXT)""",
    """CREATE TABLE observation_feedback (
        id INTEGER PRIMARY KEY AUTOINCREMENT, observation_id INTEGER NOT NULL,
        signal_type TEXT NOT NULL, created_at_epoch INTEGER NOT NULL)""",
    """CREATE TABLE directives (
        id INTEGER PRIMARY KEY AUTOINCREMENT, scope TEXT NOT NULL DEFAULT 'global',
        project TEXT, content TEXT NOT NULL, status TEXT NOT NULL DEFAULT 'active',
        source TEXT NOT NULL DEFAULT 'manual', created_at TEXT NOT NULL,
        created_at_epoch INTEGER NOT NULL, updated_at_epoch INTEGER NOT NULL)""",
)
EARLY = (
    """CREATE TABLE sessions (
        id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT UNIQUE NOT NULL,
        project TEXT NOT NULL, created_at TEXT NOT NULL, created_at_epoch INTEGER NOT NULL,
        source TEXT NOT NULL DEFAULT 'compress')""",
    """CREATE TABLE memories (
        id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, text TEXT NOT NULL,
        document_id TEXT UNIQUE, keywords TEXT, created_at TEXT NOT NULL,
        created_at_epoch INTEGER NOT NULL, project TEXT NOT NULL, archive_basename TEXT,
        origin TEXT NOT NULL DEFAULT 'transcript', title TEXT, subtitle TEXT, facts TEXT,
        concepts TEXT, files_touched TEXT)""",
    """CREATE TABLE overviews (
        id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, content TEXT NOT NULL,
        created_at TEXT NOT NULL, created_at_epoch INTEGER NOT NULL, project TEXT NOT NULL,
        origin TEXT NOT NULL DEFAULT 'claude')""",
    "CREATE TABLE transcript_events (id INTEGER PRIMARY KEY, raw_json TEXT NOT NULL)",
)


def when(seconds=0):
    return {"created_at": ISO, "created_at_epoch": AT + seconds * 1000}


def watched(number=1, key=KEY, **more):
    return {
        "id": number,
        "content_session_id": key,
        "memory_session_id": f"m-{number}",
        "project": "boat",
        "started_at": ISO,
        "started_at_epoch": AT,
        **more,
    }


def observed(memory="m-1", seconds=1, **more):
    return {
        "memory_session_id": memory,
        "project": "boat",
        "type": "discovery",
        **when(seconds),
        **more,
    }


def asked(number, text, session=1, key=KEY):
    return {
        "session_db_id": session,
        "content_session_id": key,
        "prompt_number": number,
        "prompt_text": text,
        **when(number),
    }


def summed(memory="m-1", seconds=9, **more):
    return {"memory_session_id": memory, "project": "boat", **when(seconds), **more}


def full(folder):
    """A database of the newest shape with something in each of its tables."""
    return build(
        folder / "claude-mem.db",
        NEW,
        sdk_sessions=[
            watched(custom_title="Lights of the harbour", user_prompt="Who winds the clockwork?"),
            watched(2, "codex-1", platform_source="codex", project="mast"),
            watched(3, "early-1", user_prompt="The only prompt that stands with its session."),
        ],
        observations=[
            observed(
                title="Clockwork of the light",
                subtitle="How it is driven",
                narrative=TELLING,
                facts='["It is wound on Thursdays", "The key is brass"]',
                concepts='["how-it-works", "gotcha"]',
                files_read='["/srv/boat/light.md"]',
                files_modified="[]",
                prompt_number=1,
                discovery_tokens=4200,
                generated_by_model="some-model",
                agent_type="explorer",
                merged_into_project="harbour",
                metadata='{"weather": "calm"}',
                content_hash="h1",
            ),
            observed(
                "m-2", 2, text="An observation of the first kind, in one text.", project="mast"
            ),
            observed("m-1", 3),
        ],
        session_summaries=[
            summed(
                request="Find out about the light",
                learned="Clockwork, wound weekly",
                next_steps="Oil it",
                files_read='["light.md"]',
                files_edited="log.md",
            ),
            summed("m-2", request="Mast", completed="Varnished", files_edited='["m.md"]'),
            summed("m-unknown", notes="Nobody knows whose session this was."),
            summed(),
        ],
        user_prompts=[
            asked(1, "Who winds the clockwork?"),
            asked(2, f"Keep this: {SECRET}"),
            asked(1, "Varnish the mast", 2, "codex-1"),
        ],
        pending_messages=[
            {"session_db_id": 1, "content_session_id": KEY, "message_type": "summarize"}
        ],
        observation_feedback=[
            {"observation_id": 1, "signal_type": "used", "created_at_epoch": AT},
            {"observation_id": 1, "signal_type": "used", "created_at_epoch": AT},
        ],
        directives=[
            {
                "content": "Always write dates as day and month.",
                "scope": "project",
                "project": "boat",
                "updated_at_epoch": AT + 5,
                **when(),
            }
        ],
    )


def test_an_observation_is_a_note_that_says_a_machine_made_it(tmp_path):
    read = Read(full(tmp_path), tmp_path / "t")
    note = read.note(TELLING)
    assert note["text"] == (
        f"Clockwork of the light\n\nHow it is driven\n\n{TELLING}\n\n"
        "- It is wound on Thursdays\n- The key is brass"
    )
    assert note["uid"] == f"claude-mem:observation:1:{AT + 1000}"
    assert (note["project"], note["time"]) == ("boat", "2025-10-09T08:53:21.123Z")
    assert note["metadata"] == {
        "kind": "observation",
        "machine_made": True,
        "type": "discovery",
        "title": "Clockwork of the light",
        "subtitle": "How it is driven",
        "facts": ["It is wound on Thursdays", "The key is brass"],
        "concepts": ["how-it-works", "gotcha"],
        "files_read": ["/srv/boat/light.md"],
        "prompt_number": 1,
        "discovery_tokens": 4200,
        "generated_by_model": "some-model",
        "agent_type": "explorer",
        "merged_into_project": "harbour",
        "metadata": {"weather": "calm"},
        "memory_session_id": "m-1",
        "content_session_id": KEY,
        "platform_source": "claude",
        "session_title": "Lights of the harbour",
    }


def test_a_prompt_is_a_note_once(tmp_path):
    read = Read(full(tmp_path), tmp_path / "t")
    prompts = [note for note in read.notes if note["metadata"].get("kind") == "prompt"]
    assert [(note["text"], note["project"], note["metadata"]["role"]) for note in prompts] == [
        ("Who winds the clockwork?", "boat", "user"),
        (f"Keep this: {SECRET}", "boat", "user"),
        ("Varnish the mast", "mast", "user"),
        ("The only prompt that stands with its session.", "boat", "user"),
    ]
    assert prompts[0]["metadata"]["prompt_number"] == 1
    assert prompts[2]["metadata"]["platform_source"] == "codex"
    assert prompts[3]["metadata"]["content_session_id"] == "early-1"


def test_one_key_on_two_platforms_is_two_sessions(tmp_path):
    path = build(
        tmp_path / "c.db",
        NEW,
        sdk_sessions=[watched(), watched(2, KEY, platform_source="cursor", project="mast")],
        user_prompts=[asked(1, "To the one"), asked(1, "To the other", 2)],
    )
    read = Read(path, tmp_path / "t")
    assert [(note["text"], note["project"]) for note in read.notes] == [
        ("To the one", "boat"),
        ("To the other", "mast"),
    ]


def test_a_summary_joins_its_session_or_is_a_note(tmp_path):
    read = Read(full(tmp_path), tmp_path / "t")
    (session,), (message,) = read.of("session"), read.messages
    assert (session["agent"], session["key"]) == ("claude-code", KEY)
    assert session["title"] == "Lights of the harbour"
    # A bare name would stay the project of a session whose folder its own log tells.
    assert session["project"] is None
    assert session["cwd"] is None
    assert (message["role"], message["time"]) == ("summary", "2025-10-09T08:53:29.123Z")
    assert message["author"] != "human"
    assert message["text"] == (
        "Project: boat\n\nRequest: Find out about the light\n\nLearned: Clockwork, wound weekly"
        "\n\nNext steps: Oil it\n\nFiles read:\n- light.md\n\nFiles edited:\nlog.md"
    )
    other = read.note("Varnished")
    assert other["text"] == "Request: Mast\n\nCompleted: Varnished"
    assert other["metadata"]["machine_made"] is True
    assert other["metadata"]["files_edited"] == ["m.md"]
    assert other["metadata"]["platform_source"] == "codex"
    assert read.note("Nobody knows")["metadata"]["memory_session_id"] == "m-unknown"


def test_what_it_recorded_of_its_own_work_is_left_out(tmp_path):
    own = {"project": "observer-sessions"}
    path = build(
        tmp_path / "c.db",
        NEW,
        sdk_sessions=[watched(**own), watched(2, "own-2", user_prompt="You observe.", **own)],
        observations=[observed(text="seen", **own), observed("m-9", text="kept")],
        session_summaries=[summed(request="watch", **own)],
        user_prompts=[asked(1, "You are an observer")],
    )
    read = Read(path, tmp_path / "t")
    assert [note["text"] for note in read.notes] == ["kept"]
    assert read.messages == []
    assert read.homeless["records of claude-mem's own work (left out)"] == 4


def test_rules_come_and_what_has_no_home_is_told(tmp_path):
    read = Read(full(tmp_path), tmp_path / "t")
    rule = read.note("Always write dates")
    assert rule["metadata"] == {
        "kind": "directive",
        "source": "manual",
        "scope": "project",
        "status": "active",
        "updated_at": AT + 5,
    }
    assert read.homeless == {
        "types of observations": 2,
        "concepts of observations": 1,
        "files of observations": 1,
        "scopes and states of directives": 1,
        "pieces of work that claude-mem has not done yet (left out)": 1,
        "uses of observations (left out)": 2,
    }
    assert read.report.bad == 2
    assert [words for _number, words in read.report.told] == [
        "observations: row 3 holds no text",
        "session_summaries: row 4 holds no text",
    ]
    assert read.report.kinds == {"observation": 2, "prompt": 4, "directive": 1, "summary": 2}


def test_the_columns_of_the_first_versions_are_read_as_well(tmp_path):
    path = build(
        tmp_path / "old.db",
        OLD,
        sdk_sessions=[
            {
                "claude_session_id": KEY,
                "sdk_session_id": "s-1",
                "project": "boat",
                "user_prompt": "Who winds it?",
                "started_at": ISO,
                "started_at_epoch": AT,
            }
        ],
        observations=[
            {"sdk_session_id": "s-1", "project": "boat", "text": TELLING, "type": "x", **when()}
        ],
        session_summaries=[
            {"sdk_session_id": "s-1", "project": "boat", "request": "Light", **when(4)}
        ],
    )
    read = Read(path, tmp_path / "t")
    assert [note["text"] for note in read.notes] == [TELLING, "Who winds it?"]
    assert read.notes[0]["metadata"]["content_session_id"] == KEY
    assert [(m["session"], m["text"]) for m in read.messages] == [
        (KEY, "Project: boat\n\nRequest: Light")
    ]


def early_rows():
    return {
        "memories": [
            {
                "session_id": KEY,
                "text": TELLING,
                "document_id": "d-1",
                "keywords": "light clockwork",
                "project": "boat",
                "archive_basename": "2025-09",
                "title": "Light",
                "facts": '["weekly"]',
                "files_touched": "light.md",
                **when(),
            }
        ],
        "overviews": [
            {"session_id": KEY, "content": "All of it.", "project": "boat", **when(2)},
            {"session_id": KEY, "content": " ", "project": "mast", **when(3)},
        ],
        "transcript_events": [{"raw_json": "{}"}],
    }


def test_the_generation_before_is_read_alone_and_beside_the_later_one(tmp_path):
    alone = Read(build(tmp_path / "early.db", EARLY, **early_rows()), tmp_path / "t")
    note = alone.note(TELLING)
    assert note["metadata"] == {
        "machine_made": True,
        "source": "transcript",
        "title": "Light",
        "keywords": "light clockwork",
        "document_id": "d-1",
        "session_id": KEY,
        "archive_basename": "2025-09",
        "facts": ["weekly"],
        "files_touched": "light.md",
    }
    assert [(m["role"], m["text"]) for m in alone.messages] == [
        ("summary", "Project: boat\n\nAll of it.")
    ]
    assert [words for _n, words in alone.report.told] == [
        "overviews: row 2 holds no text, or no session"
    ]
    assert alone.homeless["raw events of sessions (left out)"] == 1
    path = full(tmp_path / "both")
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in EARLY:
            connection.execute(statement)
        for table, rows in early_rows().items():
            insert(connection, table, rows)
    both = Read(path, tmp_path / "t")
    assert len(both.messages) == 2
    assert both.report.kinds["memory"] == 1
    assert both.report.kinds["observation"] == 2


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            "ALTER TABLE sdk_sessions RENAME COLUMN content_session_id TO other",
            "does not say which sessions",
        ),
        ("ALTER TABLE user_prompts RENAME COLUMN prompt_text TO words", "holds no prompts"),
    ],
)
def test_a_shape_that_differs_is_refused_with_what_differs(tmp_path, change, words):
    path = build(tmp_path / "c.db", [*NEW, change])
    with pytest.raises(ForeignTrouble, match=words):
        Read(path, tmp_path / "t")


def test_cells_that_hold_anything_break_nothing(tmp_path):
    path = build(
        tmp_path / "c.db",
        NEW,
        sdk_sessions=[watched(custom_title=b"\xff", project=7.5)],
        observations=[
            observed(
                text="odd",
                facts="{no json",
                concepts="7",
                files_read=b"\x00\x01",
                metadata="[" * 2000,
                created_at_epoch="soon",
                prompt_number="two",
            ),
            observed("m-1", 2, text=b"\xff\xfe", title="A title"),
            observed("m-1", 10**10, text="later than time"),
        ],
        user_prompts=[asked(1, "whose?", 99, "unknown"), {**asked(2, "  ")}],
    )
    read = Read(path, tmp_path / "t")
    odd = read.note("odd")
    assert odd["text"] == "odd\n\n{no json"
    assert odd["time"] == "2025-10-09T08:53:20.123Z"
    assert odd["metadata"]["facts"] == "{no json"
    assert read.note("A title")["text"] == "A title"
    assert read.note("later than time")["time"] == "2025-10-09T08:53:20.123Z"
    assert read.note("whose?")["project"] is None
    assert [words for _n, words in read.report.told] == ["user_prompts: row 2 holds no text"]


def test_what_lies_on_a_damaged_page_is_passed_over_and_told(tmp_path):
    long = "x" * 3000
    path = build(
        tmp_path / "c.db",
        NEW,
        sdk_sessions=[watched()],
        observations=[observed("m-1", n, text=f"number {n} {long}") for n in range(40)],
    )
    damage(path, "number 20 ")
    read = Read(path, tmp_path / "t")
    assert 30 <= len(read.notes) < 40
    assert read.report.bad >= 1
    assert all("number 20 " not in note["text"] for note in read.notes)
    assert read.note("number 39 ")


def test_an_import_is_dated_redacted_found_and_never_doubled(tmp_path):
    place = Place(tmp_path / "place")
    place.folder.mkdir()
    path = full(tmp_path)
    trial, _said = place.take(path, "--dry-run", code=1)
    assert (trial["notes"]["new"], trial["messages"]["new"]) == (9, 1)
    assert not place.data.exists()
    summary, complaints = place.take(path, code=1)
    assert summary["notes"]["new"] == 9
    assert summary["messages"]["new"] == 1
    assert summary["redactions"] == 1
    assert "observations: row 3 holds no text" in complaints
    for each in place.data.iterdir():
        assert not each.is_file() or SECRET.encode() not in each.read_bytes(), each.name
    before = place.export()
    again, _said = place.take(path, code=1)
    assert (again["notes"]["new"], again["messages"]["new"]) == (0, 0)
    assert (again["notes"]["known"], again["messages"]["known"]) == (9, 1)
    assert place.export()[1:] == before[1:]
    (hits,) = place.recall("harbour clockwork Thursdays")
    hit = next(hit for hit in hits if TELLING in hit["content"])
    assert hit["metadata"]["machine_made"] is True
    assert hit["ts_start"].startswith("2025-10-09T08:53:21")


@pytest.mark.parametrize("is_first", [True, False])
def test_a_summary_is_in_the_session_that_is_read_from_its_log(tmp_path, is_first):
    place = Place(tmp_path / "place")
    place.folder.mkdir()
    path = build(
        tmp_path / "c.db",
        NEW,
        sdk_sessions=[watched(key="s-two", custom_title="Mast")],
        session_summaries=[summed(learned="The mast is of larch.")],
    )
    if is_first:
        place.take(path)
    with place.server() as live:
        conversation(live.logs)
        assert live.ask("POST", "/ingest_convos", {})[1]["messages_added"] == 5
    if not is_first:
        place.take(path)
    again, _said = place.take(path)
    assert again["messages"] == {"new": 0, "known": 1, "forgotten": 0, "empty": 0, "ruled_out": 0}
    rows = place.rows(
        "select p.path, s.title from sessions s left join projects p on p.id = s.project_id"
        " where s.agent = 'claude-code' and s.key = 's-two'"
    )
    assert rows == [("/srv/demo/boat", "Mast")]
    roles = [line["role"] for line in place.export() if line.get("session") == "s-two"]
    assert sorted(roles) == ["assistant", "summary", "user"]
