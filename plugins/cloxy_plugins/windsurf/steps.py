"""What was said in a transcript: one step a line, most of them uses of tools."""

from collections import Counter
from collections.abc import Iterator
from pathlib import PurePath

from cloxy_hookspecs import Author, Role
from cloxy_hookspecs.logs.documents import Document
from cloxy_hookspecs.logs.json_lines import LineRecovery, decode_line
from cloxy_hookspecs.logs.json_values import Record, is_record, record_of, text_of, words_of
from cloxy_hookspecs.logs.turns import MadeUids, damaged, message, session, unknown

_NANOSECONDS = 1_000_000
_KIND_LIMIT = 60
_NO_KIND = "(no type)"
# Kind of step: the field of its words, whose turn it was, and who spoke.
_SPOKEN: dict[str, tuple[str, Role, Author]] = {
    "user_input": ("user_response", "user", "human"),
    "planner_response": ("response", "assistant", "assistant"),
}


def _is_step(value: Record) -> bool:
    kind = value.get("type")
    return isinstance(kind, str) and (kind in value or "status" in value)


_RECOVERY = LineRecovery(("type", "status", *_SPOKEN), _is_step)


def records_of(document: Document) -> Iterator[Record]:
    """Records of the turns of a transcript.

    A step has neither id nor time: ids are made of the words, and the time is that of the file.
    """
    key = PurePath(document.path).stem
    at = document.mtime_ns // _NANOSECONDS
    uids = MadeUids()
    kinds: Counter[str] = Counter()
    spoken = False
    yield session(key)
    for step in _steps(document.data):
        if step.get("kind") == "damaged":
            yield step
            continue
        kind = text_of(step, "type") or _NO_KIND
        kinds[kind[:_KIND_LIMIT]] += 1
        if _is_odd(step, kind):
            yield unknown(f"{kind[:_KIND_LIMIT]} of another form")
        if kind not in _SPOKEN:
            continue
        field, role, author = _SPOKEN[kind]
        told = step.get(kind)
        text = told if isinstance(told, str) else words_of(record_of(told), field)
        if text.strip():
            spoken = True
            uid = uids.of(key, role, text)
            yield message(key, uid, role, author, text, at=at, approximate=True)
    for kind, number in kinds.items():
        # Kinds of tools are many. But if nothing is said, fields may have other names now.
        if kind == _NO_KIND or not spoken:
            yield unknown(kind, number)


def _is_odd(step: Record, kind: str) -> bool:
    """Whether a step tells no words where it should: what it is called is not what it holds.

    A message without words may be left empty; one that holds other things has them too.
    """
    if kind not in _SPOKEN:
        return any(each in step for each in _SPOKEN)
    told = step.get(kind)
    if is_record(told):
        return bool(told) and not isinstance(told.get(_SPOKEN[kind][0]), str)
    return not isinstance(told, str)


def _steps(data: bytes) -> Iterator[Record]:
    """The steps of all lines; for what is damaged, a record that says so."""
    for line in data.split(b"\n"):
        if not line.strip():
            continue
        step = decode_line(line)
        if step is not None:
            yield step
            continue
        found = _RECOVERY.recover(line)
        yield from found.records
        if found.damage:
            yield damaged(found.damage)
