"""Embedders, vector indexes and rerankers: models, and what they make."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from cloxy_hookspecs.context import HostContext
from cloxy_hookspecs.providers.base import Provider
from cloxy_hookspecs.providers.recall import Index
from cloxy_hookspecs.types.settings import Setting
from cloxy_hookspecs.types.vectors import (
    EmbedderInfo,
    Float32Matrix,
    Float32Vector,
    VectorChange,
    VectorRow,
)

if TYPE_CHECKING:
    from collections.abc import Collection


def _parse_model(text: str) -> str:
    if not text.strip().isprintable():
        raise ValueError("the name of a model or the path of a folder, on one line")
    return text.strip()


EMBED_MODEL: Setting[str] = Setting(
    name="embed.model",
    env="CLOXY_EMBED_MODEL",
    default="",
    parse=_parse_model,
    help="Model that embeds: a name of a catalogue, or a folder; by default the built-in one.",
)
EMBED_QUERY_PREFIX: Setting[str | None] = Setting(
    name="embed.query_prefix",
    env="CLOXY_EMBED_QUERY_PREFIX",
    default=None,
    parse=str,
    help="Put before a question; by default what the model wants. The empty text is a prefix, too.",
    empty_is_value=True,
)
EMBED_PASSAGE_PREFIX: Setting[str | None] = Setting(
    name="embed.passage_prefix",
    env="CLOXY_EMBED_PASSAGE_PREFIX",
    default=None,
    parse=str,
    help="Put before a passage; by default what the model wants. The empty text is a prefix, too.",
    empty_is_value=True,
)
"""The three are declared by the core; embedders read them."""


def _always(_context: HostContext) -> bool:
    return True


class Embedder(Protocol):
    """Turns text into vectors. Its methods run on the `model` thread, one call at a time.

    The first call of one that is to take over from another runs on a thread of its own, since it
    may download the model. A method `close`, if there is one, gives the model's memory back; it may
    be called twice.
    """

    @property
    def info(self) -> EmbedderInfo:
        """What it is; known without loading the model."""
        ...

    def embed_passages(self, texts: Sequence[str]) -> Float32Matrix:
        """Vectors of passages, in order; shape (0, d) for none. Loads the model at first use.

        A vector depends on its own text alone. Prefixes are put before the texts here.

        Raises:
            ModelMissingError: a file of the model is missing or is not what it should be.
            ModelError: the model cannot be run.
        """
        ...

    def embed_queries(self, texts: Sequence[str]) -> Float32Matrix:
        """Vectors of questions; as `embed_passages`."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbedderProvider(Provider):
    """A way to embed.

    Attributes:
        models: names of the models that it can run, its default first.
        folders: whether it also runs a model in a folder that is named by its path.
        create: makes the embedder of the model that `embed.model` names, or of its default. Loads
            nothing. Called again for another model, which is used beside the first for a while.
        at_hand: whether that model can be loaded without a download; may take a second.
    """

    models: "Collection[str]"
    folders: bool = False
    at_hand: Callable[[HostContext], bool] = _always
    create: Callable[[HostContext], Embedder]


class VectorIndex(Index, Protocol):
    """An index of vectors, fed in order from the outbox after commit.

    `Probe.vector` is what `search` looks for; with None it finds nothing. A score is a cosine. A
    passage counts with its neighbours in the session: what stands beside an answer goes before
    its like that stands alone. The stored vectors are in the table `embeddings`.
    """

    def apply(self, changes: Sequence[VectorChange], sequence: int) -> None:
        """Apply changes up to outbox number `sequence`; repeatable."""
        ...

    def checkpoint(self) -> int:
        """Last outbox number that was applied; 0 when the index has to be rebuilt.

        One that lives in memory has to be, after a start.
        """
        ...

    def rebuild(self, rows: Iterable[VectorRow], sequence: int) -> None:
        """Start over from all rows, which stand for the outbox up to `sequence`."""
        ...

    def ids(self) -> "Collection[int]":
        """Passages in the index, for a comparison with the stored vectors."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorIndexProvider(Provider):
    """An index of vectors; its share in the fusion is the embedder's.

    Attributes:
        channel: what it contributes to a recall, usually `dense`.
        create: makes the index, empty. Called again for the vectors of another model: the new one
            is filled while the first still answers, and takes its place.
    """

    channel: str
    create: Callable[[HostContext], VectorIndex]


class Reranker(Protocol):
    """Reads a question and a passage together, on the thread `reranker`, one call at a time."""

    def scores(self, query: str, passages: Sequence[str]) -> Float32Vector:
        """A score for each passage, higher is better, comparable within one question only.

        Raises:
            ModelMissingError: the model is not there.
            ModelError: the model cannot be run.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RerankerProvider(Provider):
    """A reranker."""

    create: Callable[[HostContext], Reranker]
