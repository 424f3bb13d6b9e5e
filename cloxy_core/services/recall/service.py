"""The stages of a recall, in order."""

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TypeVar

from sqlalchemy import Connection
from sqlalchemy.exc import OperationalError

from cloxy_core.runtime.wording import counted
from cloxy_core.services.embedding.spaces import SpaceMovedError, require_space
from cloxy_core.services.indexing import Channel
from cloxy_core.services.recall import candidates, folding
from cloxy_core.services.recall.browsing import TIME, newest_within
from cloxy_core.services.recall.channels import KEYWORD, Channels, joined, pool
from cloxy_core.services.recall.counting import Counts
from cloxy_core.services.recall.filtering import narrowed, resolved
from cloxy_core.services.recall.meaning import Asked, Asking, similarities
from cloxy_core.services.recall.ranking import ActiveSignal, Ranked, rank
from cloxy_core.services.recall.reranking import Reranking
from cloxy_core.store.engine import Store
from cloxy_core.store.failures import is_undecodable
from cloxy_core.store.reads import lenient_text
from cloxy_hookspecs import Expander, Filters, Fuser, InputError, Query, Recall

T = TypeVar("T")

_ASKED_AGAIN = 100
_FOLLOW_SECONDS = 0.02


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
        self._channels = Channels(channels)
        self._fuser = fuser
        self._signals = tuple(signals)
        self._asking = asking
        self._reranking = reranking
        self._counts = Counts()

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
        names = self._channels.chosen(query)
        # What is only listed by time needs no vector.
        listed = query.browse and narrowed(query.filters, query.window) is not None
        vectors = () if listed else self._channels.of_vectors(names)
        for _ in range(_ASKED_AGAIN):
            asked = self._channels.holding(await self._asking.ask(query, vectors), vectors)
            with suppress(SpaceMovedError):
                return await self._answered(query, names, asked)
            # The commit is there, and this process follows in a moment.
            await asyncio.sleep(_FOLLOW_SECONDS)
        return await self._answered(query, names, self._asking.without(query))

    async def _answered(self, query: Query, names: Sequence[str], asked: Asked) -> Recall:
        """The answer to a question that has its vector.

        Raises:
            SpaceMovedError: the vector is of a space that is not the active one any more.
        """

        def find(connection: Connection) -> _Finding:
            require_space(connection, asked.space)
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
            self._channels.tell_failures(self._asking.index_failed)

    def _found(
        self, connection: Connection, query: Query, names: Sequence[str], asked: Asked
    ) -> _Finding:
        """Search and rank."""
        filters = resolved(query.filters)
        inner = narrowed(filters, query.window)
        if query.browse and inner is not None:
            return self._browsed(connection, query, filters, inner)
        rounds = [self._channels.search(connection, query, filters, names, asked)]
        inside: frozenset[int] = frozenset()
        if inner is not None:
            rounds.insert(0, self._channels.search(connection, query, inner, names, asked))
            inside = self._channels.inside(rounds[0], query)
        lists = joined(rounds)
        scored = self._fuser.fuse(lists, self._channels.weights(lists, asked))
        known = candidates.load(connection, [item.passage_id for item in scored])
        ranked = rank(scored, known, inside, query, self._fuser, self._signals)
        said = [note for found in rounds for answer in found.values() for note in answer.notes]
        if query.window_firm and inner is not None and ranked and not inside:
            said.append("nothing of that time answers; these are from other times")
        return _Finding(
            filters,
            ranked,
            ranks={hit.passage_id: place for place, hit in enumerate(lists.get(KEYWORD, ()), 1)},
            similar=similarities(lists, self._channels.of_vectors(names)),
            channels=tuple(name for name, found in lists.items() if found),
            notes=(*asked.notes, *said),
        )

    def _browsed(
        self, connection: Connection, query: Query, filters: Filters, inner: Filters
    ) -> _Finding:
        """What was said in the window, newest first."""
        scored = newest_within(connection, self._store, inner, pool(query))
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
    count = counted(len(damaged), "memory was", "memories were")
    return f"{count} left out because the text on disk is damaged; see `cloxy status`"


def _require_words(text: str) -> None:
    """Refuse a question without a letter or digit.

    Raises:
        InputError: there is nothing to search for.
    """
    if not any(char.isalnum() for char in text):
        raise InputError("nothing to search for", hint="ask with at least one word, number or name")
