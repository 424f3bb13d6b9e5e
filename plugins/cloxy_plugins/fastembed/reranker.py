"""Scores of passages from a model that reads them together with the question."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from cloxy_hookspecs import Float32Vector, HostContext, ModelError
from cloxy_plugins.fastembed.catalogue import DEFAULT_RERANKER, LONGEST_WINDOW, RERANKERS
from cloxy_plugins.fastembed.choosing import chosen
from cloxy_plugins.fastembed.folders import ModelFolder, read_folder
from cloxy_plugins.fastembed.library import (
    ONE_THREAD,
    fetched,
    in_words,
    library,
    limit_window,
    loading,
    readable,
    require_library,
)
from cloxy_plugins.fastembed.settings import RERANK, RERANK_MODEL, cache_folder

_CROSS_ENCODER = "fastembed.rerank.cross_encoder"
_SWITCH = (
    f"set {RERANK.name} ({RERANK.variable}=1) or another {RERANK_MODEL.name} to have it downloaded "
    "at first use; a question that asks for a reranker downloads nothing"
)


class CrossEncoder:
    """A `Reranker`; the model is loaded by the first question."""

    def __init__(self, name: str, load: Callable[[], Any]) -> None:
        """Load nothing.

        Args:
            name: the model, for errors.
            load: gets the library's model; called again after `close`, or when it has failed.
        """
        self._name = name
        self._load = load
        self._model: Any = None

    def scores(self, query: str, passages: Sequence[str]) -> Float32Vector:
        """A score for each passage, shape (n,), higher is better.

        Question and passage are cut to the model's window, the longer of the two first.

        Raises:
            MissingExtraError: the library cannot be used.
            ModelMissingError: the model is not there and cannot be downloaded, or is damaged.
            ModelError: the model cannot be run.
        """
        if not passages:
            return np.empty(0, dtype=np.float32)
        model = self._model = self._model or self._load()
        texts = [readable(passage) for passage in passages]
        # One pair a run, so that a score depends on its own pair alone.
        try:
            made = list(model.rerank(readable(query), texts, batch_size=1))
        except Exception as error:  # the libraries below have a dozen kinds of errors
            raise ModelError(f"the model {self._name} failed: {in_words(error)}") from error
        scores: Float32Vector = np.asarray(made, dtype=np.float32)
        if not np.isfinite(scores).all():
            raise ModelError(f"the model {self._name} gave a score that is not a number")
        return scores

    def close(self) -> None:
        """Let go of the model and its memory; may be called again."""
        self._model = None


def create_reranker(context: HostContext) -> CrossEncoder:
    """The cross-encoder that `recall.rerank_model` names; the library is not imported.

    Raises:
        MissingExtraError: the library is not installed.
        SettingError: there is no such model.
        ModelMissingError: the folder that is named holds no model.
    """
    require_library()
    model = chosen(context.settings[RERANK_MODEL], RERANKERS, RERANK_MODEL)
    if isinstance(model, Path):
        folder = read_folder(model)
        return CrossEncoder(folder.name, lambda: load_folder(folder))
    # Any question may ask for a second reading; what leaves this machine is the user's choice.
    wanted = context.settings[RERANK] or model != DEFAULT_RERANKER
    cache, forbidden = cache_folder(context), "" if wanted else _SWITCH
    return CrossEncoder(model, lambda: load_known(model, cache, forbidden))


def load_known(name: str, cache: Path, forbidden: str = "") -> Any:  # noqa: ANN401 - the library's
    """Load a model of the catalogue, from the cache or the hub.

    Raises:
        MissingExtraError: the library cannot be used.
        ModelMissingError: it is not there and cannot or may not be downloaded, or is damaged.
    """
    folder = fetched(name, RERANKERS[name], cache, forbidden=forbidden)
    with loading(name, folder):
        return _load(name, folder, LONGEST_WINDOW)


def load_folder(folder: ModelFolder) -> Any:  # noqa: ANN401 - the library's
    """Load a model from its folder.

    Raises:
        MissingExtraError: the library cannot be used.
        ModelMissingError: a file is damaged.
    """
    encoder = library(_CROSS_ENCODER).TextCrossEncoder
    with loading(folder.name, folder.path):
        # The library keeps one list of models; only their ONNX file matters there.
        name = f"folder/{folder.file}"
        if name not in {each["model"] for each in encoder.list_supported_models()}:
            source = library("fastembed.common.model_description").ModelSource(hf=name)
            encoder.add_custom_model(name, sources=source, model_file=folder.file)
        return _load(name, folder.path, folder.window)


def _load(name: str, folder: Path, window: int) -> Any:  # noqa: ANN401 - the library's
    # The library makes its cache folder even when it needs none: this one is there already.
    model = library(_CROSS_ENCODER).TextCrossEncoder(
        name, cache_dir=str(folder), specific_model_path=str(folder), **ONE_THREAD
    )
    limit_window(model.model.tokenizer, window)
    return model
