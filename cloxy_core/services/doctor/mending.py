"""Damaged texts: what of them is sound, what a backup or the session log still has, what is lost.

A memory is made anew around its sound passages, and the others hold a placeholder for a moment.
The log is then read again, whose writer puts the text of known messages in its place. What has a
placeholder after that is taken out, and its bytes are in the quarantine folder.
"""

import base64
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from cloxy_core.services.doctor.findings import Tell
from cloxy_core.services.doctor.pieces import MemoryPiece, pieces_of
from cloxy_core.services.doctor.quarantine import Quarantine
from cloxy_core.services.doctor.texts import compare_texts, describe, hash_of
from cloxy_core.services.indexing import Indexing
from cloxy_core.services.write.removal import neighbours, refresh, remove_passages
from cloxy_core.store.backup import backups, verify
from cloxy_core.store.connections import connect
from cloxy_core.store.library import driver
from cloxy_hookspecs import Clock, CloxyError

ACTOR = "doctor"
PLACEHOLDER = "[damaged on disk]"
_DAMAGED_HASH = "damaged"
"""Stands for the hash of a lost text, so that an examination finds it again."""

_MEMORY = """
    SELECT id, CAST(uid AS BLOB) AS uid, CAST(content AS BLOB) AS content,
    CAST(content_hash AS BLOB) AS content_hash, CAST(extra AS BLOB) AS extra,
    session_id, source_id, state, version, occurred_from AS at FROM memories WHERE id = ?
"""
_PASSAGES = """
    SELECT id, char_start, char_end, CAST(text_hash AS BLOB) AS text_hash, part,
    CAST(role AS BLOB) AS role, session_id FROM passages WHERE memory_id = ? ORDER BY ordinal, id
"""
_MOVE = """
    UPDATE passages SET ordinal = ?, char_start = ?, char_end = ?, text_hash = ? WHERE id = ?
"""
_ADD = """
    INSERT INTO passages (memory_id, session_id, ordinal, char_start, char_end, text_hash, part,
    role, author, occurred_at) VALUES (?, ?, ?, ?, ?, ?, 0, ?, ?, ?) RETURNING id
"""


@dataclass(frozen=True, slots=True)
class Mending:
    """Mends texts; its methods are bodies of write transactions."""

    indexing: Indexing
    quarantine: Quarantine
    clock: Clock

    def suspects(self, connection: Connection, tell: Tell) -> Sequence[int]:
        """Memories that have to be mended."""
        return compare_texts(connection, tell).suspects

    def logs(self, connection: Connection, ids: Sequence[int]) -> Mapping[int, str]:
        """Session logs that these memories were read from, by the id of their source."""
        rows = connection.exec_driver_sql(
            "SELECT id, uri FROM sources WHERE id IN (SELECT source_id FROM memories"
            " WHERE id IN (SELECT value FROM json_each(?))) ORDER BY uri",
            (json.dumps(list(ids)),),
        )
        return {int(row[0]): str(row[1]) for row in rows}

    def from_backups(self, connection: Connection, folder: Path, ids: Sequence[int]) -> int:
        """Put back texts that a backup has exactly as their hash says; how many."""
        wanted = {row["id"]: row for row in (_row(connection, each) for each in ids)}
        restored = 0
        for backup in reversed(backups(folder)):
            if not wanted:
                break
            for identifier, content in _texts_in(backup, list(wanted.values())).items():
                del wanted[identifier]
                restored += connection.exec_driver_sql(
                    "UPDATE memories SET content = ? WHERE id = ? AND CAST(content AS BLOB) <> ?",
                    (content, identifier, content.encode("utf-8", "surrogatepass")),
                ).rowcount
        return restored

    def make_whole(self, connection: Connection, ids: Sequence[int], logs: Collection[int]) -> None:
        """Keep the bytes of damaged memories, and make them anew with what is sound of them.

        Args:
            connection: a write transaction.
            ids: the memories.
            logs: ids of sources that will be read again. Text that belongs to no passage comes
                back from there; that of other memories becomes passages anew.
        """
        self.quarantine.keep_rows([_kept(connection, identifier) for identifier in ids])
        for identifier in ids:
            row = _row(connection, identifier)
            places = connection.exec_driver_sql(_PASSAGES, (identifier,)).mappings().all()
            pieces = pieces_of(row, places, keep_all=row["source_id"] not in logs)
            if pieces:
                self._write(connection, row, pieces)
            else:
                connection.exec_driver_sql("DELETE FROM memories WHERE id = ?", (identifier,))
            self._event(connection, identifier, "update" if pieces else "delete")

    def _write(self, connection: Connection, row: Any, pieces: Sequence[MemoryPiece]) -> None:  # noqa: ANN401 - a row
        content = ""
        touched: set[int] = set()
        for number, piece in enumerate(pieces):
            content += piece.lead(first=number == 0)
            start = len(content)
            content += PLACEHOLDER if piece.text is None else piece.text
            hashed = _DAMAGED_HASH if piece.text is None else hash_of(piece.text)
            place = (number, start, len(content), hashed)
            if piece.passage is not None:
                connection.exec_driver_sql(_MOVE, (*place, piece.passage))
                touched.add(piece.passage)
                continue
            added = connection.exec_driver_sql(
                _ADD,
                (row["id"], row["session_id"], *place, piece.role, piece.author, row["at"]),
            )
            touched.add(int(added.scalar_one()))
        extra = row["extra"] if _is_object(row["extra"]) else b"{}"
        connection.exec_driver_sql(
            "UPDATE memories SET content = ?, content_hash = ?, extra = ?, updated_at = ?,"
            " version = version + 1 WHERE id = ?",
            (content, hash_of(content), bytes(extra).decode(), self.clock.now_ms(), row["id"]),
        )
        refresh(connection, self.indexing, touched | neighbours(connection, touched))

    def give_up(self, connection: Connection, ids: Sequence[int]) -> int:
        """Take out passages that still hold the placeholder; how many."""
        lost = [
            int(place["id"])
            for identifier in ids
            for place in connection.exec_driver_sql(_PASSAGES, (identifier,)).mappings()
            if self._is_placeholder(connection, identifier, place)
        ]
        if lost:
            now = self.clock.now_ms()
            remove_passages(connection, self.indexing, lost, actor=ACTOR, now=now)
        return len(lost)

    @staticmethod
    def _is_placeholder(connection: Connection, identifier: int, place: Any) -> bool:  # noqa: ANN401 - a row
        content = bytes(_row(connection, identifier)["content"]).decode()
        text = content[place["char_start"] : place["char_end"]]
        return text == PLACEHOLDER and place["text_hash"] == _DAMAGED_HASH.encode()

    def _event(self, connection: Connection, identifier: int, op: str) -> None:
        connection.exec_driver_sql(
            "INSERT INTO memory_events (memory_id, op, actor, at) VALUES (?, ?, ?, ?)",
            (identifier, op, ACTOR, self.clock.now_ms()),
        )


def _row(connection: Connection, identifier: int) -> Any:  # noqa: ANN401 - a row
    return connection.exec_driver_sql(_MEMORY, (identifier,)).mappings().one()


def _is_object(data: bytes | None) -> bool:
    try:
        return isinstance(json.loads(data or b""), dict)
    except ValueError:
        return False


def _kept(connection: Connection, identifier: int) -> dict[str, object]:
    """A row as it is, for the quarantine; bytes that are no text in base 64."""
    row = _row(connection, identifier)
    values = {name: _shown(value) for name, value in row.items()}
    places = connection.exec_driver_sql(_PASSAGES, (identifier,)).mappings().all()
    passages = [{name: _shown(value) for name, value in place.items()} for place in places]
    return {"what": describe(connection, identifier), "memory": values, "passages": passages}


def _shown(value: object) -> object:
    if not isinstance(value, bytes):
        return value
    try:
        return value.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(value).decode()}


def _texts_in(backup: Path, rows: Sequence[Any]) -> dict[int, str]:
    """Texts of a backup that have the hash that the damaged rows should have."""
    found: dict[int, str] = {}
    try:
        verify(backup)
        connection = connect(backup, "mode=ro", "immutable=1")
    except (CloxyError, driver.Error):
        return found
    try:
        for row in rows:
            uid = bytes(row["uid"]).decode("utf-8", "replace")
            query = "SELECT content FROM memories WHERE id = ? AND uid = ?"
            kept = connection.execute(query, (row["id"], uid)).fetchone()
            if kept and hash_of(kept[0]).encode() == row["content_hash"]:
                found[row["id"]] = kept[0]
    except driver.Error:
        return found
    finally:
        connection.close()
    return found
