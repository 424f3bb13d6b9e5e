"""The notes of basic-memory: a folder of Markdown files, of which its database is only an index.

Confirmed in its sources as they stood in 2026: a block of YAML with `title`, `type`, `permalink`,
perhaps `tags`, `created` and `modified`; in the body lines such as
`- [category] what is known #tag (where)` and `- relates_to [[Another note]] (why)`, and links
`[[Another note]]` in sentences. A time without an offset is local. The tables `entity`,
`observation`, `relation` and `project` of its `memory.db` are made from the files anew whenever it
likes; files are what is read.
"""

import os
import re
from collections.abc import Iterator
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import BinaryIO, Final

from cloxy_core.services.exchange.foreign_front_matter import FrontMatter, front_matter
from cloxy_core.services.exchange.foreign_limits import MIB, ForeignTrouble
from cloxy_core.services.exchange.foreign_memories import ForeignNote, TableReader, Told
from cloxy_core.services.exchange.foreign_values import moment, stated, text_of

NAME: Final = "basic-memory"
_SUFFIX: Final = ".md"
_MOST_BYTES: Final = 16 * MIB
_HEAD: Final = 16 * 1024
_DEEPEST: Final = 40
_LOOKED_AT: Final = 200
"""Files of a folder that are looked at to know whether it is one; the first notes lie near."""

_MOST_LINES: Final = 500
_IGNORED: Final = frozenset({"node_modules", "__pycache__", "venv"})
_SHOWN: Final = 5
_OBSERVATION: Final = re.compile(r"\s*[-*+]\s+\[(?P<category>[^\[\]()]+)\]\s+(?P<text>\S.*)")
_RELATION: Final = re.compile(
    r"\s*[-*+]\s+(?P<type>\"[^\"]+\"|'[^']+'|[^\s\[\]]+)\s+\[\[(?P<target>[^\[\]]+)\]\]"
    r"\s*(?:\((?P<context>[^()]*)\))?\s*"
)
_LINK: Final = re.compile(r"\[\[([^\[\]]+)\]\]")
_TAG: Final = re.compile(r"(?:^|\s)#([^\s#]+)")
_CONTEXT: Final = re.compile(r"(?P<text>.*\S)\s*\((?P<context>[^()]*)\)")
_CLOCK: Final = re.compile(r"\d{1,3}:\d{2}(?::\d{2})?(?:[.,]\d{1,3})?(?:\s+-\s+[\d:.,]+)?")
_CODE: Final = ("```", "~~~")


class BasicMemoryFolder:
    """Reads the files; see `FolderSystem`."""

    name = NAME

    def knows(self, folder: Path) -> bool:
        """Whether one of the first notes in it was written by basic-memory."""
        first = islice(_walk(folder, Told()), _LOOKED_AT)
        return any(path.suffix.lower() == _SUFFIX and _is_written_by_it(path) for path in first)

    def items(self, folder: Path, told: Told) -> Iterator[ForeignNote]:
        """A note for each Markdown file, by name."""
        for path in _walk(folder, told):
            if path.suffix.lower() != _SUFFIX:
                told.homeless["files that are no Markdown (left out)"] += 1
                continue
            place = _shown(path.relative_to(folder).as_posix())
            try:
                text, modified = _read(path)
            except OSError as error:
                told.pass_over(f"{place}: {error.strerror or 'it cannot be read'}")
                continue
            except ForeignTrouble as error:
                told.pass_over(f"{place}: {error}")
                continue
            yield from _note(folder, place, front_matter(text), modified, told)


class BasicMemoryDatabase:
    """Knows the index, to say where the notes are; see `DatabaseSystem`."""

    name = NAME

    def knows(self, database: TableReader) -> bool:
        """Whether it has the tables of the index."""
        return {"entity", "observation", "relation"} <= database.tables() and {
            *("permalink", "file_path", "title"),
        } <= database.columns("entity")

    def differs(self, database: TableReader) -> str | None:
        """Nothing.

        Raises:
            ForeignTrouble: always; it says where the files lie.
        """
        folders = _folders(database)
        where = f": {'; '.join(folders)}" if folders else ""
        raise ForeignTrouble(
            "it is only the index of basic-memory, whose notes are Markdown files",
            f"import the folder with the notes instead{where}",
        )

    def items(self, database: TableReader, told: Told) -> Iterator[ForeignNote]:
        """Nothing: it is refused."""
        del database, told
        return iter(())


def _folders(database: TableReader) -> list[str]:
    """Folders of the projects, the first of them."""
    if "path" not in database.columns("project"):
        return []
    try:
        rows = list(database.rows("SELECT path FROM project ORDER BY id LIMIT ?", (_SHOWN,)))
    except ForeignTrouble:
        return []
    return [path for row in rows if (path := text_of(row[0])) is not None]


def _walk(folder: Path, told: Told, depth: int = 0) -> Iterator[Path]:
    """Files under a folder by name, those of a folder before its folders; no links, no hidden."""
    folders: list[Path] = []
    try:
        with os.scandir(folder) as entries:
            found = sorted(entries, key=lambda entry: entry.name)
    except OSError as error:
        told.pass_over(f"{_shown(folder.name)}: {error.strerror or 'it cannot be read'}")
        return
    for entry in found:
        if entry.name.startswith(".") or entry.name in _IGNORED:
            continue
        if entry.is_file(follow_symlinks=False):
            yield Path(entry.path)
        elif entry.is_dir(follow_symlinks=False):
            folders.append(Path(entry.path))
        elif entry.is_symlink():
            told.homeless["links to files and folders (left out)"] += 1
    for inner in folders:
        if depth < _DEEPEST:
            yield from _walk(inner, told, depth + 1)
        else:
            told.pass_over(f"{_shown(inner.name)}: it lies too deep")


def _is_written_by_it(path: Path) -> bool:
    """Whether a file has what basic-memory writes at the head of each."""
    try:
        with _opened(path) as file:
            fields = front_matter(file.read(_HEAD).decode(errors="replace")).fields
    except OSError:
        return False
    permalink = fields.get("permalink")
    # Programs that make sites know a permalink, too: it is the path of an address there.
    is_own = (
        isinstance(permalink, str)
        and bool(permalink)
        and "/"
        not in (
            permalink[0],
            permalink[-1],
        )
    )
    return is_own and "type" in fields and "title" in fields


def _read(path: Path) -> tuple[str, int]:
    """Text of a file, and when it was changed, in milliseconds.

    Raises:
        OSError: it cannot be read.
        ForeignTrouble: it is too large.
    """
    with _opened(path) as file:
        data = file.read(_MOST_BYTES + 1)
        modified = os.fstat(file.fileno()).st_mtime_ns // 1_000_000
    if len(data) > _MOST_BYTES:
        raise ForeignTrouble(f"it is larger than {_MOST_BYTES // MIB} MiB")
    return data.decode(errors="replace").replace("\x00", ""), modified


def _opened(path: Path) -> BinaryIO:
    """A file, and no link or pipe that took its place meanwhile."""
    flags = os.O_RDONLY
    for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"):
        flags |= getattr(os, name, 0)
    return os.fdopen(os.open(path, flags), "rb")


def _note(
    folder: Path, place: str, matter: FrontMatter, modified: int, told: Told
) -> Iterator[ForeignNote]:
    title = _one(matter.fields.get("title")) or Path(place).stem
    body = matter.body.strip("\r\n")
    if not body.strip():
        told.homeless["notes without text (left out)"] += 1
        return
    observations, relations = _marked(body)
    kinds = (("categories of observations", observations), ("relations between notes", relations))
    for words, listed in kinds:
        if listed:
            told.homeless[words] += len(listed)
    if matter.fields.get("tags"):
        told.homeless["tags of notes"] += 1
    created = _time(matter.fields.get("created"))
    yield ForeignNote(
        uid=place,
        text=body if title in body else f"{title}\n\n{body}",
        at=created or _time(matter.fields.get("modified")) or moment(modified),
        project=folder.name if folder.name not in ("", NAME) else None,
        source=f"{NAME}:{place}",
        sort="note",
        metadata=stated(
            {
                **matter.fields,
                "title": title,
                "file_path": place,
                "observations": observations,
                "relations": relations,
            }
        ),
    )


def _marked(body: str) -> tuple[list[object], list[object]]:
    """Observations and relations of a note; its words stand in the text."""
    observations: list[object] = []
    relations: list[object] = []
    fence = ""
    for line in body.splitlines():
        mark = line.lstrip()[:3]
        if mark in _CODE and fence in ("", mark):
            fence = "" if fence else mark
        if fence or mark in _CODE or len(observations) + len(relations) >= _MOST_LINES:
            continue
        if (relation := _RELATION.fullmatch(line)) is not None:
            relations.append(
                stated(
                    {
                        "type": relation["type"].strip("\"'"),
                        "target": relation["target"].strip(),
                        "context": relation["context"],
                    }
                )
            )
            continue
        relations.extend(
            {"type": "links_to", "target": target.strip()} for target in _LINK.findall(line)
        )
        if (found := _OBSERVATION.fullmatch(line)) is not None and _is_category(found["category"]):
            observations.append(_observation(found["category"].strip(), found["text"].strip()))
    return observations, relations


def _is_category(text: str) -> bool:
    """Whether brackets hold a category; so stand marks of tasks and times of talks."""
    text = text.strip()
    is_task = len(text) < 2 and (text in "xX" or not text.isalnum())
    return not is_task and _CLOCK.fullmatch(text) is None


def _observation(category: str, text: str) -> dict[str, object]:
    context = _CONTEXT.fullmatch(text)
    return stated(
        {
            "category": category,
            "content": context["text"] if context else text,
            "tags": _TAG.findall(text),
            "context": context["context"].strip() if context else None,
        }
    )


def _one(value: str | list[str] | None) -> str | None:
    return text_of(", ".join(value) if isinstance(value, list) else value)


def _time(value: str | list[str] | None) -> int | None:
    """Milliseconds of a time in a note, which is local when it does not say its offset."""
    if not isinstance(value, str):
        return None
    try:
        return moment(datetime.fromisoformat(value).astimezone().isoformat())
    except (ValueError, OverflowError, OSError):
        return None


def _shown(name: str) -> str:
    """A name as text that can be written, whatever its bytes are."""
    return os.fsencode(name).decode(errors="replace")
