"""Outputs as text for a model: plain here; the door puts a fence around it.

A field never leaves its line, and a text cannot begin a line as an item of ours begins.
"""

import re
from collections.abc import Iterable
from datetime import datetime

from cloxy_plugins.memory.arguments import one_line
from cloxy_plugins.memory.models import (
    DeletedOutput,
    ErasedOutput,
    ForgetOutput,
    HitOutput,
    IngestConvosOutput,
    IngestTextOutput,
    MemoryOutput,
    ProjectOutput,
    ProjectsOutput,
    RecallOutput,
    ReindexOutput,
    SessionOutput,
)

SHORT_KEY = 8
"""Characters of a session's key that stand in for a title, as in headers."""
OWN = "(left out: what Cloxy's own model answered is not told to a model again)"

NOTHING = "No relevant memories were found."

_ITEM = re.compile(r"^(?=#\d+ \[)", re.MULTILINE)
_SPEAKERS = {
    "user": "the user",
    "assistant": "the assistant",
    "summary": "a summary",
    "note": "a note",
}
_SLASHES = re.compile(r"[\\/]+")


def recalled(output: RecallOutput) -> str:
    """What was found, best first, each with date, place, score and id; or that nothing was."""
    parts = [_hit(hit) for hit in output.results] or [NOTHING]
    parts += [f"Note: {one_line(note)}" for note in output.notes]
    return "\n\n".join(parts)


def remembered(output: IngestTextOutput) -> str:
    """What was stored."""
    ids = ", ".join(str(id_) for id_ in output.ids)
    known = output.total_chunks - output.chunks_stored
    more = f"; {known} known already" if known else ""
    return f"Stored {_count(output.chunks_stored, 'new memory', 'new memories')}{more} (ids: {ids})"


def deleted(output: DeletedOutput) -> str:
    """What was forgotten."""
    words = f"Deleted memory {output.deleted}"
    copies = output.memories - 1
    if copies > 0:
        words += f" and {_count(copies, 'copy', 'copies')} of it"
    return "\n".join([words, *_still(output)])


def source_deleted(output: ForgetOutput) -> str:
    """What was forgotten of a source, or would be."""
    count = _count(output.deleted, "memory", "memories")
    source = one_line(output.source_prefix)
    if not output.dry_run:
        return "\n".join([f"Deleted {count} of the source {source}", *_still(output)])
    if not output.deleted:
        return f"There is nothing of the source {source}"
    return (
        f"{count} of the source {source} would be deleted; nothing was yet. To delete, call "
        f"again with confirm_count={output.deleted}, after the user has agreed"
    )


def projects(output: ProjectsOutput) -> str:
    """One line a project."""
    return "\n".join(_project(project) for project in output.projects) or "There are no projects."


def ingested(output: IngestConvosOutput) -> str:
    """What a pass did."""
    lines = [
        f"{_count(output.files_found, 'file', 'files')} found, {output.files_processed} read, "
        f"{output.files_skipped} without change",
        f"{_count(output.messages_added, 'new message', 'new messages')} in "
        f"{_count(output.chunks_stored, 'new memory', 'new memories')}, "
        f"{output.chunks_duplicate} known already",
    ]
    lines += [f"failed: {one_line(e.file)}: {one_line(e.error)}" for e in output.errors]
    return "\n".join(lines)


def reindexed(output: ReindexOutput) -> str:
    """The rebuilt indexes."""
    sizes = ", ".join(f"{name} {size}" for name, size in sorted(output.indexes.items()))
    return f"Rebuilt every index (passages: {sizes})"


def memory(output: MemoryOutput) -> str:
    """One memory as it stands."""
    head = _head(output.ts_start, output.project, output.title, output.session_id)
    where = _where(output.source, output.session_id, output.roles, output.authors)
    return f"{head} (id {output.id}) {where}\n{_told(output)}"


def _told(output: MemoryOutput) -> str:
    """What a model may read of a memory: not what our own model answered."""
    return OWN if "own" in output.authors else _quoted(output.content)


def session(output: SessionOutput) -> str:
    """A stretch of a conversation."""
    title = one_line(output.title) if output.title else "no title"
    head = f"Session {one_line(output.id)} of {output.agent}: {title}"
    if output.project:
        head += f"\nproject {one_line(output.project)}"
    head += f"\nfrom {_local(output.started_at)} to {_local(output.ended_at)}"
    parts = [head]
    parts += [
        f"[{_local(item.ts_start)}] (id {item.id})\n{_told(item)}" for item in output.memories
    ]
    if output.next is not None:
        parts.append(f"(It goes on: read it from {output.next}.)")
    return "\n\n".join(parts)


def _still(output: ErasedOutput) -> Iterable[str]:
    """Where forgotten text still is, a line each."""
    if output.pending:
        reason = f": {one_line(output.pending_reason)}" if output.pending_reason else ""
        yield f"Pending: bytes of it are still in Cloxy's own files{reason}"
    for held in output.still_in:
        yield f"Still in the {held.kind} {one_line(held.path)}"


def _hit(hit: HitOutput) -> str:
    title = hit.metadata.get("title")
    head = _head(
        hit.ts_start, hit.project, title if isinstance(title, str) else None, hit.session_id
    )
    content = hit.content.removeprefix(hit.header).removeprefix("\n") if hit.header else hit.content
    roles = dict.fromkeys(passage.role for passage in hit.passages)
    authors = dict.fromkeys(passage.author for passage in hit.passages)
    where = _where(hit.source, hit.session_id, roles, authors)
    return f"#{hit.rank} {head} (score {hit.score:.3f}, id {hit.id}) {where}\n{_quoted(content)}"


def _head(at: str | None, project: str | None, title: str | None, key: str | None) -> str:
    """`[2026-05-08 15:56 · shop · title]`, in the zone of this machine."""
    folder = next((part for part in reversed(_SLASHES.split(project or "")) if part), "")
    when = _local(at) if at else ""
    parts = [when, one_line(folder), one_line(title or "") or (key or "")[:SHORT_KEY]]
    return f"[{' · '.join(part for part in parts if part) or 'no date'}]"


def _where(source: str, session: str | None, roles: Iterable[str], authors: Iterable[str]) -> str:
    """Where a memory is from, and whose words it holds."""
    parts = [f"from {one_line(source)}"]
    if session:
        parts.append(f"session {one_line(session)}")
    if "subagent" in set(authors):
        parts.append("a sub-agent")
    else:
        parts.append(" and ".join(_SPEAKERS.get(role, role) for role in roles))
    return ", ".join(part for part in parts if part)


def _project(project: ProjectOutput) -> str:
    span = f"{_local(project.first_seen)[:10]} → {_local(project.last_seen)[:10]}"
    return (
        f"{one_line(project.project)}: {_count(project.chunks, 'memory', 'memories')}, "
        f"{_count(project.sessions, 'session', 'sessions')}, {span}"
    )


def _local(at: str | None) -> str:
    """An instant as people of this machine write it, to the minute."""
    if at is None:
        return "unknown"
    try:
        return datetime.fromisoformat(at).astimezone().strftime("%Y-%m-%d %H:%M")
    except (ValueError, OverflowError, OSError):
        return at


def _quoted(text: str) -> str:
    """A text in which no line begins as an item does."""
    return _ITEM.sub(r"\\", text)


def _count(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"
