"""The channels of a recall: which may answer, one round over them, and their shares."""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from cloxy_core.kernel.containment import Failure, contained
from cloxy_core.services.indexing import Channel
from cloxy_core.services.recall.meaning import Asked
from cloxy_hookspecs import (
    CloxyError,
    Filters,
    Found,
    Hit,
    ModelMissingError,
    Probe,
    Query,
    VectorIndexProvider,
)

POOL = 150
"""Passages asked of each channel."""

POOL_PER_RESULT = 4
KEYWORD = "keyword"
DENSE = "dense"


class Channels:
    """Everything that can be searched; `search` and what follows it run on reader threads."""

    def __init__(self, channels: Sequence[Channel]) -> None:
        self._by_name = {channel.record.channel: channel for channel in channels}
        self._failures: deque[tuple[str, BaseException]] = deque()

    def chosen(self, query: Query) -> tuple[str, ...]:
        """Names of the channels that the mode lets answer.

        Raises:
            ModelMissingError: only a channel that is not there would do.
        """
        if query.mode == "keyword":
            return tuple(name for name in self._by_name if name == KEYWORD)
        if query.mode == "hybrid":
            return tuple(self._by_name)
        if DENSE not in self._by_name:
            raise ModelMissingError(
                "no index of vectors is there, so there is nothing to search by meaning",
                hint='enable the plugin exact_index, or use mode "hybrid" or "keyword"',
            )
        return (DENSE,)

    def of_vectors(self, names: Sequence[str]) -> tuple[str, ...]:
        """Those that search by vector."""
        return tuple(name for name in names if self._has_vectors(name))

    def holding(self, asked: Asked, names: Sequence[str]) -> Asked:
        """The question with the indexes of this moment, which fit its vector. On the loop."""
        held = {name: self._by_name[name].index for name in names if self._has_vectors(name)}
        return replace(asked, indexes=held)

    def search(
        self,
        connection: Connection,
        query: Query,
        filters: Filters,
        names: Sequence[str],
        asked: Asked,
    ) -> Mapping[str, Found]:
        """One round: what each channel finds within the filters, which a window may be part of."""
        probe = Probe(query.search_text, query.literals, filters, asked.vector)
        limit = pool(query)
        return {
            name: self._similar(connection, name, probe, limit, asked)
            if self._has_vectors(name)
            else self._by_name[name].index.search(connection, probe, limit)
            for name in names
        }

    def inside(self, found: Mapping[str, Found], query: Query) -> frozenset[int]:
        """Passages of a round within the soft window that may go ahead for it.

        What is only alike never goes before what holds the name that was asked for.
        """
        told = [
            answer
            for name, answer in found.items()
            if not (query.literals and self._has_vectors(name))
        ]
        return frozenset(hit.passage_id for answer in told for hit in answer.hits)

    def weights(self, lists: Mapping[str, Sequence[Hit]], asked: Asked) -> Mapping[str, float]:
        """Shares in the fusion: each channel's own, or the embedder's."""
        return {name: self._weight(name, asked, hits) for name, hits in lists.items()}

    def tell_failures(self, told: Callable[[str, BaseException], None]) -> None:
        """Tell of indexes of vectors that failed since the last time. On the loop."""
        while self._failures:
            told(*self._failures.popleft())

    def _has_vectors(self, name: str) -> bool:
        return isinstance(self._by_name[name].record, VectorIndexProvider)

    def _weight(self, name: str, asked: Asked, hits: Sequence[Hit]) -> float:
        record = self._by_name[name].record
        return asked.weight(hits) if isinstance(record, VectorIndexProvider) else record.weight

    def _similar(
        self, connection: Connection, name: str, probe: Probe, limit: int, asked: Asked
    ) -> Found:
        """What an index of vectors finds; one that fails costs no more than its own answer."""
        index = asked.indexes.get(name) or self._by_name[name].index
        found = contained(lambda: index.search(connection, probe, limit))
        if not isinstance(found, Failure):
            return asked.relevant(found.value)
        if isinstance(found.error, CloxyError | SQLAlchemyError):
            raise found.error
        self._failures.append((name, found.error))
        return Found(notes=(f"searched by keyword only: the index {name} failed; see the log",))


def pool(query: Query) -> int:
    """How many passages a channel is asked for."""
    return max(POOL, POOL_PER_RESULT * query.top_k)


def joined(rounds: Sequence[Mapping[str, Found]]) -> Mapping[str, Sequence[Hit]]:
    """One list a channel, best first; the rounds share a scale, since the words are the same."""
    lists: dict[str, dict[int, Hit]] = {}
    for found in rounds:
        for name, answer in found.items():
            lists.setdefault(name, {}).update({hit.passage_id: hit for hit in answer.hits})
    return {
        name: sorted(hits.values(), key=lambda hit: (-hit.score, hit.passage_id))
        for name, hits in lists.items()
    }
