"""A server without HTTP whose embedder and index of vectors are in the tests' hands."""

import asyncio
import threading

import numpy as np

from cloxy_core.testing.fakes import FakeEmbedder
from cloxy_core.testing.harness import App
from cloxy_hookspecs import (
    Draft,
    EmbedderProvider,
    Found,
    ModelMissingError,
    VectorIndexProvider,
    hookimpl,
)

REFUSED = "unembeddable"


class Words:
    """A fake embedder that notes what it is asked, and fails where a test wants it to.

    Attributes:
        passages: texts of passages, in the order in which they came.
        calls: how many texts each call had.
        questions: texts of questions.
        missing: words of a missing model; None when it is there.
        gate: closed, every call waits.
        questions_wait: whether that holds for questions, too.
        entered: set when a call has begun to wait.
        change: what is done to the vectors of passages.
    """

    def __init__(self, dim=16, *, model="fake/words", revision="1", prefix="", batch=4):
        self.fake = FakeEmbedder(dim, model=model)
        made = self.fake.info
        space = type(made.space)(model, revision, dim, prefix, "")
        self.info = type(made)(space, made.weight, made.floor, batch, 40)
        self.passages, self.calls, self.questions = [], [], []
        self.missing = None
        self.questions_wait = True
        self.gate = threading.Event()
        self.gate.set()
        self.entered = threading.Event()
        self.change = lambda matrix: matrix
        self.refused = REFUSED

    def embed_passages(self, texts):
        self._enter(waits=True)
        self.calls.append(len(texts))
        self.passages += texts
        if any(self.refused in text for text in texts):
            raise ValueError(f"cannot take {texts}")
        return self.change(self.fake.embed_passages(texts))

    def embed_queries(self, texts):
        self._enter(waits=self.questions_wait)
        self.questions += texts
        if any(self.refused in text for text in texts):
            raise ValueError(f"cannot take {texts}")
        return self.fake.embed_queries(texts)

    def _enter(self, *, waits):
        self.entered.set()
        assert not waits or self.gate.wait(30)
        if self.missing:
            raise ModelMissingError(self.missing, hint="put it back")


class Shelf:
    """An index of vectors in memory that notes what it gets."""

    def __init__(self):
        self.rows = {}
        self.position = 0
        self.applied = []
        self.rebuilt = 0
        self.error = None
        self.gate = threading.Event()
        self.gate.set()

    def search(self, connection, probe, limit):
        return Found()

    def count(self, connection):
        return len(self.rows)

    def ids(self):
        return set(self.rows)

    def checkpoint(self):
        return self.position

    def apply(self, changes, sequence):
        if self.error:
            raise self.error
        self.applied += [(change.passage_id, change.row is not None) for change in changes]
        for change in changes:
            if change.row is None:
                self.rows.pop(change.passage_id, None)
            else:
                self.rows[change.passage_id] = change.row
        assert sequence >= self.position, "the outbox went backwards"
        self.position = sequence

    def rebuild(self, rows, sequence):
        made = {row.passage_id: row for row in rows}
        assert self.gate.wait(30)
        if self.error:
            raise self.error
        self.rows, self.position = made, sequence
        self.rebuilt += 1


def plugin(*, embedders=(), indexes=()):
    """A plugin that brings these records."""

    class Plugin:
        @staticmethod
        @hookimpl
        def cloxy_embedders():
            return embedders

        @staticmethod
        @hookimpl
        def cloxy_indexes():
            return indexes

    return Plugin()


def provider(embedder, name="words", *, models=None, folders=False, at_hand=None):
    """The record of an embedder."""
    return EmbedderProvider(
        name=name,
        summary="Words",
        models=models or (embedder.info.space.model,),
        folders=folders,
        create=lambda _context: embedder,
        **({} if at_hand is None else {"at_hand": at_hand}),
    )


class Place(App):
    """The server. Its background tasks go on while something is awaited on its loop."""

    def __init__(self, folder, words, **settings):
        self.words = words
        self.shelf = Shelf()
        index = VectorIndexProvider(
            name="shelf", summary="A shelf", channel="dense", create=lambda _context: self.shelf
        )
        super().__init__(
            folder,
            plugins={"words": plugin(embedders=[provider(words)], indexes=[index])},
            settings={
                "embed.provider": "words",
                "plugins.disabled": "exact_index",
                **{name.replace("__", "."): text for name, text in settings.items()},
            },
        )

    @property
    def embedding(self):
        return self.engine.embedding

    @property
    def indexing(self):
        return self.engine.indexing

    def restart(self, words=None, shelf=None):
        """Stop, and start again, with another embedder or index perhaps."""
        self.stop()
        if words is not None:
            self.words = words
            self._plugins["words"] = plugin(
                embedders=[provider(words)],
                indexes=[
                    VectorIndexProvider(
                        name="shelf",
                        summary="A shelf",
                        channel="dense",
                        create=lambda _context: self.shelf,
                    )
                ],
            )
        self.shelf = shelf or Shelf()
        self.start()

    def remember(self, *texts):
        """Store notes; ids of their memories."""
        return [
            self.do(self.engine.memories.remember(Draft(text, "note", "manual"))).ids[0]
            for text in texts
        ]

    def forget(self, memory):
        self.do(self.engine.memories.forget(memory))

    def until(self, condition):
        """Let the background go on until a condition, of this place or awaited, holds."""

        async def wait():
            while True:
                held = condition()
                if asyncio.iscoroutine(held):
                    held = await held
                if held:
                    return held
                await asyncio.sleep(0.002)

        return self.do(asyncio.wait_for(wait(), 120))

    def status(self):
        return self.do(self.embedding.status())

    def settled(self):
        """Wait until nothing is left to do; the status then."""

        async def is_settled():
            status = await self.embedding.status()
            if status.state != "ready" or status.backlog or not self.indexing.ready("dense"):
                return None
            left = await self.engine.store.read(
                lambda c: c.exec_driver_sql(
                    "SELECT (SELECT count(*) FROM index_outbox) + (SELECT count(*)"
                    " FROM passages p JOIN embeddings e ON e.passage_id = p.id"
                    " WHERE e.text_hash != p.text_hash)"
                ).scalar()
            )
            return None if left or await self.embedding.filling.look() else status

        return self.until(is_settled)

    def rows(self, statement, *parameters):
        return self.read(
            lambda c: [tuple(r) for r in c.exec_driver_sql(statement, parameters).all()]
        )

    def value(self, statement, *parameters):
        ((found,),) = self.rows(statement, *parameters)
        return found

    def texts(self):
        """Text of every passage, by id."""
        return dict(
            self.rows(
                "SELECT p.id, substr(m.content, p.char_start + 1, p.char_end - p.char_start)"
                " FROM passages p JOIN memories m ON m.id = p.memory_id"
            )
        )

    def vectors(self):
        """Vector of every passage that has one in the active space, by id."""
        found = self.rows(
            "SELECT e.passage_id, e.vector FROM embeddings e"
            " JOIN embedding_spaces s ON s.id = e.space_id WHERE s.active"
        )
        return {row[0]: row[1] for row in found}

    def check(self):
        """Every passage has exactly the vector of its text, in the store and in the index."""
        texts, vectors = self.texts(), self.vectors()
        assert set(vectors) == set(texts)
        characters = self.words.info.characters
        for identifier, text in texts.items():
            wanted = self.words.fake.embed_passages([text[:characters]])[0]
            found = np.frombuffer(vectors[identifier], "<f4")
            assert np.allclose(found, wanted, atol=1e-5), text
        self.check_index()

    def check_index(self):
        """The index holds what the store holds, with the right neighbours."""
        assert {i: row.vector for i, row in self.shelf.rows.items()} == self.vectors()
        sessions = {}
        for identifier, session in self.rows("SELECT id, session_id FROM passages ORDER BY id"):
            if session is not None:
                sessions.setdefault(session, []).append(identifier)
        beside = {}
        for line in sessions.values():
            for place, identifier in enumerate(line):
                before = line[place - 1] if place else None
                after = line[place + 1] if place + 1 < len(line) else None
                beside[identifier] = (before, after)
        for identifier, row in self.shelf.rows.items():
            assert (row.previous, row.following) == beside.get(identifier, (None, None))

    def ingest(self):
        return self.do(self.engine.ingest.run())
