"""The facts of a session, from the file that lies beside its log.

That file is written anew with each turn. Of it only named fields are taken.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from cloxy_hookspecs import LogReader
from cloxy_hookspecs.logs.instants import instant
from cloxy_hookspecs.logs.json_values import (
    Record,
    decode,
    id_of,
    is_record,
    list_of,
    record_of,
    text_of,
    usable_id,
)
from cloxy_hookspecs.logs.titles import title_of_name
from cloxy_plugins.kiro.places import facts_beside
from cloxy_plugins.kiro.words import model_in

MOST = 64 << 20
"""Bytes of the largest file of facts that is read."""

FAR = 1 << 53
"""A point in time that is later than all; the parser judges what is plausible."""

_PLACEHOLDERS = frozenset({"new session", "new chat", "untitled", "untitled session"})


@dataclass(frozen=True, slots=True)
class Card:
    """Facts of a session.

    Attributes:
        cwd: working directory.
        title: its title.
        parent: session that started it, or that it was gone back from.
        created: when it was begun, milliseconds.
        model: model that was chosen last.
        ends: when a turn ended, by the id of its last message.
        problem: what could not be read of the file.
    """

    cwd: str | None = None
    title: str | None = None
    parent: str | None = None
    created: int | None = None
    model: str | None = None
    ends: Mapping[str, object] = field(default_factory=dict[str, object])
    problem: str | None = None


def card_of(reader: LogReader, root: Path, log: Path) -> Card:
    """Facts beside a log; without such a file there are none.

    Args:
        reader: opens it.
        root: folder below which it lies.
        log: path of the log.
    """
    try:
        data = reader.content(root, facts_beside(log), MOST)
    except FileNotFoundError:
        return Card()
    except OSError:
        return Card(problem="the facts beside it cannot be read")
    if not data.strip():
        return Card()
    try:
        value = decode(data)
    except ValueError:
        return Card(problem="the facts beside it are not JSON")
    return card_in(value) if is_record(value) else Card(problem="the facts beside it are no record")


def card_in(facts: Record) -> Card:
    """The facts in a record of either form."""
    state = record_of(facts.get("session_state"))
    paths = [each for each in list_of(facts.get("workspacePaths")) if isinstance(each, str)]
    chosen = record_of(record_of(state.get("rts_model_state")).get("model_info"))
    turns = record_of(state.get("conversation_metadata")).get("user_turn_metadatas")
    created = facts.get("created_at", facts.get("createdAt"))
    return Card(
        cwd=text_of(facts, "cwd") or text_of({"path": paths[0] if paths else None}, "path"),
        title=title_in(facts),
        parent=id_of(facts, "parent_session_id") or id_of(facts, "parentSessionId"),
        created=instant(created, FAR),
        model=model_in(chosen, "model_id", "model_name") or model_in(facts, "modelId"),
        ends=dict(_ends(turns)),
    )


def title_in(facts: Record) -> str | None:
    """The title that a record has; a placeholder is none."""
    title = text_of(facts, "title")
    if title is None or title.strip().lower() in _PLACEHOLDERS:
        return None
    return title_of_name(title) or None


def _ends(turns: object) -> list[tuple[str, object]]:
    found: list[tuple[str, object]] = []
    for each in list_of(turns):
        turn = record_of(each)
        ids = [usable_id(value) for value in list_of(turn.get("message_ids"))]
        if ids and ids[-1] is not None:
            found.append((ids[-1], turn.get("end_timestamp")))
    return found
