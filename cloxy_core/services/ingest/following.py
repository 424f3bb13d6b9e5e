"""Where to go on reading a file that was read before.

Nothing is trusted but the bytes: a file is the one that was read if its first bytes and the bytes
just before the offset are the same. Sizes, times and inode numbers only say whether it is worth
looking.
"""

import hashlib
from dataclasses import dataclass, replace

from cloxy_core.services.write.batch import Cursor
from cloxy_hookspecs import Source, SourceItem

HEAD_BYTES = 1024
BEFORE_BYTES = 1024
QUIET_NS = 30 * 1_000_000_000


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
    if not same or cursor.state == "failed":
        return False
    # An unfinished last line is taken once the file has been quiet for a while.
    return cursor.state != "waiting" or not is_quiet(item, now_ns)


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
    edited = item.size == cursor.size and item.mtime_ns != cursor.mtime_ns
    edited = edited and cursor.state not in ("waiting", "failed")
    if force or edited or not continues(source, item, cursor):
        return Start(_restart(cursor), reread=True)
    return Start(cursor, reread=False)


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


def mark(source: Source, item: SourceItem, cursor: Cursor) -> Cursor:
    """The cursor with the hashes that recognise the file at its offset.

    Raises:
        OSError: the file cannot be read.
    """
    head = source.excerpt(item, 0, min(HEAD_BYTES, cursor.byte_offset))
    start = max(0, cursor.byte_offset - BEFORE_BYTES)
    before = source.excerpt(item, start, cursor.byte_offset)
    return replace(
        cursor,
        head=digest(head) if head else "",
        head_len=len(head),
        before_hash=digest(before) if before else "",
    )


def digest(data: bytes) -> str:
    """SHA-256, hexadecimal."""
    return hashlib.sha256(data).hexdigest()


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
