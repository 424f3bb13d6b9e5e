"""What our entry in a client's configuration says, whatever the format."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath, PureWindowsPath
from typing import Final
from urllib.parse import urlsplit

NAME: Final = "cloxy"
NAME_PATTERN: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
ARGUMENTS: Final = ("mcp",)
URL_KEYS: Final = ("url", "httpUrl", "serverUrl")
# What one way of connecting has and the other must not have.
TRANSPORT_KEYS: Final = ("type", "command", "args", *URL_KEYS)

_LOOPBACK: Final = frozenset({"127.0.0.1", "localhost", "::1"})

Values = dict[str, object]


@dataclass(frozen=True, slots=True)
class Target:
    """How a client reaches Cloxy: by a program that it starts, or by an address.

    Attributes:
        program: the program, an absolute path or a name; None for an address.
        url: the address of the MCP endpoint; None for a program.
        environment: variables that the program needs beside those of the client; never a key.
    """

    program: str | None = None
    url: str | None = None
    environment: Mapping[str, str] = field(default_factory=dict)


def is_ours(values: Mapping[str, object], url: str | None = None) -> bool:
    """Whether an entry is one that `cloxy connect` could have written, perhaps long ago.

    Args:
        values: the entry.
        url: the address of the endpoint today, if it is known.
    """
    command, arguments = values.get("command"), values.get("args")
    if isinstance(command, str) and command:
        first = arguments[0] if isinstance(arguments, list) and arguments else None
        return _program_name(command) == NAME and first == ARGUMENTS[0]
    return any(_is_endpoint(values.get(key), url) for key in URL_KEYS)


def _program_name(command: str) -> str:
    name = PureWindowsPath(command).name if "\\" in command else PurePosixPath(command).name
    return name.lower().removesuffix(".exe")


def _is_endpoint(found: object, url: str | None) -> bool:
    if not isinstance(found, str) or not found:
        return False
    if url is not None and found == url:
        return True
    try:
        parts = urlsplit(found)
        return parts.hostname in _LOOPBACK and parts.path.rstrip("/") == "/mcp"
    except ValueError:
        return False


def says_the_same(values: Mapping[str, object], wanted: Mapping[str, object]) -> bool:
    """Whether an entry does already what is wanted; what a person added to it does not matter."""
    for key in TRANSPORT_KEYS:
        # Left out, the kind of connection follows from the rest.
        if key == "type" and (key not in values or key not in wanted):
            continue
        if values.get(key) != wanted.get(key):
            return False
    environment = wanted.get("env")
    if not isinstance(environment, Mapping):
        return True
    found = values.get("env")
    return all(
        isinstance(found, Mapping) and found.get(key) == value for key, value in environment.items()
    )


def merged(values: Mapping[str, object], wanted: Mapping[str, object]) -> Values:
    """The entry brought up to date, with what a person added to it."""
    kept = {k: v for k, v in values.items() if k not in TRANSPORT_KEYS or k in wanted}
    environment = {**_table(kept.get("env")), **_table(wanted.get("env"))}
    new = {**kept, **wanted}
    return {**new, "env": environment} if environment or "env" in new else new


def _table(value: object) -> dict[str, object]:
    return dict(value) if isinstance(value, Mapping) else {}
