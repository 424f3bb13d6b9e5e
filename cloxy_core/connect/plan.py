"""What `cloxy connect` would do to one file: found out first, shown, and only then done."""

import os
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Final, Literal

from cloxy_core.connect import files
from cloxy_core.connect.client import Client
from cloxy_core.connect.edits import Edit, apply, inverse
from cloxy_core.connect.entry import TRANSPORT_KEYS, Target, Values, is_ours, says_the_same
from cloxy_core.connect.errors import ConnectError, TextFault
from cloxy_core.connect.files import Content
from cloxy_core.connect.journal import Journal, Record, digest
from cloxy_core.connect.machine import Machine

_LEFT: Final = "it was left as it is"


class Action(StrEnum):
    """What is to be done."""

    ADD = "add"
    UPDATE = "update"
    REPLACE = "replace"
    SAME = "same"
    REMOVE = "remove"
    ABSENT = "absent"
    PRINT = "print"


CHANGES: Final = frozenset({Action.ADD, Action.UPDATE, Action.REPLACE, Action.REMOVE})


@dataclass(frozen=True, slots=True)
class Place:
    """One file of one client.

    Attributes:
        client: the client.
        scope: whether the file is the user's, or of a project.
        path: the file.
        inside: the project's folder, which links may not lead out of; None for the user's file.
        writable: whether the place is confirmed, so that it may be written.
    """

    client: Client
    scope: Literal["user", "project"]
    path: Path
    inside: Path | None
    writable: bool


@dataclass(frozen=True, slots=True)
class Request:
    """What is wanted.

    Attributes:
        name: name of the entry.
        target: how the client is to reach Cloxy.
        replace: whether an entry of that name that is not ours may be overwritten.
        url: address of the endpoint today; an entry that names it is ours.
    """

    name: str
    target: Target
    replace: bool = False
    url: str | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """One change, ready to be shown and done.

    Attributes:
        place: the file.
        action: what is to be done.
        content: the file as it was read.
        after: the text then; None when the file is to be deleted.
        edits: what is inserted; empty when the way back is not exact.
        record: what is to be remembered; None when nothing is.
        commands: the client's own commands that do it instead of a change of the file.
        notes: what a person should know.
        values: the entry.
    """

    place: Place
    action: Action
    content: Content
    after: str | None
    edits: tuple[Edit, ...] = ()
    record: Record | None = None
    commands: tuple[tuple[str, ...], ...] = ()
    notes: tuple[str, ...] = ()
    values: Values | None = None

    @property
    def changes(self) -> bool:
        """Whether something would be written."""
        return self.action in CHANGES


def place_of(client: Client, machine: Machine, project: Path | None) -> Place | None:
    """The file that counts for a client; None when it has none in a project.

    Raises:
        ConnectError: the home directory is not known.
    """
    if project is not None:
        if client.project_file is None:
            return None
        return Place(client, "project", project / client.project_file, project, writable=True)
    candidates = [Path(path).absolute() for path in client.user_files(machine)]
    there = [path for path in candidates if os.path.lexists(path)]
    likely = [path for path in candidates if os.path.isdir(path.parent)]  # noqa: PTH112 - never fails
    path = (there or likely or [candidates[client.fallback]])[0]
    return Place(client, "user", path, None, writable=machine.platform in client.confirmed)


def plan_connect(place: Place, request: Request, journal: Journal) -> Step:
    """What has to be done so that a client knows Cloxy.

    Raises:
        ConnectError: the file cannot be changed; the message names the file and the line.
    """
    content = files.read(place.path, inside=place.inside)
    try:
        return _connect(place, request, journal, content)
    except TextFault as fault:
        raise _refused(place, fault) from fault


def _connect(place: Place, request: Request, journal: Journal, content: Content) -> Step:
    written, name, text = place.client.format, request.name, content.text
    values = place.client.values(request.target)
    entries = written.entries(text)
    found = entries.get(name)
    notes = _notes(place, request, text, entries)
    step = Step(place, Action.SAME, content, text, notes=notes, values=values)
    if not place.writable:
        return replace(step, action=Action.PRINT)
    if found is None:
        return _adding(step, written.added(text, name, values), text)
    if says_the_same(found, values):
        return step
    record = journal.find(content.path, name)
    if not (is_ours(found, request.url) or _is_recorded(found, record)):
        if not request.replace:
            raise ConnectError(
                f"{place.path} has an entry {name!r} that is not of Cloxy",
                hint="choose another name with --name, or overwrite it with --replace",
            )
        after = written.replaced(text, name, values)
        return replace(step, action=Action.REPLACE, after=after)
    original = _original(content, record)
    if original is not None:
        # Nobody changed the file since: as if it were done for the first time.
        anew = _adding(step, written.added(original, name, values), original)
        before, folders = (record.before, record.folders) if record else (None, ())
        kept = anew.record and replace(anew.record, before=before, folders=folders)
        return replace(anew, action=Action.UPDATE, record=kept)
    kept = record and replace(record, after=None, edits=())
    after = written.updated(text, name, values)
    return replace(step, action=Action.UPDATE, after=after, record=kept)


def _adding(step: Step, edits: tuple[Edit, ...], text: str) -> Step:
    content = step.content
    after = apply(text, edits)
    container = not step.place.client.format.has_container(text)
    record = Record(digest(content.raw), digest(content.encoded(after)), edits, container, ())
    return replace(step, action=Action.ADD, after=after, edits=edits, record=record)


def plan_undo(place: Place, request: Request, journal: Journal) -> Step:
    """What has to be done so that a client's file is as it was without us.

    Raises:
        ConnectError: the file cannot be changed; the message names the file and the line.
    """
    content = files.read(place.path, inside=place.inside)
    try:
        return _undo(place, request, journal, content)
    except TextFault as fault:
        raise _refused(place, fault) from fault


def _undo(place: Place, request: Request, journal: Journal, content: Content) -> Step:
    written, name = place.client.format, request.name
    found = written.entries(content.text).get(name) if content.raw is not None else None
    if found is None:
        return Step(place, Action.ABSENT, content, content.text)
    if not place.writable:
        note = f"take the entry {name!r} out by hand"
        return Step(place, Action.PRINT, content, content.text, notes=(note,))
    record = journal.find(content.path, name)
    original = _original(content, record)
    if original is None and not (is_ours(found, request.url) or _is_recorded(found, record)):
        note = f"its entry {name!r} is not of Cloxy, and stays"
        return Step(place, Action.ABSENT, content, content.text, notes=(note,))
    after = original
    if after is None:
        container = record is not None and record.container
        after = written.removed(content.text, name, container=container)
    made = record is not None and record.before is None
    # A file of our own goes even if nothing is remembered, but not one that was there before.
    own = place.client.own_file and original is None
    gone = (made or own) and written.is_empty(after)
    return Step(place, Action.REMOVE, content, None if gone else after, record=record)


def _original(content: Content, record: Record | None) -> str | None:
    """The text as it was before us; None when the file was changed since."""
    if record is None or record.after is None or record.after != digest(content.raw):
        return None
    try:
        text = apply(content.text, inverse(record.edits))
    except ValueError:
        return None
    expected = record.before is None or record.before == digest(content.encoded(text))
    return text if expected else None


def _is_recorded(values: Values, record: Record | None) -> bool:
    """Whether what an entry says stands in what we once wrote."""
    if record is None:
        return False
    written = "".join(edit.inserted for edit in record.edits)
    said = [value for key in TRANSPORT_KEYS if isinstance(value := values.get(key), str)]
    return bool(said) and all(each in written for each in said)


def _notes(
    place: Place, request: Request, text: str, entries: dict[str, Values]
) -> tuple[str, ...]:
    notes = []
    warning = place.client.format.warning(text)
    if warning is not None:
        notes.append(f"{warning}{place.client.title} may not read the file")
    others = [key for key, value in entries.items() if key != request.name and is_ours(value)]
    if others:
        notes.append(f"Cloxy is there under another name too: {', '.join(others)}")
    return tuple(notes)


def _refused(place: Place, fault: TextFault) -> ConnectError:
    return ConnectError(
        f"{place.path}, line {fault.line}, column {fault.column}: {fault.reason}",
        hint=_LEFT,
    )
