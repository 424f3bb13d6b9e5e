"""Stored texts and the places in them, compared with the hashes that were stored beside them."""

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection

from cloxy_core.runtime.wording import counted
from cloxy_core.services.doctor.findings import (
    SHOWN_DETAILS,
    SHOWN_IDS,
    Examined,
    Problem,
    Tell,
    listed,
)

PART = "texts"
TEXT_PROBLEMS = (
    "text-changed",
    "passage-changed",
    "passage-outside",
    "memory-without-passages",
    "text-uncovered",
    "unreadable-extra",
)
SLICE = 200
Range = tuple[int, int]
_REPAIR = (
    "gets the text back from a backup or from the session log; what is in neither is moved "
    "to the quarantine folder and found no more"
)

_LEAD = re.compile(r"\s*(?:[^\n]{0,24}: )?")
"""What stands between passages of a memory: white space, and who speaks."""

# As bytes, since damaged text may not decode; `deleted` rows have given up their text.
_MEMORIES = """
    SELECT id, CAST(content AS BLOB), CAST(content_hash AS BLOB), CAST(extra AS BLOB), state
    FROM memories WHERE id > ? AND state <> 'deleted' ORDER BY id LIMIT ?
"""
_PASSAGES = """
    SELECT memory_id, id, char_start, char_end, CAST(text_hash AS BLOB) FROM passages
    WHERE memory_id > ? AND memory_id <= ? ORDER BY memory_id, ordinal, id
"""
_WHO = """
    SELECT CAST(m.source AS BLOB), CAST(s.uri AS BLOB), CAST(p.path AS BLOB)
    FROM memories m LEFT JOIN sources s ON s.id = m.source_id
    LEFT JOIN projects p ON p.id = m.project_id WHERE m.id = ?
"""
_STATES = "SELECT id, CAST(parser_state AS BLOB) FROM sources"


@dataclass(slots=True)
class Wrong:
    """Ids of what is wrong with texts: of memories, and the passages that were the reason."""

    memories: int = 0
    changed: list[int] = field(default_factory=list)
    lost_passages: list[int] = field(default_factory=list)
    uncovered: list[int] = field(default_factory=list)
    extras: list[int] = field(default_factory=list)
    outside: dict[int, int] = field(default_factory=dict)
    moved: dict[int, int] = field(default_factory=dict)

    @property
    def suspects(self) -> Sequence[int]:
        """Every memory that has to be mended."""
        return sorted(
            {
                *self.changed,
                *self.lost_passages,
                *self.uncovered,
                *self.extras,
                *self.outside.values(),
                *self.moved.values(),
            }
        )


def compare_texts(connection: Connection, tell: Tell) -> Wrong:
    """Compare every text and every place with its hash."""
    found = Wrong()
    for rows in _slices(connection):
        found.memories += len(rows)
        tell(f"texts: {found.memories:,} memories")
        places = _places(connection, rows[0][0] - 1, rows[-1][0])
        for identifier, content, expected, extra, state in rows:
            data = bytes(content or b"")
            whole = hashlib.sha256(data).hexdigest().encode() == expected
            if not whole:
                found.changed.append(identifier)
            if not _is_object(extra):
                found.extras.append(identifier)
            inside = places.get(identifier, [])
            if state == "active" and not inside:
                found.lost_passages.append(identifier)
            if whole:
                _compare_places(found, identifier, data, inside)
    return found


def _slices(connection: Connection) -> Iterator[Sequence[Any]]:
    last = 0
    while rows := connection.exec_driver_sql(_MEMORIES, (last, SLICE)).fetchall():
        yield rows
        last = rows[-1][0]


def _places(
    connection: Connection, after: int, last: int
) -> dict[int, list[tuple[int, int, int, bytes]]]:
    found: dict[int, list[tuple[int, int, int, bytes]]] = {}
    for memory, *place in connection.exec_driver_sql(_PASSAGES, (after, last)):
        found.setdefault(memory, []).append(tuple(place))
    return found


def _compare_places(
    found: Wrong, memory: int, data: bytes, places: Sequence[tuple[int, int, int, bytes]]
) -> None:
    text = data.decode("utf-8", "surrogateescape")
    sound = []
    for passage, start, end, expected in places:
        if not lies_inside(start, end, len(text)):
            found.outside[passage] = memory
        elif hash_of(text[start:end]).encode() != expected:
            found.moved[passage] = memory
        else:
            sound.append((start, end))
    if sound and len(sound) == len(places) and list(uncovered(text, sound)):
        found.uncovered.append(memory)


def uncovered(text: str, sound: Sequence[Range]) -> Iterator[Range]:
    """Parts of a text that belong to no passage although they are more than who speaks."""
    end = 0
    for start, stop in [*sorted(sound), (len(text), len(text))]:
        gap = text[end : max(start, end)]
        if not _LEAD.fullmatch(gap) or (start == len(text) and gap.strip()):
            yield end, start
        end = max(end, stop)


def lies_inside(start: object, end: object, length: int) -> bool:
    """Whether a place is one in a text of this length."""
    return isinstance(start, int) and isinstance(end, int) and 0 <= start <= end <= length


def hash_of(text: str) -> str:
    """SHA-256 of a text that may hold bytes which are no text."""
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def _is_object(data: bytes | None) -> bool:
    try:
        return isinstance(json.loads(data or b""), dict)
    except ValueError:
        return False


def examine_texts(connection: Connection, tell: Tell) -> Examined:
    """What is wrong with texts, places and notes in JSON."""
    found = compare_texts(connection, tell)
    problems = list(_problems(found, lambda ids: _who(connection, ids)))
    bad = [row[0] for row in connection.exec_driver_sql(_STATES) if not _is_object(row[1])]
    if bad:
        problems.append(
            Problem(
                name="unreadable-state",
                severity="error",
                message=f"what was noted of {counted(len(bad), 'session log')} is unreadable",
                count=len(bad),
                ids=tuple(bad[:SHOWN_IDS]),
                repair="has them read again from their start",
            )
        )
    return Examined(
        PART,
        f"{counted(found.memories, 'text')} {'is' if found.memories == 1 else 'are'} what was "
        "stored",
        tuple(problems),
    )


def _problems(found: Wrong, who: Callable[[Sequence[int]], tuple[str, ...]]) -> Iterator[Problem]:
    by_name: dict[str, tuple[Sequence[int], Sequence[int], str]] = {
        "text-changed": (
            found.changed,
            found.changed,
            "the text of {count} is not what was stored",
        ),
        "passage-outside": (
            list(found.outside),
            sorted(set(found.outside.values())),
            "{count} lie outside of their memory's text",
        ),
        "passage-changed": (
            list(found.moved),
            sorted(set(found.moved.values())),
            "{count} are not where they were stored",
        ),
        "memory-without-passages": (
            found.lost_passages,
            found.lost_passages,
            "{count} cannot be found, for lack of passages",
        ),
        "unreadable-extra": (
            found.extras,
            found.extras,
            "the extras of {count} are unreadable",
        ),
    }
    for name, (ids, memories, words) in by_name.items():
        if ids:
            kind = "passage" if name.startswith("passage") else "memory"
            many = "passages" if kind == "passage" else "memories"
            count = f"{counted(len(ids), kind, many)} ({listed(ids)})"
            yield Problem(
                name=name,
                severity="error",
                message=words.format(count=count),
                count=len(ids),
                ids=tuple(ids[:SHOWN_IDS]),
                details=who(memories[:SHOWN_DETAILS]),
                repair=_REPAIR,
            )


def _who(connection: Connection, ids: Sequence[int]) -> tuple[str, ...]:
    """What memories are, for people: label, project and file."""
    return tuple(f"memory {identifier}: {describe(connection, identifier)}" for identifier in ids)


def describe(connection: Connection, memory: int) -> str:
    """Where a memory comes from, in words."""
    row = connection.exec_driver_sql(_WHO, (memory,)).first()
    if row is None:
        return "unknown"
    source, uri, path = (bytes(part or b"").decode("utf-8", "replace") for part in row)
    parts = [source, f"project {path}" if path else "", f"from {uri}" if uri else ""]
    return ", ".join(filter(None, parts))
