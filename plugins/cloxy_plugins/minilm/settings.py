"""Settings for benchmarks: another model in the place of the built-in one."""

import os
from pathlib import Path

from cloxy_hookspecs import Setting

BENCH = "CLOXY_BENCH"


def parse_folder(text: str) -> Path | None:
    """The folder of a model, absolute; None for an empty text.

    Raises:
        ValueError: no benchmark is running, or the text cannot be a folder.
    """
    if not text.strip():
        return None
    _refuse_unless_bench()
    if "\0" in text:
        raise ValueError("a folder, in whose name there is no NUL")
    try:
        return Path(os.path.abspath(Path(text.strip()).expanduser()))  # noqa: PTH100 - as written
    except RuntimeError as error:
        raise ValueError("a folder, in the home directory of somebody who exists") from error


def parse_space(text: str) -> str:
    """What stands for the revision.

    Raises:
        ValueError: no benchmark is running.
    """
    if text.strip():
        _refuse_unless_bench()
    return text.strip()


def _refuse_unless_bench() -> None:
    if os.environ.get(BENCH) != "1":
        raise ValueError(f"{BENCH}=1 in the environment, as it is meant for benchmarks alone")


MODEL_DIR: Setting[Path | None] = Setting(
    name="embed.model_dir",
    default=None,
    parse=parse_folder,
    help="Folder with model.onnx, tokenizer.json and config.json to embed with; for benchmarks.",
)
SPACE_ID: Setting[str] = Setting(
    name="embed.space_id",
    default="",
    parse=parse_space,
    help="Stands for the hash of the files of embed.model_dir; for benchmarks.",
)
