"""What a recall needs of the model that embeds."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from cloxy_hookspecs import (
    EmbedderInfo,
    Float32Vector,
    Found,
    Hit,
    Index,
    ModelMissingError,
    Query,
)

NO_MODEL = "there is no model"
BUSY = "the model is too busy to answer"
HINT = 'use mode "hybrid" or "keyword"; `cloxy status` says how the model is'


class Meaning(Protocol):
    """Turns a question into a vector."""

    @property
    def info(self) -> EmbedderInfo | None:
        """The embedder; None when there is none."""
        ...

    async def query_vector(self, text: str) -> Float32Vector | None:
        """The vector of a question, shape (d,); None while there is no loaded model."""
        ...

    @property
    def wanted(self) -> bool:
        """Whether anybody expects questions to be embedded; not when it is switched off."""
        ...

    def trouble(self) -> str | None:
        """Why questions cannot be embedded now, in words; None when they can."""
        ...


@dataclass(frozen=True, slots=True)
class Asked:
    """The question as the vector indexes get it.

    Attributes:
        vector: its vector, shape (d,); None when only words can be searched for.
        info: what made it.
        notes: why there is no vector, for the asker.
        space: the space of the vector, by its id in the store; None where that is not known.
        indexes: index by channel, as they were when the question was embedded; the channel's own
            for one that is not named.
    """

    vector: Float32Vector | None = None
    info: EmbedderInfo | None = None
    notes: tuple[str, ...] = ()
    space: int | None = None
    indexes: Mapping[str, Index] = field(default_factory=dict[str, Index])

    def relevant(self, found: Found) -> Found:
        """Only what is similar enough to have to do with the question."""
        if self.info is None:
            return found
        floor = self.info.floor
        return Found([hit for hit in found.hits if hit.score >= floor], found.notes)

    def weight(self, hits: Sequence[Hit]) -> float:
        """Share of meaning in the fusion; small when even the best hit is hardly similar."""
        if self.info is None or not hits:
            return 0.0
        floor, sure = self.info.floor, self.info.sure
        if sure is None or sure <= floor:
            return self.info.weight
        return self.info.weight * min(1.0, max(0.0, (hits[0].score - floor) / (sure - floor)))


def _unknown() -> int | None:
    return None


@dataclass(frozen=True, slots=True)
class Asking:
    """Asks the model, and says when it cannot answer.

    Attributes:
        meaning: the model.
        index_trouble: why the index of a channel cannot answer now, in words; None when it can.
        index_failed: is told that the index of a channel failed while it searched.
        space: the space that questions are embedded for now; None where that is not known.
    """

    meaning: Meaning
    index_trouble: Callable[[str], str | None]
    index_failed: Callable[[str, BaseException], None]
    space: Callable[[], int | None] = _unknown

    async def ask(self, query: Query, channels: Sequence[str]) -> Asked:
        """Embed the question for these channels of vectors.

        Args:
            query: its search text is embedded.
            channels: channels of vectors that are to answer; none needs no vector.

        Raises:
            ModelMissingError: `mode` is dense and there is no vector to search by.
        """
        info = self.meaning.info
        if not channels:
            return Asked()
        if info is None:
            return self._without(query, self.meaning.trouble())
        troubles = (self.index_trouble(name) for name in channels)
        if (trouble := next(filter(None, troubles), None)) is not None:
            return self._without(query, trouble)
        while True:
            info, space = self.meaning.info, self.space()
            vector = await self.meaning.query_vector(query.search_text)
            if vector is None:
                return self._without(query, self.meaning.trouble() or BUSY)
            if space == self.space():
                return Asked(vector, info, space=space)
            # Another model took over meanwhile: the question is embedded for that one.

    def without(self, query: Query) -> Asked:
        """The question as it is asked when no space stays for long enough.

        Raises:
            ModelMissingError: `mode` is dense and there is no vector to search by.
        """
        return self._without(query, self.meaning.trouble() or BUSY)

    def _without(self, query: Query, reason: str | None) -> Asked:
        if query.mode == "dense":
            raise ModelMissingError(
                f"nothing can be searched by meaning: {reason or NO_MODEL}", hint=HINT
            )
        if not self.meaning.wanted:
            return Asked()
        return Asked(notes=(f"searched by keyword only: {reason or NO_MODEL}",))


def similarities(lists: Mapping[str, Sequence[Hit]], channels: Sequence[str]) -> dict[int, float]:
    """Cosines by passage id, of the channels of vectors."""
    return {hit.passage_id: hit.score for name in channels for hit in lists.get(name, ())}
