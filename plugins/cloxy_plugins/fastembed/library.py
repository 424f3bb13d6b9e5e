"""Dealings with the library fastembed: whether it is there, files of the hub, errors in words.

The library is imported only when a model is loaded; it takes most of a second.
"""

import importlib
import importlib.util
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from cloxy_hookspecs import MissingExtraError, ModelMissingError
from cloxy_plugins.fastembed.catalogue import HubFiles

LIBRARY = "fastembed"
INSTALL = "pip install 'cloxy[fastembed]'"
OFFLINE = "HF_HUB_OFFLINE"

ONE_THREAD: dict[str, Any] = {"threads": 1, "providers": ["CPUExecutionProvider"]}
"""How every model is run: one thread of the processor, wherever it could run besides."""


def require_library() -> None:
    """Look for the library without importing it.

    Raises:
        MissingExtraError: it is not installed.
    """
    if importlib.util.find_spec(LIBRARY) is None:
        raise MissingExtraError("the package fastembed is not installed", hint=INSTALL)


def library(module: str = LIBRARY) -> Any:  # noqa: ANN401 - modules of the library have no type
    """A module of the library, which is told to say and send nothing on its own.

    Raises:
        MissingExtraError: the library, or something that it needs, cannot be imported.
    """
    try:
        loguru = importlib.import_module("loguru")
        hub = importlib.import_module("huggingface_hub")
        found = importlib.import_module(module)
    except ImportError as error:
        raise MissingExtraError(
            f"the package fastembed cannot be used: {error}", hint=INSTALL
        ) from error
    loguru.logger.disable(LIBRARY)
    hub.utils.disable_progress_bars()
    hub.constants.HF_HUB_DISABLE_TELEMETRY = True
    return found


def fetched(name: str, files: HubFiles, cache: Path, *, forbidden: str = "") -> Path:
    """The folder of a model's files: from the cache without asking anybody, else downloaded.

    Args:
        name: the model, for errors.
        files: where they are at the hub.
        cache: folder of downloaded models.
        forbidden: why nothing may be downloaded now, and what to do; empty when it may.

    Raises:
        MissingExtraError: the library cannot be used.
        ModelMissingError: they are not in the cache, and cannot or may not be downloaded.
    """
    download = library().TextEmbedding.download_files_from_huggingface
    wanted = [files.file, *files.more]
    damaged = False
    try:
        found = Path(
            download(files.source, str(cache), extra_patterns=wanted, local_files_only=True)
        )
        if all((found / file).is_file() for file in wanted):
            return found
    except Exception as error:  # whatever it is, another copy helps
        damaged = type(error).__name__ == "CorruptedCacheError"
    if forbidden:
        raise ModelMissingError(f"the model {name} is not in {cache}", hint=forbidden)
    _refuse_when_offline(name, cache)
    # Without this, a file of the wrong length would be taken for downloaded already.
    again = {"force_download": True} if damaged else {}
    try:
        cache.mkdir(parents=True, exist_ok=True)
        return Path(download(files.source, str(cache), extra_patterns=wanted, **again))
    except Exception as error:  # the libraries below have a dozen kinds of errors
        raise ModelMissingError(
            f"the model {name} is not in {cache}, and could not be downloaded: {in_words(error)}",
            hint=_remedies("try again with a network"),
        ) from error


@contextmanager
def loading(name: str, folder: Path) -> Iterator[None]:
    """Say in words what went wrong while a model was loaded.

    Raises:
        ModelMissingError: instead of what the library, or those below it, raised.
    """
    try:
        yield
    except Exception as error:  # the libraries below have a dozen kinds of errors
        raise ModelMissingError(
            f"the model {name} cannot be loaded from {folder}: {in_words(error)}",
            hint="a file there is missing or damaged: remove the folder to have the model "
            "downloaded anew, or put the right file there if the folder is yours",
        ) from error


def limit_window(tokenizer: Any, most: int) -> None:  # noqa: ANN401 - as above
    """Have a tokenizer cut texts at `most` tokens, unless it cuts them earlier already.

    The library reads the limit from tokenizer_config.json alone, where it often is too high.
    """
    now = tokenizer.truncation or {}
    tokenizer.enable_truncation(
        max_length=min(most, now.get("max_length", most)),
        direction=now.get("direction", "right"),
    )


def readable(text: str) -> str:
    """A text without half characters, on which tokenizers stumble."""
    return text.encode("utf-8", "replace").decode("utf-8")


def in_words(error: Exception) -> str:
    """What an error of a library says, on one line."""
    first = next((line for line in str(error).splitlines() if line.strip()), "")
    return first.strip()[:300] or type(error).__name__


def _refuse_when_offline(name: str, cache: Path) -> None:
    if os.environ.get(OFFLINE, "").strip().upper() in {"1", "TRUE", "YES", "ON"}:
        raise ModelMissingError(
            f"the model {name} is not in {cache}, and {OFFLINE} forbids to download it",
            hint=_remedies(f"unset {OFFLINE} for the first start"),
        )


def _remedies(first: str) -> str:
    return (
        f"{first}, copy a filled cache there or let FASTEMBED_CACHE_PATH name it, or set the "
        "model to the path of a folder that holds it"
    )
