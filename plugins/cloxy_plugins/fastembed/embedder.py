"""Texts to vectors with a model that is loaded, and downloaded if need be, at first use."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from cloxy_hookspecs import (
    EMBED_MODEL,
    EMBED_PASSAGE_PREFIX,
    EMBED_QUERY_PREFIX,
    CloxyError,
    EmbedderInfo,
    EmbeddingSpace,
    Float32Matrix,
    HostContext,
    ModelError,
    SettingsView,
)
from cloxy_plugins.fastembed.catalogue import DEFAULT_EMBEDDER, EMBEDDERS, Traits, traits_of
from cloxy_plugins.fastembed.choosing import chosen
from cloxy_plugins.fastembed.folders import read_folder
from cloxy_plugins.fastembed.library import fetched, in_words, readable, require_library
from cloxy_plugins.fastembed.models import load_folder, load_known
from cloxy_plugins.fastembed.settings import cache_folder


class FastembedEmbedder:
    """An `Embedder`; `info` is known at once, the model is loaded by the first text."""

    def __init__(self, info: EmbedderInfo, load: Callable[[], Any]) -> None:
        """Load nothing.

        Args:
            info: what it is.
            load: gets the library's model; called again after `close`, or when it has failed.
        """
        self._info = info
        self._load = load
        self._model: Any = None

    @property
    def info(self) -> EmbedderInfo:
        """What it is; known without loading the model."""
        return self._info

    def embed_passages(self, texts: Sequence[str]) -> Float32Matrix:
        """Vectors of passages, shape (n, d); a vector depends on its own text alone.

        Raises:
            MissingExtraError: the library cannot be used.
            ModelMissingError: the model is not there and cannot be downloaded, or is damaged.
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
        space = self._info.space
        if not texts:
            return np.empty((0, space.dim), dtype=np.float32)
        model = self._model = self._model or self._load()
        # One text a run: a quantised model scales its numbers over the whole batch, so that a
        # vector would depend on its neighbours. It is no slower on one thread, and takes the
        # least memory. The library's own prefixes are in its other methods, not in `embed`.
        try:
            rows = list(model.embed([readable(prefix + text) for text in texts], batch_size=1))
        except Exception as error:  # the libraries below have a dozen kinds of errors
            raise ModelError(f"the model {space.model} failed: {in_words(error)}") from error
        return _unit(np.asarray(rows, dtype=np.float32), space)


def create_embedder(context: HostContext) -> FastembedEmbedder:
    """The embedder of the model that `embed.model` names; the library is not imported.

    Raises:
        MissingExtraError: the library is not installed.
        SettingError: there is no such model.
        ModelMissingError: the folder that is named holds no model.
        ModelError: the model in the folder wants what cannot be done.
    """
    require_library()
    model = chosen(context.settings[EMBED_MODEL] or DEFAULT_EMBEDDER, EMBEDDERS, EMBED_MODEL)
    if isinstance(model, Path):
        folder = read_folder(model)
        pooling = folder.pooling()
        space = _space(folder.name, folder.revision(), folder.dim(), context.settings)
        info = _info(space, traits_of(folder.name))
        return FastembedEmbedder(info, lambda: load_folder(folder, space, pooling))
    known = EMBEDDERS[model]
    # The files are not here yet; which ones they will be is all that can be said of them.
    revision = f"{known.files.source}/{known.files.file}"
    info = _info(_space(model, revision, known.dim, context.settings), known.traits)
    cache = cache_folder(context)
    return FastembedEmbedder(info, lambda: load_known(model, known, cache))


def is_at_hand(context: HostContext) -> bool:
    """Whether the model that `embed.model` names can be loaded without a download."""
    try:
        model = chosen(context.settings[EMBED_MODEL] or DEFAULT_EMBEDDER, EMBEDDERS, EMBED_MODEL)
        if isinstance(model, Path):
            read_folder(model)
        else:
            files, cache = EMBEDDERS[model].files, cache_folder(context)
            # Nothing is imported, and nobody asked, for a folder that is not even there.
            if not cache.is_dir():
                return False
            fetched(model, files, cache, forbidden="it is looked for, not fetched")
    except CloxyError:
        return False
    return True


def _space(name: str, revision: str, dim: int, settings: SettingsView) -> EmbeddingSpace:
    """The space of a model, with the prefixes of the settings, or else its own."""
    traits = traits_of(name)
    query, passage = settings[EMBED_QUERY_PREFIX], settings[EMBED_PASSAGE_PREFIX]
    return EmbeddingSpace(
        model=name,
        revision=revision,
        dim=dim,
        query_prefix=traits.query_prefix if query is None else query,
        passage_prefix=traits.passage_prefix if passage is None else passage,
    )


def _info(space: EmbeddingSpace, traits: Traits) -> EmbedderInfo:
    # A call should last a fraction of a second, for a question waits for its end.
    batch = 16 if space.dim <= 512 else 8 if space.dim <= 768 else 4
    return EmbedderInfo(
        space=space,
        weight=traits.weight,
        floor=traits.floor,
        batch=batch,
        characters=traits.characters,
    )


def _unit(rows: Float32Matrix, space: EmbeddingSpace) -> Float32Matrix:
    """Rows of unit length.

    Raises:
        ModelError: they have another shape, or one of them has no direction.
    """
    if rows.ndim != 2 or rows.shape[1] != space.dim:
        raise ModelError(
            f"the model {space.model} gives vectors of {rows.shape[-1]} numbers, not {space.dim}",
            hint="config.json in its folder says another length than the network has",
        )
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    if not (np.isfinite(lengths).all() and (lengths > 0).all()):
        raise ModelError(f"the model {space.model} gave a vector without a direction")
    unit: Float32Matrix = rows / lengths
    return unit
