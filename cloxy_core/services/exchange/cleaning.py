"""The same cleaning as for session logs, on what an import brings."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

from cloxy_core.services.echo import strip_echo
from cloxy_core.services.exchange.arriving import Batch
from cloxy_core.services.exchange.entries import MessageEntry, NoteEntry, SessionEntry
from cloxy_core.services.ingest.cleaning import clean_run
from cloxy_core.services.redaction import JsonValue, clean, redact_value
from cloxy_core.services.write.rows import text_hash
from cloxy_hookspecs import ParseResult


@dataclass(frozen=True, slots=True)
class CleanBatch:
    """What may be stored of a batch.

    Attributes:
        sessions: sessions, in order.
        messages: messages of which something is left, in order.
        notes: likewise notes.
        empty_messages: messages of which nothing is left.
        empty_notes: notes of which nothing is left.
        redactions: secrets replaced, by kind.
        bad: lines that could not be cleaned, and why.
    """

    agent: str
    sessions: Sequence[SessionEntry]
    messages: Sequence[MessageEntry]
    notes: Sequence[NoteEntry]
    empty_messages: int
    empty_notes: int
    redactions: Mapping[str, int]
    bad: Sequence[tuple[int, str]]


def clean_batch(batch: Batch) -> CleanBatch:
    """Take secrets, private parts and recalled text out of everything in a batch."""
    by_key = {entry.facts.key: entry.facts for entry in batch.sessions}
    said = [_with_uid(entry) for entry in batch.messages]
    run = clean_run(ParseResult(messages=[entry.message for entry in said], sessions=by_key))
    counts: Counter[str] = Counter(run.redactions)
    kept = {message.start: message for message in run.messages}
    messages = [
        replace(entry, message=kept[entry.line], source=_label(entry.source, counts))
        for entry in said
        if entry.line in kept
    ]
    sessions = [
        replace(entry, facts=run.facts[entry.facts.key], project=_label(entry.project, counts))
        for entry in batch.sessions
    ]
    notes: list[NoteEntry] = []
    bad = [(line.start, f"text: {line.reason}") for line in run.bad_lines]
    for note in batch.notes:
        try:
            cleaned = _note(note, counts)
        except (ValueError, RecursionError) as error:
            bad.append((note.line, f"metadata: {error}"))
            continue
        if cleaned is not None:
            notes.append(cleaned)
    return CleanBatch(
        agent=batch.agent,
        sessions=sessions,
        messages=messages,
        notes=notes,
        empty_messages=len(batch.messages) - len(messages) - len(run.bad_lines),
        empty_notes=len(batch.notes) - len(notes) - (len(bad) - len(run.bad_lines)),
        redactions=counts,
        bad=bad,
    )


def _with_uid(entry: MessageEntry) -> MessageEntry:
    """A message that lost its id gets one that is the same in every import."""
    if entry.named:
        return entry
    message = entry.message
    mark = "\0".join((entry.agent, message.session, str(message.at), message.text))
    return replace(entry, message=replace(message, uid=f"unnamed-{text_hash(mark)[:32]}"))


def _label(value: str | None, counts: Counter[str]) -> str | None:
    if not value:
        return None
    cleaned = clean(value)
    counts.update(cleaned.counts)
    return cleaned.text.strip() or None


def _note(note: NoteEntry, counts: Counter[str]) -> NoteEntry | None:
    """A note, clean; None when nothing is left of it.

    Raises:
        ValueError: its metadata is nested too deep.
    """
    metadata, found = redact_value(cast("JsonValue", dict(note.metadata)))
    text, _echoes = strip_echo(note.text)
    cleaned = clean(text)
    counts.update(found)
    counts.update(cleaned.counts)
    if not cleaned.text.strip():
        return None
    return replace(
        note,
        text=cleaned.text,
        source=_label(note.source, counts) or "manual:chunk0",
        project=_label(note.project, counts),
        metadata=cast("Mapping[str, object]", metadata),
    )
