"""Embedding models as the library runs them."""

from pathlib import Path
from typing import Any

from cloxy_hookspecs import EmbeddingSpace
from cloxy_plugins.fastembed.catalogue import LONGEST_WINDOW, EmbeddingModel
from cloxy_plugins.fastembed.folders import ModelFolder
from cloxy_plugins.fastembed.library import ONE_THREAD, fetched, library, limit_window, loading

_POOLED = "DISABLED"


def load_known(name: str, model: EmbeddingModel, cache: Path) -> Any:  # noqa: ANN401 - the library's
    """Load a model of the catalogue, from the cache or the hub.

    Raises:
        MissingExtraError: the library cannot be used.
        ModelMissingError: it is not there and cannot be downloaded, or is damaged.
    """
    folder = fetched(name, model.files, cache)
    with loading(name, folder):
        if model.averaged:
            _register(name, "MEAN", model.dim, model.files.file)
        return _load(name, folder, LONGEST_WINDOW)


def load_folder(folder: ModelFolder, space: EmbeddingSpace, pooling: str) -> Any:  # noqa: ANN401 - the library's
    """Load a model from its folder.

    Raises:
        MissingExtraError: the library cannot be used.
        ModelMissingError: a file is damaged.
    """
    library()
    with loading(folder.name, folder.path):
        name = _register(f"{space.revision}/{pooling}", pooling, space.dim, folder.file)
        model = _load(name, folder.path, folder.window)
        (first, *_others) = model.model.model.get_outputs()
        if len(first.shape) != len(("text", "number")):
            return model
        # What the network gives is a vector a text already, not one a token.
        name = _register(f"{space.revision}/{_POOLED}", _POOLED, space.dim, folder.file)
        return _load(name, folder.path, folder.window)


def _register(name: str, pooling: str, dim: int, file: str) -> str:
    """Tell the library of a model that it does not know, once; the name it has there."""
    embedding = library().TextEmbedding
    if name.lower() in {each["model"].lower() for each in embedding.list_supported_models()}:
        return name
    description = library("fastembed.common.model_description")
    embedding.add_custom_model(
        name,
        pooling=description.PoolingType[pooling],
        normalization=True,
        sources=description.ModelSource(hf=name),
        dim=dim,
        model_file=file,
    )
    return name


def _load(name: str, folder: Path, window: int) -> Any:  # noqa: ANN401 - the library's
    # The library makes its cache folder even when it needs none: this one is there already.
    model = library().TextEmbedding(
        name, cache_dir=str(folder), specific_model_path=str(folder), **ONE_THREAD
    )
    limit_window(model.model.tokenizer, window)
    return model
