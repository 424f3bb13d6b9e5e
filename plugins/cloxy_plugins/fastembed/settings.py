"""Where downloaded models lie, and which model reads again."""

import os
from pathlib import Path

from cloxy_hookspecs import HostContext, Setting
from cloxy_plugins.fastembed.catalogue import DEFAULT_RERANKER


def parse_cache(text: str) -> Path | None:
    """A folder, which need not exist; None for an empty text.

    The variable is the library's own and may be set for other programs, so everything that they
    take is taken here: a relative path is one below the folder that the program was started in.

    Raises:
        ValueError: it cannot be a path.
    """
    if "\0" in text:
        raise ValueError("a folder, in whose name there is no NUL")
    try:
        folder = Path(text.strip()).expanduser()
    except RuntimeError as error:
        raise ValueError("a folder, in the home directory of somebody who exists") from error
    return Path(os.path.abspath(folder)) if text.strip() else None  # noqa: PTH100 - as written


CACHE_DIR: Setting[Path | None] = Setting(
    name="embed.cache_dir",
    env="FASTEMBED_CACHE_PATH",
    default=None,
    parse=parse_cache,
    help="Folder of downloaded models; by default the folder models in the data directory.",
)
RERANK_MODEL: Setting[str] = Setting(
    name="recall.rerank_model",
    env="CLOXY_RERANK_MODEL",
    default=DEFAULT_RERANKER,
    parse=str.strip,
    help="Model of the reranker cross-encoder: a name of its catalogue, or a folder.",
)
# Cloxy declares this setting itself; here it is only read.
RERANK: Setting[bool] = Setting(
    name="recall.rerank",
    env="CLOXY_RERANK",
    default=False,
    parse=lambda text: text.strip().lower() in {"1", "true", "yes", "on"},
    help="Whether a reranker reads the best results again, where the asker does not say.",
    empty_is_value=True,
)


def cache_folder(context: HostContext) -> Path:
    """Where downloaded models lie; made only when something is downloaded.

    The library's own default is a temporary folder, which many systems empty at every start.
    """
    return context.settings[CACHE_DIR] or context.paths.data / "models"
