"""Asking an index, and comparing what it answers."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from cloxy_core.testing.corpus import CORPUS
from cloxy_core.testing.fakes import FakeEmbedder
from cloxy_core.testing.harness import App
from cloxy_hookspecs import Filters, Hit, Index, IndexChange, IndexRow, Probe

Ranking = Sequence[tuple[int, float]]

EMBEDDER = FakeEmbedder()
"""Makes the vectors of questions, which every index is given, and of passages."""


def puts(rows: Sequence[IndexRow]) -> Sequence[IndexChange]:
    """Changes that put rows in."""
    return [IndexChange(row.passage_id, row) for row in rows]


def search(
    app: App,
    index: Index,
    text: str,
    *,
    literals: tuple[str, ...] = (),
    filters: Filters | None = None,
    limit: int = 50,
) -> list[tuple[int, float]]:
    """Passages and scores that an index answers with, on a reader thread."""
    (vector,) = EMBEDDER.embed_queries([text])
    probe = Probe(text, literals, filters or Filters(), vector)
    found = app.read(lambda connection: index.search(connection, probe, limit))
    assert len(found.hits) <= limit
    assert all(isinstance(hit, Hit) for hit in found.hits)
    return [(hit.passage_id, hit.score) for hit in found.hits]


def count(app: App, index: Index) -> int:
    """Passages that an index says to have."""
    return app.read(index.count)


def snapshot(app: App, index: Index) -> Mapping[str, Ranking]:
    """What an index answers to every text of the corpus, and how much it holds."""
    answers = {said.text: search(app, index, said.text) for said in CORPUS}
    return {"": [(count(app, index), 0.0)], **answers}


def assert_same(found: Mapping[str, Ranking], wanted: Mapping[str, Ranking]) -> None:
    """Compare answers: the same passages, with the same scores but for rounding."""
    for text, ranking in wanted.items():
        assert dict(found[text]) == pytest.approx(dict(ranking), rel=1e-3, abs=1e-6), text


def holders(folder: Path, word: str) -> list[str]:
    """Files below a folder in whose bytes a word stands, in either case."""
    return [path.name for path in _files(folder) if word.encode() in path.read_bytes().lower()]


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*")) if path.is_file())
