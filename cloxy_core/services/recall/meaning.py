"""What a recall needs of the model that embeds."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from cloxy_hookspecs import (
    EmbedderInfo,
    Float32Vector,
    Found,
    Hit,
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
    """

    vector: Float32Vector | None = None
    info: EmbedderInfo | None = None
    notes: tuple[str, ...] = ()

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


@dataclass(frozen=True, slots=True)
class Asking:
    """Asks the model, and says when it cannot answer.

    Attributes:
        meaning: the model.
        index_trouble: why the index of a channel cannot answer now, in words; None when it can.
        index_failed: is told that the index of a channel failed while it searched.
    """

    meaning: Meaning
    index_trouble: Callable[[str], str | None]
    index_failed: Callable[[str, BaseException], None]

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
        vector = await self.meaning.query_vector(query.search_text)
        if vector is None:
            return self._without(query, self.meaning.trouble() or BUSY)
        return Asked(vector, info)

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
