"""Vectors for texts of clients, made with the model of the memory."""

from collections.abc import Sequence

import numpy as np

from cloxy_core.services.embedding.service import EmbeddingService
from cloxy_hookspecs import Float32Matrix, ModelMissingError

MISSING = "no text can be turned into a vector"


class TextVectors:
    """Implements `TextEmbedder`."""

    def __init__(self, embedding: EmbeddingService) -> None:
        """Use the model of an embedding."""
        self._embedding = embedding

    @property
    def model(self) -> str:
        """Name of the model; empty without one."""
        return self._embedding.model

    async def embed(self, texts: Sequence[str]) -> Float32Matrix:
        """Vectors of shape (n, d), unit length, in the order of the texts; as passages.

        Raises:
            ModelMissingError: there is no model, or it is not loaded yet.
            ModelError: it failed, or cannot take one of the texts.
        """
        made = await self._embedding.passage_vectors(texts)
        if made is None:
            raise ModelMissingError(
                f"{MISSING}: {self._embedding.trouble() or 'there is no embedder'}",
                hint="see embed.provider, and `cloxy status`",
            )
        rows = [np.frombuffer(vector, dtype="<f4") for vector in made]
        dim = self._embedding.info.space.dim if self._embedding.info is not None else 0
        matrix: Float32Matrix = np.array(rows, dtype=np.float32).reshape(len(rows), dim)
        return matrix
