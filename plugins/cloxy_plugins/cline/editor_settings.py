"""One value of the settings of an editor: JSON with comments, commas behind the last, and damage.

Such a file may hold keys of other extensions. It is looked through for the one name, and nothing
else of it is decoded, kept or told.
"""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

from cloxy_hookspecs import LogReader

_MOST = 4 << 20
_MOST_PROFILES = 100
_FILE = "settings.json"
# A text without an end goes to the end of its line, a comment without one to that of the file.
_TOKEN = re.compile(
    r'"(?P<text>(?:[^"\\\r\n]|\\[^\r\n])*+)(?P<end>"?)'
    r"|//[^\r\n]*+|/\*(?s:.*?)(?:\*/|\Z)|[{}\[\]:,]"
)


def value_of(settings: str, name: str) -> str | None:
    """The text that a name has in an object, not in one inside it; of several the last.

    Args:
        settings: the file.
        name: which.
    """
    found: str | None = None
    depth = 0
    key, is_value = "", False
    for token in _TOKEN.finditer(settings):
        sign = token[0][0]
        if sign == "/":
            continue
        if sign == '"':
            if is_value and depth == 1 and key == name and token["end"]:
                found = _decoded(token["text"]) or found
            key, is_value = token["text"], False
        elif sign == ":":
            is_value = True
        else:
            depth += (sign in "{[") - (sign in "}]")
            key, is_value = "", False
    return found


def settings_of(reader: LogReader, user: Path) -> Iterator[str]:
    """The settings of an editor: its own, those of a server's machine, and those of profiles.

    One that is not there, cannot be read or is too large is passed over. Links are followed, as
    the editor follows them: settings often lie among somebody's dotfiles.

    Args:
        reader: opens files.
        user: the editor's folder `User`.
    """
    yield from _read(reader, user / _FILE)
    yield from _read(reader, user.parent / "Machine" / _FILE)
    try:
        profiles = sorted(os.listdir(user / "profiles"))  # noqa: PTH208 - names alone
    except OSError:
        return
    for name in profiles[:_MOST_PROFILES]:
        yield from _read(reader, user / "profiles" / name / _FILE)


def _read(reader: LogReader, path: Path) -> Iterator[str]:
    try:
        real = Path(os.path.realpath(path))
        yield reader.content(real.parent, real, _MOST).decode("utf-8", "replace")
    except (OSError, ValueError):
        return


def _decoded(text: str) -> str | None:
    try:
        value = json.loads(f'"{text}"')
    except ValueError:
        return None
    return value if isinstance(value, str) else None
