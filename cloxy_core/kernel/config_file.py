"""config.toml as dotted names and values, with the line of each."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from cloxy_hookspecs.errors import SettingError

FILE_NAME = "config.toml"

_HEADER = re.compile(r"\s*\[\s*(?P<name>[^\[\]]+?)\s*\]\s*(?:#.*)?")
_KEY = re.compile(r"\s*(?P<name>[\w.\-\"' ]+?)\s*=")


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """What a configuration file says.

    Attributes:
        path: where it lies, or would lie.
        values: TOML values by dotted name; empty when there is no file.
        text: the file as it is, to find lines in.
    """

    path: Path
    values: Mapping[str, object] = field(default_factory=dict)
    text: str = field(default="", repr=False)

    def place(self, name: str) -> str:
        """File and line of a value, for people."""
        line = _line_of(self.text, name)
        return f"{self.path}, line {line}" if line else str(self.path)


def read_config(path: Path) -> ConfigFile:
    """Read a configuration file.

    Args:
        path: the file; it need not exist.

    Raises:
        SettingError: it cannot be read or is not TOML; names file and line.
    """
    try:
        data = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return ConfigFile(path)
    except OSError as error:
        raise SettingError(f"{path} cannot be read: {error.strerror}") from error
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise SettingError(
            f"{path}, line {line}: not UTF-8 text", hint="save the file as UTF-8"
        ) from error
    try:
        tables = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        # The parser names the line, except where the document ends too early.
        end = "" if " line " in str(error) else f", line {text.count(chr(10)) + 1}"
        raise SettingError(f"{path}{end} is not valid TOML: {error}") from error
    return ConfigFile(path, dict(_flatten(tables, "")), text)


def _flatten(table: Mapping[str, object], prefix: str) -> Iterator[tuple[str, object]]:
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _flatten(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value


def _line_of(text: str, name: str) -> int | None:
    """Number of the line that sets a dotted name; None when it is written in some rarer way."""
    table = ""
    for number, line in enumerate(text.splitlines(), start=1):
        if header := _HEADER.fullmatch(line):
            table = _bare(header["name"]) + "."
        elif (key := _KEY.match(line)) and table + _bare(key["name"]) == name:
            return number
    return None


def _bare(name: str) -> str:
    return ".".join(part.strip().strip("\"'") for part in name.split("."))
