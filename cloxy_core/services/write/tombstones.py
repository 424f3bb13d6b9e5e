"""Forgotten things, remembered only as keyed hashes.

A message is recognised by its own id, which every copy of it carries (a renamed file, a fork, a
resumed session). Text is recognised too, for copies that were given new ids; but only text long
enough to be telling, and only if it was said before it was forgotten: who says a thing again,
says a new thing.
"""

import hashlib
import hmac
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from sqlalchemy import Connection, select
from sqlalchemy.dialects.sqlite import insert

from cloxy_hookspecs import Message
from cloxy_hookspecs.tables import tombstones

TELLING = 40
KEY_BYTES = 32
LOOKUP = 500


class Tombstones:
    """Buries and recognises messages; the key lies in a file of its own, mode 0600."""

    def __init__(self, key_file: Path) -> None:
        self._key = _load_key(key_file)

    def bury(self, connection: Connection, said: Iterable[tuple[str | None, str]], at: int) -> int:
        """Remember messages as forgotten.

        Args:
            connection: a write transaction.
            said: message ids (None for a note) and their texts.
            at: now, milliseconds.

        Returns:
            How many messages were buried.
        """
        rows = []
        count = 0
        for uid, text in said:
            count += 1
            if uid is not None:
                rows.append({"scope": "uid", "key_hmac": self._hash(uid), "at": at})
            if telling := _telling(text):
                rows.append({"scope": "text", "key_hmac": self._hash(telling), "at": at})
        if rows:
            statement = insert(tombstones)
            connection.execute(
                statement.on_conflict_do_update(
                    index_elements=["scope", "key_hmac"], set_={"at": statement.excluded.at}
                ),
                rows,
            )
        return count

    def alive(self, connection: Connection, messages: Sequence[Message]) -> Sequence[Message]:
        """The messages that are not forgotten; nearly free while nothing is."""
        if connection.execute(select(tombstones.c.at).limit(1)).first() is None:
            return messages
        hashes: dict[tuple[str, bytes], None] = {}
        for message in messages:
            hashes["uid", self._hash(message.uid)] = None
            if telling := _telling(message.text):
                hashes["text", self._hash(telling)] = None
        buried = _buried(connection, [key for _scope, key in hashes])
        return [message for message in messages if not self._is_buried(message, buried)]

    def _is_buried(self, message: Message, buried: dict[tuple[str, bytes], int]) -> bool:
        if ("uid", self._hash(message.uid)) in buried:
            return True
        telling = _telling(message.text)
        if not telling:
            return False
        at = buried.get(("text", self._hash(telling)))
        return at is not None and (message.at is None or message.at <= at)

    def _hash(self, text: str) -> bytes:
        return hmac.digest(self._key, text.encode("utf-8", "surrogatepass"), hashlib.sha256)


def _telling(text: str) -> str | None:
    """Text in the form that is compared, or None when it is too short to tell anything."""
    normal = " ".join(text.casefold().split())
    return normal if len(normal) >= TELLING else None


def _buried(connection: Connection, hashes: Sequence[bytes]) -> dict[tuple[str, bytes], int]:
    found: dict[tuple[str, bytes], int] = {}
    for start in range(0, len(hashes), LOOKUP):
        part = hashes[start : start + LOOKUP]
        rows = connection.execute(
            select(tombstones.c.scope, tombstones.c.key_hmac, tombstones.c.at).where(
                tombstones.c.key_hmac.in_(part)
            )
        )
        found.update({(row.scope, bytes(row.key_hmac)): row.at for row in rows})
    return found


def _load_key(path: Path) -> bytes:
    """The key, made on first use; created exclusively so that no link is followed."""
    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0)
    try:
        descriptor = os.open(path, flags, 0o600)
    except FileExistsError:
        key = path.read_bytes()
        if len(key) == KEY_BYTES:
            return key
        # A torn key protects nothing that was ever buried with a whole one: start a new one.
        path.unlink()
        return _load_key(path)
    with os.fdopen(descriptor, "wb") as file:
        key = os.urandom(KEY_BYTES)
        file.write(key)
        file.flush()
        os.fsync(file.fileno())
    return key
