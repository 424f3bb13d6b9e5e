"""Checking a database that nobody has open, and counting what it holds."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from cloxy_core.runtime.wording import counted
from cloxy_core.services.doctor.findings import Tell
from cloxy_core.services.doctor.texts import compare_texts
from cloxy_core.services.write.tombstones import KEY_BYTES
from cloxy_core.store.connections import reader_engine
from cloxy_hookspecs import IntegrityError

KEY_SUFFIX: Final = ".key"
_MEMORIES: Final = "SELECT count(*) FROM memories WHERE state <> 'deleted'"
_MESSAGES: Final = """
    SELECT count(*) FROM
    (SELECT DISTINCT session_id, message_uid FROM passages WHERE message_uid IS NOT NULL)
"""


@dataclass(frozen=True, slots=True)
class Held:
    """What a database holds.

    Attributes:
        memories: memories that were not deleted.
        messages: messages of sessions.
    """

    memories: int
    messages: int


def compare_hashes(database: Path, tell: Tell) -> Held:
    """Compare every text with the hash that was stored with it, and count.

    Args:
        database: a file of the newest schema that nobody has open.
        tell: told what is being done.

    Raises:
        IntegrityError: a text is not what was stored.
        driver.Error: the file cannot be read.
    """
    engine = reader_engine(database, 1, "immutable=1")
    try:
        with engine.connect() as connection, connection.begin():
            suspects = compare_texts(connection, tell).suspects
            if suspects:
                memories = counted(len(suspects), "memory", "memories")
                raise IntegrityError(
                    f"the text of {memories} is not what was stored",
                    hint="run `cloxy doctor` to see which; `cloxy doctor --repair` mends them",
                )
            return Held(
                int(connection.exec_driver_sql(_MEMORIES).scalar_one()),
                int(connection.exec_driver_sql(_MESSAGES).scalar_one()),
            )
    finally:
        engine.dispose()


def key_beside(backup: Path) -> Path:
    """Where the key of what was forgotten lies that belongs to a backup."""
    return backup.with_name(backup.name + KEY_SUFFIX)


def read_key(path: Path) -> bytes | None:
    """A whole key of what was forgotten, or None."""
    try:
        key = path.read_bytes()
    except OSError:
        return None
    return key if len(key) == KEY_BYTES else None


def sync_file(path: Path) -> None:
    """Have a file's bytes survive a power loss."""
    descriptor = os.open(path, os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
