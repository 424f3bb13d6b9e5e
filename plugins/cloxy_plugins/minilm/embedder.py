"""Texts to vectors with a model that is loaded when it is first needed."""

from collections.abc import Callable, Sequence

import numpy as np

from cloxy_hookspecs.types.vectors import EmbedderInfo, EmbeddingSpace, Float32Matrix
from cloxy_plugins.minilm.model import SentenceModel
from cloxy_plugins.minilm.names import BATCH, CHARACTERS, FLOOR, SURE, WEIGHT


class MiniLmEmbedder:
    """An `Embedder`; `info` is known at once, the model is loaded by the first text."""

    def __init__(self, space: EmbeddingSpace, load: Callable[[], SentenceModel]) -> None:
        """Load nothing.

        Args:
            space: what its vectors can be compared with.
            load: checks and loads the model; called again after `close`, or when it has failed.
        """
        self._info = EmbedderInfo(
            space=space,
            weight=WEIGHT,
            floor=FLOOR,
            batch=BATCH,
            characters=CHARACTERS,
            sure=SURE,
        )
        self._load = load
        self._model: SentenceModel | None = None

    @property
    def info(self) -> EmbedderInfo:
        """What it is; known without loading the model."""
        return self._info

    def embed_passages(self, texts: Sequence[str]) -> Float32Matrix:
        """Vectors of passages, shape (n, d); a vector depends on its own text alone.

        Raises:
            ModelMissingError: a file of the model is missing or is not what it should be.
            ModelError: the model cannot be run.
        """
        return self._embed(self._info.space.passage_prefix, texts)

    def embed_queries(self, texts: Sequence[str]) -> Float32Matrix:
        """Vectors of questions; as `embed_passages`."""
        return self._embed(self._info.space.query_prefix, texts)

    def close(self) -> None:
        """Let go of the model and its memory; may be called again."""
        self._model = None

    def _embed(self, prefix: str, texts: Sequence[str]) -> Float32Matrix:
        vectors = np.empty((len(texts), self._info.space.dim), dtype=np.float32)
        if not texts:
            return vectors
        # Kept here, so that a `close` meanwhile takes nothing away from this call.
        model = self._model = self._model or self._load()
        for row, text in enumerate(texts):
            vectors[row] = model.vector(prefix + text)
        return vectors
