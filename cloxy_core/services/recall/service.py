"""The stages of a recall, in order."""

from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from sqlalchemy import Connection
from sqlalchemy.exc import OperationalError, SQLAlchemyError

from cloxy_core.kernel.containment import Failure, contained
from cloxy_core.services.indexing import Channel
from cloxy_core.services.recall import candidates, folding
from cloxy_core.services.recall.browsing import TIME, newest_within
from cloxy_core.services.recall.counting import Counts
from cloxy_core.services.recall.filtering import narrowed, resolved
from cloxy_core.services.recall.meaning import Asked, Asking, is_vector, similarities
from cloxy_core.services.recall.ranking import ActiveSignal, Ranked, rank
from cloxy_core.services.recall.reranking import Reranking
from cloxy_core.store.engine import Store
from cloxy_core.store.failures import is_undecodable
from cloxy_core.store.reads import lenient_text
from cloxy_hookspecs import (
    CloxyError,
    Expander,
    Filters,
    Found,
    Fuser,
    Hit,
    InputError,
    ModelMissingError,
    Probe,
    Query,
    Recall,
    VectorIndexProvider,
)

T = TypeVar("T")

POOL = 150
"""Passages asked of each channel."""

POOL_PER_RESULT = 4
KEYWORD = "keyword"
DENSE = "dense"


@dataclass(frozen=True, slots=True)
class _Finding:
    """What was found, before it is folded into results.

    Attributes:
        filters: hard conditions, resolved.
        ranked: passages, best first.
        ranks: 1-based place in the keyword channel, by passage id.
        similar: cosine with the question, by passage id.
        channels: channels that found something.
        notes: for the asker.
    """

    filters: Filters
    ranked: Sequence[Ranked]
    ranks: Mapping[int, int] = field(default_factory=dict)
    similar: Mapping[int, float] = field(default_factory=dict)
    channels: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class RecallService:
    """Answers questions from memory: the port `Recaller`."""

    def __init__(
        self,
        store: Store,
        expanders: Sequence[Expander],
        channels: Sequence[Channel],
        fuser: Fuser,
        signals: Sequence[ActiveSignal],
        asking: Asking,
        reranking: Reranking,
    ) -> None:
        """Make the service.

        Args:
            store: the database.
            expanders: in order.
            channels: everything that can be searched.
            fuser: makes one list of theirs.
            signals: in order.
            asking: turns questions into vectors.
            reranking: reads the best again.
        """
        self._store = store
        self._expanders = tuple(expanders)
        self._channels = {channel.record.channel: channel for channel in channels}
        self._fuser = fuser
        self._signals = tuple(signals)
        self._asking = asking
        self._reranking = reranking
        self._counts = Counts()
        # Of indexes of vectors: they happen on reader threads, and are told of on the loop.
        self._failures: deque[tuple[str, BaseException]] = deque()

    async def recall(self, query: Query) -> Recall:
        """Find what answers the question; an empty answer means that nothing is relevant.

        Raises:
            InputError: there is nothing to search for.
            ModelMissingError: `mode` is dense and there is nothing to search by meaning.
        """
        _require_words(query.text)
        query = replace(query, search_text=query.search_text or query.text)
        for expander in self._expanders:
            query = await expander.expand(query)
        names = self._chosen(query)
        # What is only listed by time needs no vector.
        listed = query.browse and narrowed(query.filters, query.window) is not None
        wanted = () if listed else tuple(name for name in names if self._has_vectors(name))
        asked = await self._asking.ask(query, wanted)

        def find(connection: Connection) -> _Finding:
            return self._found(connection, query, names, asked)

        def fold(connection: Connection, finding: _Finding) -> Recall:
            return self._folded(connection, query, finding)

        if not self._reranking.wanted(query):
            return await self._read(lambda connection: fold(connection, find(connection)))
        finding = await self._read(find)
        again, note = await self._reranking.reordered(query, finding.ranked)
        notes = finding.notes if note is None else (*finding.notes, note)
        finding = replace(finding, ranked=again, notes=notes)
        return await self._read(lambda connection: fold(connection, _as_now(connection, finding)))

    def _chosen(self, query: Query) -> tuple[str, ...]:
        """Channels that the mode lets answer.

        Raises:
            ModelMissingError: only a channel that is not there would do.
        """
        if query.mode == "keyword":
            return tuple(name for name in self._channels if name == KEYWORD)
        if query.mode == "hybrid":
            return tuple(self._channels)
        if DENSE not in self._channels:
            raise ModelMissingError(
                "no index of vectors is there, so there is nothing to search by meaning",
                hint='enable the plugin exact_index, or use mode "hybrid" or "keyword"',
            )
        return (DENSE,)

    def _has_vectors(self, name: str) -> bool:
        return is_vector(self._channels[name].record)

    async def _read(self, work: Callable[[Connection], T]) -> T:
        """One snapshot of the store, even where a text in it is damaged."""

        def despite_damage(connection: Connection) -> T:
            try:
                return work(connection)
            except OperationalError as error:
                if not is_undecodable(error):
                    raise
            # Made readable, a damaged text fails its hash, and the sound ones are served.
            with lenient_text(connection):
                return work(connection)

        try:
            return await self._store.read(despite_damage)
        finally:
            while self._failures:
                self._asking.index_failed(*self._failures.popleft())

    def _found(
        self, connection: Connection, query: Query, names: Sequence[str], asked: Asked
    ) -> _Finding:
        """Search and rank."""
        filters = resolved(query.filters)
        inner = narrowed(filters, query.window)
        if query.browse and inner is not None:
            return self._browsed(connection, query, filters, inner)
        passes = [self._search(connection, query, filters, names, asked)]
        if inner is not None:
            passes.insert(0, self._search(connection, query, inner, names, asked))
        lists = joined(passes)
        weights = {name: self._weight(name, asked, hits) for name, hits in lists.items()}
        scored = self._fuser.fuse(lists, weights)
        known = candidates.load(connection, [item.passage_id for item in scored])
        inside = self._inside(passes[0], query) if inner is not None else frozenset()
        ranked = rank(scored, known, inside, query, self._fuser, self._signals)
        said = [note for found in passes for answer in found.values() for note in answer.notes]
        if query.window_firm and inner is not None and ranked and not inside:
            said.append("nothing of that time answers; these are from other times")
        return _Finding(
            filters,
            ranked,
            ranks={hit.passage_id: place for place, hit in enumerate(lists.get(KEYWORD, ()), 1)},
            similar=similarities(lists, [name for name in names if self._has_vectors(name)]),
            channels=tuple(name for name, found in lists.items() if found),
            notes=(*asked.notes, *said),
        )

    def _browsed(
        self, connection: Connection, query: Query, filters: Filters, inner: Filters
    ) -> _Finding:
        """What was said in the window, newest first."""
        limit = max(POOL, POOL_PER_RESULT * query.top_k)
        scored = newest_within(connection, self._store, inner, limit)
        known = candidates.load(connection, [item.passage_id for item in scored])
        ranked = rank(scored, known, frozenset(), query, self._fuser, ())
        if not scored:
            return _Finding(filters, ranked, notes=("nothing was said in that time",))
        return _Finding(filters, ranked, channels=(TIME,))

    def _folded(self, connection: Connection, query: Query, finding: _Finding) -> Recall:
        """The answer: ranked passages as results, without those that are damaged on disk."""
        folded = folding.fold(
            connection,
            self._store,
            finding.ranked,
            folding.Places(finding.ranks, finding.similar),
            query,
            finding.filters,
        )
        notes = list(finding.notes)
        if folded.damaged:
            self._store.damaged_texts.add(folded.damaged)
            notes.append(_left_out(folded.damaged))
        return Recall(
            query=query,
            hits=folded.hits,
            searched=self._counts.within(connection, self._store, finding.filters),
            channels=finding.channels,
            notes=tuple(dict.fromkeys(notes)),
        )

    def _weight(self, name: str, asked: Asked, hits: Sequence[Hit]) -> float:
        """A channel's share in the fusion: its own, or the embedder's."""
        record = self._channels[name].record
        return asked.weight(hits) if isinstance(record, VectorIndexProvider) else record.weight

    def _search(
        self,
        connection: Connection,
        query: Query,
        filters: Filters,
        names: Sequence[str],
        asked: Asked,
    ) -> Mapping[str, Found]:
        """One round over the channels."""
        probe = Probe(query.search_text, query.literals, filters, asked.vector)
        limit = max(POOL, POOL_PER_RESULT * query.top_k)
        return {
            name: self._similar(connection, name, probe, limit, asked)
            if self._has_vectors(name)
            else self._channels[name].index.search(connection, probe, limit)
            for name in names
        }

    def _similar(
        self, connection: Connection, name: str, probe: Probe, limit: int, asked: Asked
    ) -> Found:
        """What an index of vectors finds; one that fails costs no more than its own answer."""
        index = self._channels[name].index
        found = contained(lambda: index.search(connection, probe, limit))
        if not isinstance(found, Failure):
            return asked.relevant(found.value)
        if isinstance(found.error, CloxyError | SQLAlchemyError):
            raise found.error
        self._failures.append((name, found.error))
        return Found(notes=(f"searched by keyword only: the index {name} failed; see the log",))

    def _inside(self, found: Mapping[str, Found], query: Query) -> frozenset[int]:
        """Passages that were found within the soft window, and may go ahead for it.

        What is only alike never goes before what holds the name that was asked for.
        """
        if not query.literals:
            return found_in(found)
        return found_in({n: each for n, each in found.items() if not self._has_vectors(n)})


def _as_now(connection: Connection, finding: _Finding) -> _Finding:
    """The finding without what was forgotten or edited while a model read, its places of now."""
    known = candidates.load(connection, [item.candidate.id for item in finding.ranked])
    ranked = [
        replace(item, candidate=now)
        for item in finding.ranked
        if (now := known.get(item.candidate.id)) and now.text_hash == item.candidate.text_hash
    ]
    return replace(finding, ranked=ranked)


def _left_out(damaged: Collection[int]) -> str:
    count = "a memory was" if len(damaged) == 1 else f"{len(damaged)} memories were"
    return f"{count} left out because the text on disk is damaged; see `cloxy status`"


def _require_words(text: str) -> None:
    """Refuse a question without a letter or digit.

    Raises:
        InputError: there is nothing to search for.
    """
    if not any(char.isalnum() for char in text):
        raise InputError("nothing to search for", hint="ask with at least one word, number or name")


def joined(passes: Sequence[Mapping[str, Found]]) -> Mapping[str, Sequence[Hit]]:
    """One list a channel, best first; the rounds share a scale, since the words are the same."""
    lists: dict[str, dict[int, Hit]] = {}
    for found in passes:
        for name, answer in found.items():
            lists.setdefault(name, {}).update({hit.passage_id: hit for hit in answer.hits})
    return {
        name: sorted(hits.values(), key=lambda hit: (-hit.score, hit.passage_id))
        for name, hits in lists.items()
    }


def found_in(found: Mapping[str, Found]) -> frozenset[int]:
    """Passages that any channel found."""
    return frozenset(hit.passage_id for answer in found.values() for hit in answer.hits)
