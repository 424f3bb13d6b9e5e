"""Forgotten things, remembered only as keyed hashes.

A message is recognised by its own id, which every copy of it carries (a renamed file, a fork, a
resumed session). Text is recognised too, for copies that were given new ids; but only text long
enough to be telling, and only if it was said before it was forgotten: who says a thing again,
says a new thing.
"""

import hashlib
import hmac
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from sqlalchemy import Connection, delete, select, update
from sqlalchemy.dialects.sqlite import insert

from cloxy_core.store.lookups import lookups
from cloxy_hookspecs import Message
from cloxy_hookspecs.tables import sources, tombstones

TELLING = 40
KEY_BYTES = 32


class Tombstones:
    """Buries and recognises messages; the key lies in a file of its own, mode 0600."""

    def __init__(self, key_file: Path) -> None:
        self._key = _load_key(key_file)
        self._silenced: set[int] = set()
        # Nothing but this object, on the one writer's thread, buries; so emptiness is known here.
        self._empty = False

    def silence(self, connection: Connection, source_ids: set[int]) -> None:
        """Take what parsers noted of files, which may tell of what was said in them.

        A pass that reads such a file at this moment still holds the notes, and may store them
        once more; `silence_again` is for after it.
        """
        for identifier in source_ids:
            connection.execute(
                update(sources).where(sources.c.id == identifier).values(parser_state={})
            )
        self._silenced |= source_ids

    @property
    def has_silenced(self) -> bool:
        """Whether notes were taken since they were taken again."""
        return bool(self._silenced)

    def silence_again(self, connection: Connection) -> None:
        """Take the same notes again; for whoever keeps cursors in memory, to read them anew."""
        self.silence(connection, self._silenced)
        self._silenced = set()

    def key_fits(self, connection: Connection) -> bool:
        """Whether what is buried was buried with this key; without it nothing is recognised.

        A key that was made in place of a lost one is in the list only after `adopt_key`, or
        beside the lost one's mark after something was forgotten with it.
        """
        used = select(tombstones.c.key_hmac).where(tombstones.c.scope == "key")
        keys = {bytes(key) for key in connection.execute(used).scalars()}
        return not keys or keys == {self.mark}

    @property
    def mark(self) -> bytes:
        """What stands in the list for this key."""
        return key_mark(self._key)

    def adopt_key(self, connection: Connection) -> None:
        """Let this key alone count from now on; what others buried is recognised no more."""
        connection.execute(delete(tombstones).where(tombstones.c.scope == "key"))
        self._write(connection, [])

    def bury(self, connection: Connection, said: Iterable[tuple[str | None, str]], at: int) -> int:
        """Remember messages as forgotten.

        Args:
            connection: a write transaction.
            said: message ids (None for a note) and their texts.
            at: now, milliseconds.

        Returns:
            How many messages were buried.
        """
        rows: list[dict[str, object]] = []
        count = 0
        for uid, text in said:
            count += 1
            if uid is not None:
                rows.append({"scope": "uid", "key_hmac": self._hash(uid), "at": at})
            if telling := _telling(text):
                rows.append({"scope": "text", "key_hmac": self._hash(telling), "at": at})
        if rows:
            self._write(connection, rows)
        return count

    def bury_title(self, connection: Connection, session: str, title: str, at: int) -> None:
        """Remember a title of a session as one that it must not get again."""
        key = self._hash(_title_key(session, title))
        self._write(connection, [{"scope": "title", "key_hmac": key, "at": at}])

    def forbids(self, connection: Connection, session: str, title: str) -> bool:
        """Whether a session must not get a title again."""
        if self._is_empty(connection):
            return False
        key = self._hash(_title_key(session, title))
        return ("title", key) in _buried(connection, [key])

    def bury_session(self, connection: Connection, agent: str, session: str, at: int) -> None:
        """Remember a session as one of which nothing is left."""
        key = self._hash(_session_key(agent, session))
        self._write(connection, [{"scope": "session", "key_hmac": key, "at": at}])

    def bury_whole(self, connection: Connection, sessions: Iterable[str], at: int) -> None:
        """Remember sessions that were forgotten whole: what was said in them until now.

        That is also what was not read yet, and what was stored in other pieces than the log has.
        """
        rows = [{"scope": "whole", "key_hmac": self._whole(key), "at": at} for key in sessions]
        if rows:
            self._write(connection, rows)

    def gone_sessions(
        self, connection: Connection, agent: str, sessions: Sequence[str]
    ) -> Sequence[str]:
        """Those of some sessions that were forgotten as a whole."""
        if not sessions or self._is_empty(connection):
            return ()
        keys = {self._hash(_session_key(agent, key)): key for key in sessions}
        found = _buried(connection, list(keys))
        return [session for key, session in keys.items() if ("session", key) in found]

    def alive(self, connection: Connection, messages: Sequence[Message]) -> Sequence[Message]:
        """The messages that are not forgotten; nearly free while nothing is."""
        if not messages or self._is_empty(connection):
            return messages
        uids = [self._hash(message.uid) for message in messages]
        texts = [
            self._hash(telling) if (telling := _telling(message.text)) else None
            for message in messages
        ]
        whole = {key: self._whole(key) for key in {message.session for message in messages}}
        buried = _buried(connection, [*uids, *filter(None, texts), *whole.values()])
        if not buried:
            return messages

        def is_dead(message: Message, uid: bytes, text: bytes | None) -> bool:
            if ("uid", uid) in buried:
                return True
            ats = [buried.get(("whole", whole[message.session]))]
            if text:
                ats.append(buried.get(("text", text)))
            return any(at is not None and (message.at is None or message.at <= at) for at in ats)

        keyed = zip(messages, uids, texts, strict=True)
        return [message for message, uid, text in keyed if not is_dead(message, uid, text)]

    def _is_empty(self, connection: Connection) -> bool:
        if not self._empty:
            self._empty = connection.execute(select(tombstones.c.at).limit(1)).first() is None
        return self._empty

    def _write(self, connection: Connection, rows: Sequence[Mapping[str, object]]) -> None:
        self._empty = False
        check = {"scope": "key", "key_hmac": self.mark, "at": 0}
        statement = insert(tombstones)
        connection.execute(
            statement.on_conflict_do_update(
                index_elements=["scope", "key_hmac"], set_={"at": statement.excluded.at}
            ),
            [check, *rows],
        )

    def _whole(self, session: str) -> bytes:
        return self._hash(f"whole\0{session}")

    def _hash(self, text: str) -> bytes:
        return hmac.digest(self._key, text.encode("utf-8", "surrogatepass"), hashlib.sha256)


def key_mark(key: bytes) -> bytes:
    """What is stored in the list to tell by which key its hashes were made."""
    return hmac.digest(key, b"key", hashlib.sha256)


def _title_key(session: str, title: str) -> str:
    return f"{session}\0{' '.join(title.casefold().split())}"


def _session_key(agent: str, session: str) -> str:
    return f"session\0{agent}\0{session}"


def _telling(text: str) -> str | None:
    """Text in the form that is compared, or None when it is too short to tell anything."""
    normal = " ".join(text.casefold().split())
    return normal if len(normal) >= TELLING else None


def _buried(connection: Connection, hashes: Sequence[bytes]) -> dict[tuple[str, bytes], int]:
    found: dict[tuple[str, bytes], int] = {}
    for part in lookups(hashes):
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
        # Kept aside: a person may know how to mend it, or where its whole copy is.
        path.rename(_free_name(path.with_name(f"{path.name}.torn")))
        return _load_key(path)
    with os.fdopen(descriptor, "wb") as file:
        key = os.urandom(KEY_BYTES)
        file.write(key)
        file.flush()
        os.fsync(file.fileno())
    return key


def _free_name(path: Path) -> Path:
    """This name, or the first one with a number that no file has."""
    number = 1
    while os.path.lexists(candidate := path if number == 1 else Path(f"{path}-{number}")):
        number += 1
    return candidate
