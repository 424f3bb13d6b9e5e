"""The model that was chosen: a small JSON file in the data directory.

It has the keys of Cloxy 5 (`model_short_name`, `model_hf_id`, `model_load_gb`) and ours beside
them: `format`, `path`, `context_tokens`, `model`, `base_url`. Keys of others are kept.
"""

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Final, Literal, NoReturn

from cloxy_core.runtime.whole_file import replace_file
from cloxy_hookspecs.errors import ConfigError
from cloxy_hookspecs.types.llm import ModelChoice

FILE_NAME: Final = "config.json"
MAX_BYTES: Final = 1024 * 1024

_NAME: Final = "model_short_name"
_SOURCE: Final = "model_hf_id"
_LOAD: Final = "model_load_gb"
_MODE: Final = 0o600
_DO: Final = "run `cloxy init` to choose a model anew"
_MOVE: Final = "repair it, or move it away and run `cloxy init`"


def read_choice(path: Path) -> ModelChoice | None:
    """What was chosen; None when there is no file, or none of its keys names a model.

    A file with the keys of Cloxy 5 alone means an MLX model with that Hugging Face id, which its
    library finds by the id: `path` is the id then.

    Raises:
        ConfigError: the file cannot be read or used; the message names it and the place in it.
    """
    found = _contents(path)
    return None if found is None else _Reader(path, found).choice()


def write_choice(path: Path, choice: ModelChoice) -> None:
    """Write a choice in one step; the folder is made, and keys of others are kept.

    Raises:
        ConfigError: the file that is there is damaged, which is left as it is, or it cannot be
            written.
    """
    kept = _contents(path) or {}
    is_remote = choice.format == "http"
    ours: dict[str, object] = {
        _NAME: choice.name,
        _SOURCE: None if is_remote else choice.source,
        _LOAD: choice.load_gb,
        "format": choice.format,
        "path": choice.path,
        "context_tokens": choice.context_tokens,
        "model": choice.model,
        "base_url": choice.source if is_remote else None,
    }
    contents = {name: value for name, value in kept.items() if name not in ours}
    contents |= {name: value for name, value in ours.items() if value is not None}
    text = json.dumps(contents, indent=2, ensure_ascii=True, allow_nan=False) + "\n"
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        replace_file(path, text.encode(), _MODE)
    except OSError as error:
        raise ConfigError(
            f"{path} cannot be written: {error.strerror or error}",
            hint="check whose folder it is, or set CLOXY_CONFIG to another file",
        ) from error


def _contents(path: Path) -> dict[str, object] | None:
    """The whole object; None when there is no file.

    Raises:
        ConfigError: it cannot be read, or is no JSON object.
    """
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ConfigError(
            f"{path} cannot be read: {error.strerror or error}",
            hint="check whose it is, or set CLOXY_CONFIG to another file",
        ) from error
    if len(data) > MAX_BYTES:
        raise ConfigError(f"{path} is larger than {MAX_BYTES:,} bytes", hint=_MOVE)
    try:
        value = json.loads(data.decode("utf-8-sig"))
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise ConfigError(f"{path} is no JSON at {place}: {error.msg}", hint=_MOVE) from error
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path} is no JSON: {error}", hint=_MOVE) from error
    if not isinstance(value, dict):
        raise ConfigError(f"{path} holds no JSON object", hint=_MOVE)
    return value


class _Reader:
    """Takes the fields out of a file and says which of them cannot be used."""

    def __init__(self, path: Path, found: Mapping[str, object]) -> None:
        self._path = path
        self._found = found

    def choice(self) -> ModelChoice | None:
        kind = self._format()
        if kind is None:
            return None
        source = self._text("base_url" if kind == "http" else _SOURCE)
        place = None if kind == "http" else self._text("path")
        if kind == "mlx":
            place = place or source
        if place is None and kind != "http":
            self._refuse("path", "is missing", _DO)
        if source is None and kind == "http":
            self._refuse("base_url", "is missing", "run `cloxy init --server URL`")
        where = source or place or ""
        return ModelChoice(
            name=self._text(_NAME) or self._text("model") or where.rpartition("/")[2] or where,
            format=kind,
            source=where,
            path=place,
            load_gb=self._size(),
            context_tokens=self._tokens(),
            model=self._text("model") if kind == "http" else None,
        )

    def _format(self) -> Literal["gguf", "mlx", "http"] | None:
        given = self._text("format")
        if given is None:
            return self._likely_format()
        if given in {"gguf", "mlx", "http"}:
            return given  # type: ignore[return-value]  # narrowed by the set
        return self._refuse("format", f"is {given!r}, not gguf, mlx or http", _DO)

    def _likely_format(self) -> Literal["gguf", "mlx", "http"] | None:
        if self._text("base_url"):
            return "http"
        if (self._text("path") or "").lower().endswith(".gguf"):
            return "gguf"
        return "mlx" if self._text("path") or self._text(_SOURCE) else None

    def _text(self, name: str) -> str | None:
        value = self._found.get(name)
        if value is None or value == "":
            return None
        if not isinstance(value, str) or "\0" in value:
            self._refuse(name, "is no text", _DO)
        return value

    def _size(self) -> float | None:
        value = self._found.get(_LOAD)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float):
            self._refuse(_LOAD, "is no number", _DO)
        if not (math.isfinite(value) and value >= 0):
            self._refuse(_LOAD, "is no size", _DO)
        return float(value)

    def _tokens(self) -> int | None:
        value = self._found.get("context_tokens")
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            self._refuse("context_tokens", "is no whole number above 0", _DO)
        return value

    def _refuse(self, name: str, reason: str, hint: str) -> NoReturn:
        raise ConfigError(f"{name} in {self._path} {reason}", hint=hint)
