"""Outputs of memory as text for a model."""

import time

import pytest

from cloxy_plugins.memory import wording
from cloxy_plugins.memory.models import (
    DeletedOutput,
    ForgetOutput,
    HitOutput,
    IngestConvosOutput,
    IngestTextOutput,
    MemoryOutput,
    PassageOutput,
    ProjectOutput,
    ProjectsOutput,
    RecallOutput,
    SessionOutput,
)


@pytest.fixture(autouse=True)
def zone(monkeypatch):
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def hit(**more):
    passage = PassageOutput(
        id=1, text="x", role="user", author="human", ts=None, char_start=0, char_end=1,
        score=1.0, parts={},
    )  # fmt: skip
    given = {
        "rank": 1, "id": 7, "uid": "u", "content": "[h]\nUSER: hello", "header": "[h]",
        "source": "claude-code:s", "project": "/srv/demo/shop", "session_id": "0123456789abcdef",
        "sessions": [], "ts_start": "2026-05-08T03:30:00.000Z", "ts_end": None,
        "metadata": {"title": "Fix it"}, "score": 0.81249, "similarity": None,
        "keyword_rank": 1, "recency": 1.0, "rerank_score": None, "passages": [passage],
    }  # fmt: skip
    return HitOutput(**(given | more))


def recall(*hits, notes=()):
    return RecallOutput(
        results=list(hits), query="q", mode="hybrid", searched=1, channels=[], notes=list(notes)
    )


def first_line(**more):
    return wording.recalled(recall(hit(**more))).splitlines()[0]


def test_a_hit_is_told_in_the_time_of_this_machine():
    assert wording.recalled(recall(hit())) == (
        "#1 [2026-05-07 23:30 · shop · Fix it] (score 0.812, id 7) "
        "from claude-code:s, session 0123456789abcdef, the user\n"
        "USER: hello"
    )


@pytest.mark.parametrize(
    ("more", "head"),
    [
        ({"metadata": {}}, "[2026-05-07 23:30 · shop · 01234567]"),
        ({"metadata": {"title": 7}}, "[2026-05-07 23:30 · shop · 01234567]"),
        ({"project": None}, "[2026-05-07 23:30 · Fix it]"),
        ({"project": "C:\\work\\Shop\\"}, "[2026-05-07 23:30 · Shop · Fix it]"),
        ({"ts_start": None}, "[shop · Fix it]"),
        ({"ts_start": None, "project": None, "metadata": {}, "session_id": None}, "[no date]"),
        ({"metadata": {"title": "a\nb\t c"}}, "[2026-05-07 23:30 · shop · a b c]"),
        ({"ts_start": "9999-12-31T23:59:59Z"}, "[9999-12-31 18:59 · shop · Fix it]"),
        ({"ts_start": "0001-01-01T00:00:00Z"}, "[0001-01-01T00:00:00Z · shop · Fix it]"),
    ],
)
def test_the_head_says_what_is_known(more, head):
    assert first_line(**more).startswith(f"#1 {head} (score ")


def test_a_text_cannot_begin_a_line_as_an_item_does():
    shown = wording.recalled(recall(hit(header="", content="one\n#2 [x] (score 1, id 2)\n#3 no")))
    assert "\n\\#2 [x] (score" in shown
    assert "\n#3 no" in shown


def test_notes_and_nothing():
    assert wording.recalled(recall()) == wording.NOTHING
    shown = wording.recalled(recall(notes=["the model\nis away"]))
    assert shown == f"{wording.NOTHING}\n\nNote: the model is away"


def test_several_hits_keep_their_numbers():
    shown = wording.recalled(recall(hit(rank=4), hit(rank=5, id=8)))
    assert shown.count("\n\n") == 1
    assert "#4 [" in shown
    assert "\n\n#5 [" in shown


@pytest.mark.parametrize(
    ("output", "words"),
    [
        (IngestTextOutput(chunks_stored=1, total_chunks=1, ids=[3]),
         "Stored 1 new memory (ids: 3)"),
        (IngestTextOutput(chunks_stored=0, total_chunks=2, ids=[3, 4]),
         "Stored 0 new memories; 2 known already (ids: 3, 4)"),
    ],
)  # fmt: skip
def test_remembering(output, words):
    assert wording.remembered(output) == words


def test_forgetting_names_what_is_still_held():
    assert wording.deleted(DeletedOutput(deleted=5, memories=1, messages=1)) == "Deleted memory 5"
    shown = wording.deleted(
        DeletedOutput(
            deleted=5, memories=3, messages=1, pending=True, pending_reason="a reader\nholds it",
            still_in=[{"kind": "transcript", "path": "/home/me/a\nb.jsonl"}],
        )
    )  # fmt: skip
    assert shown.splitlines() == [
        "Deleted memory 5 and 2 copies of it",
        "Pending: bytes of it are still in Cloxy's own files: a reader holds it",
        "Still in the transcript /home/me/a b.jsonl",
    ]


def test_forgetting_a_source():
    def told(count, *, dry_run):
        return wording.source_deleted(
            ForgetOutput(deleted=count, source_prefix="s", messages=count, dry_run=dry_run)
        )

    assert "confirm_count=2" in told(2, dry_run=True)
    assert told(0, dry_run=True) == "There is nothing of the source s"
    assert told(1, dry_run=False) == "Deleted 1 memory of the source s"


def test_projects_one_line_each():
    shown = wording.projects(
        ProjectsOutput(
            projects=[
                ProjectOutput(project="/a\nb", chunks=1_234, sessions=1,
                              first_seen="2026-05-08T03:30:00.000Z", last_seen=None),
                ProjectOutput(project="/c", chunks=1, sessions=2, first_seen=None, last_seen=None),
            ]
        )
    )  # fmt: skip
    assert shown.splitlines() == [
        "/a b: 1,234 memories, 1 session, 2026-05-07 → unknown",
        "/c: 1 memory, 2 sessions, unknown → unknown",
    ]
    assert wording.projects(ProjectsOutput(projects=[])) == "There are no projects."


def test_a_pass_tells_its_errors():
    shown = wording.ingested(
        IngestConvosOutput(
            files_found=2, files_processed=1, files_skipped=0, chunks_stored=1, chunks_duplicate=0,
            messages_added=1, bad_lines=0, seconds=0.1,
            errors=[{"file": "/a\nb", "error": "cannot be read"}], drift=[],
        )
    )  # fmt: skip
    assert shown.splitlines()[0] == "2 files found, 1 read, 0 without change"
    assert shown.splitlines()[-1] == "failed: /a b: cannot be read"


def stored(content, author):
    return MemoryOutput(
        id=3, uid="u", content=content, source="convo:s:0", project=None, session_id="s",
        title=None, roles=["assistant"], authors=[author], ts_start=None, ts_end=None, metadata={},
    )  # fmt: skip


def test_what_our_own_model_answered_is_not_told_to_a_model():
    own, other = stored("it is port 1", "own"), stored("it is port 2", "assistant")
    talk = SessionOutput(
        id="s", agent="cloxy", title=None, project=None, parent=None, started_at=None,
        ended_at=None, memories=[own, other], next=None,
    )  # fmt: skip

    assert "port 1" not in wording.memory(own)
    assert "port 2" in wording.memory(other)
    assert "port 1" not in wording.session(talk)
    assert "port 2" in wording.session(talk)
