"""Where to go on reading a file that was read before.

Nothing is trusted but the bytes: a file is the one that was read if its first bytes and the bytes
just before the offset are the same. Sizes, times and inode numbers only say whether it is worth
looking, and whether something in between may have been edited.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

from cloxy_core.services.write.batch import Cursor
from cloxy_hookspecs import RawLine, Source, SourceItem

HEAD_BYTES = 1024
BEFORE_BYTES = 1024
QUIET_NS = 30 * 1_000_000_000

_AT_REST = ("watched", "drift", "provisional")
_TRUSTED = ("watched", "drift", "reading")


@dataclass(frozen=True, slots=True)
class Start:
    """Where reading begins.

    Attributes:
        cursor: the cursor so far, at the offset to read from.
        reread: whether what comes may be known already, perhaps changed.
    """

    cursor: Cursor
    reread: bool


def is_unchanged(cursor: Cursor, item: SourceItem, now_ns: int) -> bool:
    """Whether there is nothing to read, told without opening the file."""
    same = (cursor.size, cursor.mtime_ns, cursor.identity) == (
        item.size,
        item.mtime_ns,
        item.identity,
    )
    if same and cursor.state == "waiting":
        # An unfinished last line is taken once the file has been quiet for a while.
        return not is_quiet(item, now_ns)
    return same and cursor.state in _AT_REST


def is_same_version(cursor: Cursor, item: SourceItem) -> bool:
    """Whether a thing that is rewritten in place is the one that was read to its end."""
    same = (cursor.size, cursor.mtime_ns, cursor.identity) == (
        item.size,
        item.mtime_ns,
        item.identity,
    )
    return same and cursor.state in _AT_REST


def start_anew(item: SourceItem, cursor: Cursor | None) -> Start:
    """Where reading of a thing that is rewritten in place begins: at its start."""
    if cursor is None:
        return Start(fresh_cursor(item), reread=False)
    return Start(_restart(cursor), reread=True)


def is_quiet(item: SourceItem, now_ns: int) -> bool:
    """Whether nobody has written to the file for a while."""
    return now_ns - item.mtime_ns > QUIET_NS


def fresh_cursor(item: SourceItem) -> Cursor:
    """The cursor of a file that was never read."""
    return Cursor(item.uri, item.identity, 0, item.size, item.mtime_ns)


def find_start(source: Source, item: SourceItem, cursor: Cursor | None, *, force: bool) -> Start:
    """Decide where to read from. Reads at most two kilobytes of the file.

    Args:
        source: what reads it.
        item: the file as it is now.
        cursor: the stored cursor, or None.
        force: read from the start whatever the cursor says.

    Raises:
        OSError: the file cannot be read.
    """
    if cursor is None:
        return Start(fresh_cursor(item), reread=False)
    if force or _may_be_edited(item, cursor) or not continues(source, item, cursor):
        return Start(_restart(cursor), reread=True)
    # Whatever interrupted the reading, a last line may have been taken before it was finished.
    return Start(cursor, reread=cursor.state not in _TRUSTED)


def continues(source: Source, item: SourceItem, cursor: Cursor) -> bool:
    """Whether the file still begins with what was read of it."""
    if item.size < cursor.byte_offset:
        return False
    if not cursor.head_len:
        return cursor.byte_offset == 0
    if digest(source.excerpt(item, 0, cursor.head_len)) != cursor.head:
        return False
    start = max(0, cursor.byte_offset - BEFORE_BYTES)
    return digest(source.excerpt(item, start, cursor.byte_offset)) == cursor.before_hash


def mark(source: Source, item: SourceItem, cursor: Cursor, lines: Sequence[RawLine]) -> Cursor:
    """The cursor with the hashes that recognise the file at its offset.

    They are taken from the lines that were read, so that nothing that happens to the file
    meanwhile can be mistaken for what was read; only what lies before the lines is read again.

    Args:
        source: what reads it.
        item: the file.
        cursor: the cursor, at the end of the lines; its hashes are those before the lines.
        lines: whole lines that were just read, perhaps without empty ones.

    Raises:
        OSError: the file cannot be read.
    """
    end = cursor.byte_offset
    length = min(BEFORE_BYTES, end)
    before = _last_bytes(lines, length, end)
    if before is None:
        before = source.excerpt(item, end - length, end)
    marked = replace(cursor, before_hash=digest(before))
    length = min(HEAD_BYTES, end)
    if length == cursor.head_len:
        return marked
    head = _first_bytes(lines, length)
    if head is None:
        head = source.excerpt(item, 0, length)
    return replace(marked, head=digest(head), head_len=len(head))


def digest(data: bytes) -> str:
    """SHA-256, hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def _may_be_edited(item: SourceItem, cursor: Cursor) -> bool:
    """Whether the part that was read may be another: written without growth, or replaced."""
    rewritten = item.size == cursor.size and item.mtime_ns != cursor.mtime_ns
    return rewritten or not _same_file(item.identity, cursor.identity)


def _same_file(one: str, other: str) -> bool:
    """Whether two identities name one file; a device may have another number after a restart."""
    return one.rpartition(":")[2] == other.rpartition(":")[2]


def _first_bytes(lines: Sequence[RawLine], length: int) -> bytes | None:
    """The first bytes of a file, if lines hold them all."""
    parts: list[bytes] = []
    position = 0
    for line in lines:
        if position >= length:
            break
        content = _content(line)
        if content is None or line.start != position:
            return None
        parts.append(content)
        position = line.end
    return b"".join(parts)[:length] if position >= length else None


def _last_bytes(lines: Sequence[RawLine], length: int, end: int) -> bytes | None:
    """The bytes before an offset, if lines hold them all."""
    parts: list[bytes] = []
    position = end
    for line in reversed(lines):
        if position <= end - length:
            break
        content = _content(line)
        if content is None or line.end != position:
            return None
        parts.append(content)
        position = line.start
    return b"".join(reversed(parts))[-length:] if position <= end - length else None


def _content(line: RawLine) -> bytes | None:
    """A line as it stands in the file; None when that is not known."""
    ending = {1: b"\n", 2: b"\r\n"}.get(line.end - line.start - len(line.data))
    return None if ending is None else line.data + ending


def _restart(cursor: Cursor) -> Cursor:
    return replace(
        cursor,
        byte_offset=0,
        head="",
        head_len=0,
        before_hash="",
        parser_state={},
        records=0,
        messages=0,
        bad_lines=0,
    )
