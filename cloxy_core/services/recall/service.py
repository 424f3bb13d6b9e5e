"""The stages of a recall, in order."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from sqlalchemy import Connection
from sqlalchemy.exc import OperationalError

from cloxy_core.services.indexing import Channel
from cloxy_core.services.recall import candidates, counting, folding
from cloxy_core.services.recall.browsing import TIME, newest_within
from cloxy_core.services.recall.filtering import narrowed, resolved
from cloxy_core.services.recall.ranking import ActiveSignal, Ranked, rank
from cloxy_core.store.engine import Store
from cloxy_core.store.failures import is_undecodable
from cloxy_core.store.reads import lenient_text
from cloxy_hookspecs import (
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
)

POOL = 150
"""Passages asked of each channel."""

POOL_PER_RESULT = 4
KEYWORD = "keyword"
DENSE = "dense"


class RecallService:
    """Answers questions from memory: the port `Recaller`."""

    def __init__(
        self,
        store: Store,
        expanders: Sequence[Expander],
        channels: Sequence[Channel],
        fuser: Fuser,
        signals: Sequence[ActiveSignal],
    ) -> None:
        """Make the service.

        Args:
            store: the database.
            expanders: in order.
            channels: everything that can be searched.
            fuser: makes one list of theirs.
            signals: in order.
        """
        self._store = store
        self._expanders = tuple(expanders)
        self._channels = {channel.record.channel: channel for channel in channels}
        self._fuser = fuser
        self._signals = tuple(signals)

    async def recall(self, query: Query) -> Recall:
        """Find what answers the question; an empty answer means that nothing is relevant.

        Raises:
            InputError: there is nothing to search for.
            ModelMissingError: `mode` is dense and no dense channel is there.
        """
        _require_words(query.text)
        names = self._chosen(query)
        query = replace(query, search_text=query.search_text or query.text)
        for expander in self._expanders:
            query = await expander.expand(query)
        return await self._store.read(
            lambda connection: self._answer_despite_damage(connection, query, names)
        )

    def _chosen(self, query: Query) -> tuple[str, ...]:
        """Channels that the mode lets answer.

        Raises:
            ModelMissingError: only a channel that is not there would do.
        """
        if query.mode == "dense":
            if DENSE not in self._channels:
                raise ModelMissingError(
                    "no embedding model is installed, so there is nothing to search by meaning",
                    hint='use mode "hybrid" or "keyword"',
                )
            return (DENSE,)
        if query.mode == "keyword":
            return tuple(name for name in self._channels if name == KEYWORD)
        return tuple(self._channels)

    def _answer_despite_damage(
        self, connection: Connection, query: Query, names: Sequence[str]
    ) -> Recall:
        try:
            return self._answer(connection, query, names)
        except OperationalError as error:
            if not is_undecodable(error):
                raise
        # Made readable, a damaged text fails its hash, and the sound ones are served.
        with lenient_text(connection):
            return self._answer(connection, query, names)

    def _answer(self, connection: Connection, query: Query, names: Sequence[str]) -> Recall:
        """Search, rank and fold within one snapshot of the store."""
        filters = resolved(query.filters)
        inner = narrowed(filters, query.window)
        if query.browse and inner is not None:
            return self._browse(connection, query, filters, inner)
        passes = [self._search(connection, query, filters, names)]
        if inner is not None:
            passes.insert(0, self._search(connection, query, inner, names))
        lists = joined(passes)
        weights = {name: self._channels[name].record.weight for name in names}
        scored = self._fuser.fuse(lists, weights)
        known = candidates.load(connection, [item.passage_id for item in scored])
        inside = found_in(passes[0]) if inner is not None else frozenset()
        ranked = rank(scored, known, inside, query, self._fuser, self._signals)
        ranks = {hit.passage_id: place for place, hit in enumerate(lists.get(KEYWORD, ()), 1)}
        said = [note for found in passes for answer in found.values() for note in answer.notes]
        channels = tuple(name for name, found in lists.items() if found)
        answer = self._folded(connection, query, filters, ranked, ranks, channels, said)
        if query.window_firm and inner is not None and answer.hits and not inside:
            elsewhere = "nothing of that time answers; these are from other times"
            return replace(answer, notes=(*answer.notes, elsewhere))
        return answer

    def _browse(
        self, connection: Connection, query: Query, filters: Filters, inner: Filters
    ) -> Recall:
        """What was said in the window, newest first."""
        limit = max(POOL, POOL_PER_RESULT * query.top_k)
        scored = newest_within(connection, self._store, inner, limit)
        known = candidates.load(connection, [item.passage_id for item in scored])
        ranked = rank(scored, known, frozenset(), query, self._fuser, ())
        said = [] if scored else ["nothing was said in that time"]
        channels = (TIME,) if scored else ()
        return self._folded(connection, query, filters, ranked, {}, channels, said)

    def _folded(
        self,
        connection: Connection,
        query: Query,
        filters: Filters,
        ranked: Sequence[Ranked],
        ranks: Mapping[int, int],
        channels: tuple[str, ...],
        said: Sequence[str],
    ) -> Recall:
        """The answer: ranked passages as results, without those that are damaged on disk."""
        folded = folding.fold(connection, self._store, ranked, ranks, query, filters)
        notes = list(said)
        if folded.damaged:
            self._store.damaged_texts.add(folded.damaged)
            notes.append(_left_out(folded.damaged))
        return Recall(
            query=query,
            hits=folded.hits,
            searched=counting.memories_within(connection, self._store, filters),
            channels=channels,
            notes=tuple(dict.fromkeys(notes)),
        )

    def _search(
        self, connection: Connection, query: Query, filters: Filters, names: Sequence[str]
    ) -> Mapping[str, Found]:
        """One round over the channels."""
        probe = Probe(query.search_text, query.literals, filters)
        limit = max(POOL, POOL_PER_RESULT * query.top_k)
        return {name: self._channels[name].index.search(connection, probe, limit) for name in names}


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
