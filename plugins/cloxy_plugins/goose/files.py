"""Files of sessions of Goose before 1.10: a line about the session, then a line for each message.

The file was written anew after every turn. Sessions of very old versions lack the first line.
"""

from collections.abc import Iterator, Mapping

from cloxy_hookspecs.logs.documents import Document
from cloxy_hookspecs.logs.json_lines import LineRecovery
from cloxy_hookspecs.logs.json_values import Record, record_of, text_of, usable_id
from cloxy_hookspecs.logs.turns import damaged
from cloxy_hookspecs.logs.whole_lines import records_in
from cloxy_plugins.goose.recipes import prompt_of
from cloxy_plugins.goose.turns import Head, Said, records

_FIRST_FIELDS = ("id", "role", "created", "working_dir", "description", "schedule_id")


def records_of(document: Document) -> Iterator[Record]:
    """Records of turns of a file; the session's id is the file's name.

    Args:
        document: the file.
    """
    key = usable_id(document.path.stem)
    if key is None:
        yield damaged("the name of the file is no id")
        return
    recovery = LineRecovery(_FIRST_FIELDS, _is_message)
    problems: list[Record] = []
    lines = list(records_in(document.data, recovery, problems))
    head = Head(key)
    if lines and _is_head(lines[0]):
        head = _head(key, lines.pop(0))
    yield from records(head, map(_said, lines))
    yield from problems


def _head(key: str, line: Record) -> Head:
    return Head(
        key,
        kind="scheduled" if line.get("schedule_id") else "user",
        cwd=text_of(line, "working_dir"),
        title=text_of(line, "description") or "",
        recipe=prompt_of(line.get("recipe")),
    )


def _said(line: Record) -> Said:
    shown = record_of(line.get("metadata"))
    return Said(
        line.get("id"),
        line.get("role"),
        line.get("content"),
        line.get("created"),
        shown=shown.get("userVisible") is not False,
        used=shown.get("agentVisible") is not False,
    )


def _is_head(line: Mapping[str, object]) -> bool:
    told = "working_dir" in line or "description" in line
    return told and "role" not in line and "content" not in line


def _is_message(record: Record) -> bool:
    return isinstance(record.get("role"), str) and isinstance(record.get("content"), list)
