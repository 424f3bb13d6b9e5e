"""How a server and its clients on one machine know each other: by a file that only its owner reads.

The server makes `owner.token` in its data directory. A client that can read it asks the server to
prove that it knows it too, before it sends a key or a word of text: whoever else took the port
cannot. Sent along, the token proves that a request comes from the owner of the data.
"""

import hmac
import os
import re
import secrets
from hashlib import sha256
from pathlib import Path
from typing import Final

from cloxy_core.runtime.whole_file import replace_file

TOKEN_FILE: Final = "owner.token"  # noqa: S105 - a file's name
KEY_FILE: Final = "server.key"
OWNER_HEADER: Final = "X-Cloxy-Owner"
NONCE_PATTERN: Final = re.compile(r"[0-9a-f]{32,128}")

_TOKEN: Final = re.compile(r"[0-9a-f]{64}")
_LIMIT: Final = 4096
_PURPOSE: Final = "cloxy server"


def new_nonce() -> str:
    """A fresh question for a server: 64 hexadecimal digits."""
    return secrets.token_hex(32)


def proof(token: str, nonce: str, place: tuple[str, int]) -> str:
    """What a server answers to a nonce, in hexadecimal digits (HMAC-SHA256).

    The address is part of it, so that another program cannot pass the question on to the real
    server at another port or address (`[::1]` beside `127.0.0.1`, both of them `localhost`) and
    take over its answer.

    Args:
        token: contents of `owner.token`.
        nonce: what the client drew.
        place: address and port of the server's end of this connection: for the client its peer.
    """
    text = f"{_PURPOSE}\n{_plain(place[0])}\n{place[1]}\n{nonce}".encode()
    return hmac.new(token.encode(), text, sha256).hexdigest()


def is_proof(given: str, token: str, nonce: str, place: tuple[str, int]) -> bool:
    """Whether a server's answer shows that it knows the token."""
    return hmac.compare_digest(given.encode(), proof(token, nonce, place).encode())


def _plain(address: str) -> str:
    """An address as both ends name it: without zone, and IPv4 as such on a socket of both kinds."""
    bare = address.partition("%")[0].lower()
    mapped = bare.removeprefix("::ffff:")
    return mapped if "." in mapped else bare


def read_token(data_dir: Path) -> str | None:
    """The owner token; None when there is no whole one yet.

    Raises:
        OSError: the file is there and cannot be read.
    """
    text = _read(data_dir / TOKEN_FILE)
    return text if text is not None and _TOKEN.fullmatch(text) else None


def ensure_token(data_dir: Path) -> str:
    """The owner token, made if there is none. Only who holds the lock of the directory may call it.

    Raises:
        OSError: it cannot be read or written.
    """
    found = read_token(data_dir)
    if found is not None:
        return found
    token = secrets.token_hex(32)
    write_private(data_dir / TOKEN_FILE, token + "\n")
    return token


def read_key(data_dir: Path) -> str | None:
    """The key that `cloxy key create` wrote; None when there is none.

    Raises:
        OSError: the file is there and cannot be read.
    """
    return _read(data_dir / KEY_FILE) or None


def write_private(path: Path, text: str) -> None:
    """Write a small file of mode 0600, whole or not at all.

    Raises:
        OSError: it cannot be written.
    """
    replace_file(path, text.encode(), 0o600)


def _read(path: Path) -> str | None:
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
    except FileNotFoundError:
        return None
    with os.fdopen(descriptor, "r", encoding="utf-8", errors="replace") as file:
        return file.read(_LIMIT).strip()
