"""From a note to records of turns: a session for the note, a message for each section."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from cloxy_hookspecs.logs.documents import Document
from cloxy_hookspecs.logs.json_values import Record
from cloxy_hookspecs.logs.titles import NAMED, title_of_name
from cloxy_hookspecs.logs.turns import MadeUids, damaged, message, session
from cloxy_plugins.notes.dates import day_in, moment_of
from cloxy_plugins.notes.front import Front, front_of
from cloxy_plugins.notes.sections import Section, names_of, sections_of

_MILLISECOND = 1_000_000
_PICTURE = re.compile(r"!\[([^\]\n]{0,200})\]\(\s{0,9}<?data:[^()\n]*\)")
_TAG = re.compile(r"[^\w/-]+")
_TAGS = 50
_TAG_LIMIT = 100
_DATES = ("date", "created", "created_at", "updated", "modified")


def records_of(document: Document) -> Iterator[Record]:
    """Records of a note."""
    text, losses = _text_of(document.data)
    for loss in losses:
        yield damaged(loss, quiet=True)
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    front = front_of(lines)
    sections = sections_of(lines[front.lines :])
    told = list(_Telling(document, front, sections).records())
    if told:
        key = _key_of(document.path)
        title = _title_of(document.path, front, sections)
        # No conversation: lists of those that people held leave it out.
        yield session(key, cwd=str(document.root), title=title, rank=NAMED, program=True)
        yield from told


class _Telling:
    """One note on the way to records."""

    def __init__(self, document: Document, front: Front, sections: Sequence[Section]) -> None:
        self._key = _key_of(document.path)
        self._front = front
        self._sections = sections
        self._uids = MadeUids()
        self._written = _written(document.path, front)
        self._changed = document.mtime_ns // _MILLISECOND

    def records(self) -> Iterator[Record]:
        """A message for each section that says something."""
        tags = _tags_of(self._front)
        for section in self._sections:
            # Counted before it is left out: that it is empty now changes no other's id.
            uid = self._uids.of(self._key, "note", *names_of(section))
            if section.body:
                text = _PICTURE.sub(_mark, section.text)
                yield self._message(uid, f"{tags}\n\n{text}" if tags else text, section)
                tags = ""

    def _message(self, uid: str, text: str, section: Section) -> Record:
        own = _day_of(section)
        at = self._written if own is None else own
        return message(
            self._key,
            uid,
            "note",
            "human",
            text,
            at=self._changed if at is None else at,
            approximate=at is None,
        )


def _key_of(path: Path) -> str:
    """The key of a note's session: it says which file it is, and begins with no slash."""
    return f"note:{path}"


def _text_of(data: bytes) -> tuple[str, Sequence[str]]:
    """The text of a file, and what could not be read of it."""
    losses: list[str] = []
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        text = data.decode("utf-16", "replace")
        lost = text.count("\ufffd")
    else:
        text = data.decode("utf-8", "replace").removeprefix("\ufeff")
        lost = text.count("\ufffd") - data.count("\ufffd".encode())
    if lost > 0:
        losses.append(f"{lost} bytes are no text")
    if "\0" in text:
        losses.append("zero bytes")
        text = text.replace("\0", "")
    return text, losses


def _title_of(path: Path, front: Front, sections: Sequence[Section]) -> str:
    """The title that the note says it has, else its first heading, else its name."""
    first = next((section.path for section in sections if section.path), ())
    heading = first[0] if first else ""
    return title_of_name(front.text("title") or heading or path.stem)


def _written(path: Path, front: Front) -> int | None:
    for name in _DATES:
        found = moment_of(front.values.get(name))
        if found is not None:
            return found
    return day_in(path.stem)


def _day_of(section: Section) -> int | None:
    """The day that the innermost heading with one tells, as in a diary."""
    for name in reversed(section.path):
        found = day_in(name)
        if found is not None:
            return found
    return None


def _tags_of(front: Front) -> str:
    names = [_TAG.sub("-", name.lstrip("#"))[:_TAG_LIMIT].strip("-") for name in
             front.texts("tags", "tag", "keywords")]  # fmt: skip
    return " ".join(f"#{name}" for name in dict.fromkeys(names[:_TAGS]) if name)


def _mark(picture: re.Match[str]) -> str:
    return f"[image: {' '.join(picture[1].split()) or 'unnamed'}]"
