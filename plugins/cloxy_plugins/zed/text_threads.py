"""Text threads: a text that is edited freely, and where in it each turn begins.

Places are counted in bytes of UTF-8. What commands put in, such as bodies of files, and what a
model thought are told as ranges of the text. A turn keeps its number however its words are edited.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cloxy_hookspecs import Author, Role
from cloxy_hookspecs.logs import turns
from cloxy_hookspecs.logs.documents import Document
from cloxy_hookspecs.logs.json_values import (
    Record,
    decode,
    id_of,
    is_record,
    list_of,
    record_of,
    usable_id,
    words_of,
)
from cloxy_hookspecs.logs.titles import LISTED, title_of_name
from cloxy_plugins.zed.words import kind_of

_SUFFIX = ".zed.json"
_SECTIONS = ("slash_command_output_sections", "thought_process_output_sections")
_NUMBER = re.compile(r" - \d+\Z")
_NANOSECONDS = 1_000_000


@dataclass(frozen=True, slots=True)
class _Turn:
    """A turn.

    Attributes:
        start: where its text begins, bytes.
        role: whose it is.
        number: its id; None when it has none.
    """

    start: int
    role: object
    number: str | None


def text_thread_records(document: Document) -> Iterator[Record]:
    """Records of a text thread; of one without a word only what could not be read."""
    if not document.data.strip():
        yield turns.damaged("the file is empty", quiet=True)
        return
    try:
        value = decode(document.data)
    except ValueError:
        yield turns.damaged("the file is not JSON")
        return
    if not is_record(value) or not isinstance(value.get("text"), str):
        yield turns.damaged("the file holds no text thread")
        return
    name = document.path.name.removesuffix(_SUFFIX)
    key = id_of(value, "id") or usable_id(name) or "unknown"
    said: list[tuple[_Turn, str]] = []
    for turn, text in _texts(value):
        if turn is None:
            yield turns.damaged("a turn has no known form")
        elif turn.role in ("user", "assistant"):
            said.append((turn, text))
        elif turn.role != "system":
            yield turns.unknown(f"turn of role {kind_of(turn.role)}")
    while said and said[-1][0].role == "user":
        # Nobody answers to it yet: it was typed, but not sent.
        said.pop()
    if any(text for _turn, text in said):
        yield from _records(key, said, value, document.mtime_ns // _NANOSECONDS, name)


def _records(
    key: str, said: Sequence[tuple[_Turn, str]], value: Record, written: int, name: str
) -> Iterator[Record]:
    title = title_of_name(words_of(value, "summary") or _NUMBER.sub("", name))
    yield turns.session(key, title=title or None, rank=LISTED if title else 0)
    uids = turns.MadeUids()
    for turn, text in said:
        if not text:
            continue
        role: Role = "user" if turn.role == "user" else "assistant"
        author: Author = "human" if turn.role == "user" else "assistant"
        uid = uids.of(key, turn.number) if turn.number else uids.of(key, role, text)
        yield turns.message(key, uid, role, author, text, at=written, approximate=True)


def _texts(value: Record) -> Iterator[tuple[_Turn | None, str]]:
    """Turns with their words, without what stands in ranges that nobody wrote."""
    text = str(value["text"]).encode("utf-8", "replace")
    found = [_turn(each, value) for each in list_of(value.get("messages"))]
    known = sorted((each for each in found if each is not None), key=lambda turn: turn.start)
    yield from ((None, "") for each in found if each is None)
    if text.strip() and not known:
        yield None, ""
    hidden = _ranges(value)
    starts = [start for start, _end in hidden]
    for number, turn in enumerate(known):
        end = known[number + 1].start if number + 1 < len(known) else len(text)
        kept, place = [], turn.start
        for start, stop in hidden[max(0, bisect_right(starts, turn.start) - 1) :]:
            if start >= end:
                break
            kept.append(text[place : max(place, start)])
            place = max(place, min(stop, end))
        kept.append(text[place:end])
        yield turn, b"".join(kept).decode("utf-8", "replace").strip()


def _turn(message: object, value: Record) -> _Turn | None:
    record = record_of(message)
    start = record.get("start")
    if not isinstance(start, int) or isinstance(start, bool) or start < 0:
        return None
    about = record.get("metadata")
    if about is None:
        # Until 2024 the roles were told apart from the places.
        about = record_of(value.get("message_metadata")).get(str(record.get("id")))
    return _Turn(start, about.get("role"), _number(record.get("id"))) if is_record(about) else None


def _number(value: object) -> str | None:
    """The id of a turn: a number, or since 2025 a number with that of a person who shares it."""
    record = record_of(value)
    number, person = (record.get("value"), record.get("replica_id")) if record else (value, 0)
    if type(number) is not int or type(person) is not int:
        return None
    return f"turn {number}" + (f" of {person}" if person else "")


def _ranges(value: Record) -> Sequence[tuple[int, int]]:
    """Ranges of the text, sorted, without those that lie in others."""
    found = []
    for name in _SECTIONS:
        for section in list_of(value.get(name)):
            place = record_of(record_of(section).get("range"))
            start, end = place.get("start"), place.get("end")
            if type(start) is int and type(end) is int and 0 <= start < end:
                found.append((start, end))
    merged: list[tuple[int, int]] = []
    for start, end in sorted(found):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged
