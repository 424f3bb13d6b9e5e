"""Conversations that are kept, and texts that become vectors: real stores."""

import numpy as np
import pytest

from cloxy_core.testing.fakes import FakeEmbedder
from cloxy_hookspecs import (
    Conversation,
    EmbedderProvider,
    Fence,
    Filters,
    Message,
    ModelMissingError,
    Query,
    SessionFacts,
    StoreFullError,
    TextEmbedder,
    TranscriptKeeper,
    hookimpl,
)

AT = 1_767_000_000_000
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
QUESTION = "Which crate holds the brass heron of the harbour master?"
ANSWER = "The brass heron stands in crate 17, below the tide tables."


def message(uid, text, role="user", author="human", at=AT, session="chat-1"):
    return Message(uid, session, role, author, text, at, 0, 1, cwd="/srv/demo/shop")


def conversation(*messages, title="Herons"):
    facts = SessionFacts(key="chat-1", cwd="/srv/demo/shop", title=title)
    return Conversation("cloxy", "chat-1", messages, {"chat-1": facts})


TURN = conversation(
    message("m1", QUESTION), message("m2", ANSWER, "assistant", "own", at=AT + 1000)
)


@pytest.fixture
def app(cloxy_app):
    return cloxy_app(settings={"embed.provider": "none"})


def keep(app, kept):
    return app.do(app.engine.services.service(TranscriptKeeper).keep(kept))


def recalled(app, text, **more):
    query = Query(text=text, top_k=10, now=AT + 9_000, group="passage", mode="keyword", **more)
    return app.do(app.engine.recaller.recall(query)).hits


def rows(app, statement):
    return app.read(lambda connection: connection.exec_driver_sql(statement).fetchall())


def test_a_turn_is_kept_once_as_a_transcript(app):
    kept = keep(app, TURN)
    assert (kept.messages_added, kept.messages_known, kept.memories_added) == (2, 0, 2)
    again = keep(app, TURN)
    assert (again.messages_added, again.messages_known, again.memories_added) == (0, 2, 0)
    assert rows(app, "SELECT origin, immutable FROM memories") == [("transcript", 1)] * 2
    assert rows(app, "SELECT agent, key, title FROM sessions") == [("cloxy", "chat-1", "Herons")]
    assert rows(app, "SELECT role, author FROM passages ORDER BY id") == [
        ("user", "human"),
        ("assistant", "own"),
    ]
    assert rows(app, "SELECT plugin, uri, state, messages FROM sources") == [
        ("conversation", "cloxy:chat-1", "gone", 2)
    ]
    (project,) = app.do(app.engine.memories.projects())
    assert project.project == "/srv/demo/shop"


def test_a_later_turn_joins_the_session(app):
    keep(app, TURN)
    kept = keep(app, conversation(message("m3", "And who keeps the key?", at=AT + 2000)))
    assert (kept.messages_added, kept.memories_added) == (1, 1)
    # What was said by people in one go is one memory.
    more = message("m4", "Does anybody else?", at=AT + 3000)
    assert keep(app, conversation(more)).memories_added == 0
    assert rows(app, "SELECT open FROM memories ORDER BY id") == [(0,), (0,), (1,)]
    assert rows(app, "SELECT count(*), max(messages) FROM sources") == [(1, 4)]


def test_own_answers_are_found_only_by_name(app):
    keep(app, TURN)
    (hit,) = recalled(app, "brass heron crate")
    assert [passage.author for passage in hit.passages] == ["human"]
    assert ANSWER not in hit.content
    (named,) = recalled(app, "brass heron crate", filters=Filters(authors=("own",)))
    assert [passage.author for passage in named.passages] == ["own"]


def test_secrets_and_recalled_memory_are_not_kept(app):
    block = app.engine.services.service(Fence).fence("the recalled secret of the lighthouse")
    kept = keep(app, conversation(message("m1", f"My token is {SECRET}.\n{block}\nIs it good?")))
    assert sum(kept.redactions.values()) == 1
    ((content,),) = rows(app, "SELECT content FROM memories")
    assert SECRET not in content
    assert "lighthouse" not in content
    assert "Is it good?" in content


def test_what_was_forgotten_stays_forgotten(app):
    keep(app, TURN)
    gone = app.do(app.engine.memories.forget_session("chat-1"))
    assert gone.still_in == ()
    assert rows(app, "SELECT count(*) FROM memories") == [(0,)]
    kept = keep(app, TURN)
    assert kept.messages_added == 0
    assert rows(app, "SELECT count(*) FROM memories") == [(0,)]
    assert rows(app, "SELECT count(*) FROM sessions") == [(0,)]


def test_an_ignored_project_stays_out(app):
    app.do(app.engine.rules.ignore("/srv/demo/shop"))
    assert keep(app, TURN).messages_added == 0
    assert rows(app, "SELECT count(*) FROM memories") == [(0,)]


def test_without_room_nothing_is_kept(app, monkeypatch):
    async def full():
        return "the disk is full"

    monkeypatch.setattr(app.engine.conversations, "_may_write", full)
    with pytest.raises(StoreFullError, match="the disk is full"):
        keep(app, TURN)
    assert rows(app, "SELECT count(*) FROM memories") == [(0,)]


def test_nothing_is_nothing(app):
    assert keep(app, Conversation("cloxy", "x", (), {})).messages_added == 0
    assert rows(app, "SELECT count(*) FROM sources") == [(0,)]


def test_the_rest_of_the_server_copes_with_it(app):
    keep(app, TURN)
    stats = app.do(app.engine.memories.stats())
    assert stats.memories == 2
    report = app.do(app.engine.health.report())
    assert report["memories"] == 2
    app.do(app.engine.checks.run())
    assert app.engine.checks.healthy()
    assert {row["severity"] for row in app.engine.checks.results()} <= {"ok", "warning"}
    app.stop()
    app.start()
    assert len(recalled(app, "brass heron")) == 1


class WithWords:
    @hookimpl
    def cloxy_embedders(self):
        yield EmbedderProvider(
            name="words",
            summary="Words",
            models=("fake/words",),
            create=lambda context: FakeEmbedder(64),
        )


def test_texts_become_vectors_of_the_memorys_model(cloxy_app):
    app = cloxy_app(plugins={"words": WithWords()}, settings={"embed.provider": "words"})
    texts = app.engine.services.service(TextEmbedder)
    assert texts.model == "fake/words"
    app.do(app.engine.embedding.fill())
    given = [f"text number {number} of the harbour" for number in range(50)]
    matrix = app.do(texts.embed(given))
    assert matrix.shape == (50, 64)
    assert matrix.dtype == np.float32
    assert np.allclose(np.linalg.norm(matrix, axis=1), 1, atol=1e-5)
    assert np.allclose(matrix, FakeEmbedder(64).embed_passages(given), atol=1e-5)
    assert app.do(texts.embed([])).shape == (0, 64)


def test_without_a_model_it_says_so(app):
    texts = app.engine.services.service(TextEmbedder)
    assert texts.model == ""
    with pytest.raises(ModelMissingError, match=r"embed\.provider"):
        app.do(texts.embed(["a"]))
