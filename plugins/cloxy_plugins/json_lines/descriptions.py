"""Descriptions of agents: from a TOML file to what sources and parsers need, or what is wrong."""

import difflib
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from cloxy_hookspecs.logs.json_values import Record, is_record, list_of
from cloxy_plugins.json_lines.fields import FieldPath, field_path
from cloxy_plugins.json_lines.formats import (
    FIELDS,
    IGNORED,
    SPEAKERS,
    USUAL_FIELDS,
    USUAL_ROLES,
    Condition,
    Format,
)
from cloxy_plugins.json_lines.places import LogPattern, log_pattern

T = TypeVar("T")

TABLE = "agents"
MOST_AGENTS = 100
_MOST_BYTES = 1 << 20
_SHOWN = 5
_LIMIT = 200
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_TAG = re.compile(r"[A-Za-z][\w.:-]{0,99}")
_ROLES = (*SPEAKERS, IGNORED)
_TABLES = ("where", "unless")
_KEYS = ("title", "paths", "resume", *FIELDS, *_ROLES, *_TABLES, "drop_tags")
_SESSION = "{session}"


@dataclass(frozen=True, slots=True)
class Agent:
    """An agent that is described.

    Attributes:
        name: its name, which is also that of its source.
        title: its name for people.
        patterns: where its logs lie.
        resume: command that goes on with a session.
        format: what its records mean.
        problem: why it cannot be read, for people; empty when it can.
    """

    name: str
    title: str = ""
    patterns: tuple[LogPattern, ...] = ()
    resume: tuple[str, ...] = ()
    format: Format = field(default_factory=Format)
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Descriptions:
    """What a file says.

    Attributes:
        agents: all with a usable name.
        problem: what is wrong with the file as a whole, for people; empty when nothing is.
        data: the file as it was read; None when there is none.
        read: whether it could be looked at.
    """

    agents: tuple[Agent, ...] = ()
    problem: str = ""
    data: bytes | None = None
    read: bool = True


def read_descriptions(file: Path, home: Path, *, named: bool) -> Descriptions:
    """Read a file of descriptions; whatever is wrong with it is told in the answer.

    Args:
        file: the file.
        home: the user's home folder, for `~`.
        named: whether somebody named the file, so that it has to be there.
    """
    try:
        data = read_bytes(file)
    except OSError as error:
        return Descriptions(problem=f"cannot be read: {error.strerror or error}", read=False)
    if data is None:
        problem = "there is no such file; write it, or unset json_lines.file" if named else ""
        return Descriptions(problem=problem)
    if len(data) > _MOST_BYTES:
        return Descriptions(problem=f"is larger than {_MOST_BYTES >> 20} MB", data=data)
    try:
        document: Record = tomllib.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        return Descriptions(problem="is no UTF-8 text; save it as UTF-8", data=data)
    except (ValueError, RecursionError) as error:
        return Descriptions(problem=f"is not TOML: {error}", data=data)
    return of_document(document, home, data)


def read_bytes(file: Path) -> bytes | None:
    """The bytes of the file, as far as they are looked at; None when there is none.

    Raises:
        OSError: it cannot be read.
    """
    try:
        with file.open("rb") as stream:
            return stream.read(_MOST_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None


def of_document(document: Record, home: Path, data: bytes) -> Descriptions:
    """What a TOML document says.

    Args:
        document: the document.
        home: the user's home folder, for `~`.
        data: the file that it was read from.
    """
    problems = [
        f"{key!r} is not known; an agent is described in [{TABLE}.NAME]"
        for key in document
        if key != TABLE
    ]
    table = document.get(TABLE, {})
    if not is_record(table):
        return Descriptions(problem=f"{TABLE!r} is no table; write [{TABLE}.NAME]", data=data)
    agents: list[Agent] = []
    for name, value in table.items():
        if not _NAME.fullmatch(name) or len(name) > _LIMIT:
            likely = "-".join(re.findall(r"[a-z0-9]+", name.lower()))
            problems.append(
                f"[{TABLE}.{name}]: a name has small letters, digits and single hyphens"
                + (f"; call it {likely!r}" if likely else "")
            )
        elif not is_record(value):
            problems.append(f"[{TABLE}.{name}] is no table")
        elif len(agents) == MOST_AGENTS:
            problems.append(f"describes more than {MOST_AGENTS} agents")
            break
        else:
            agents.append(_Table(name, value, home).agent())
    return Descriptions(tuple(agents), _joined(problems), data)


class _Table:
    """One table `[agents.NAME]`; collects all that is wrong with it."""

    def __init__(self, name: str, table: Record, home: Path) -> None:
        self._name = name
        self._table = table
        self._home = home
        self._problems: list[str] = []

    def agent(self) -> Agent:
        """The agent, with what is wrong in its description."""
        for key in self._table:
            if key not in _KEYS:
                near = difflib.get_close_matches(key, _KEYS, n=1, cutoff=0.5)
                hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(_KEYS)}"
                self._wrong(key, f"is not known; {hint}")
        patterns = self._made("paths", lambda text: log_pattern(text, self._home))
        if not patterns and "paths" not in self._table:
            self._wrong(
                "paths", 'is missing; list the logs, such as paths = ["~/.agent/**/*.jsonl"]'
            )
        resume = self._texts("resume")
        if resume and not any(_SESSION in word for word in resume):
            self._wrong("resume", f"has to hold {_SESSION}, in place of which the session is put")
        made = Format(
            fields=self._fields(),
            roles=self._roles(),
            where=self._conditions("where"),
            unless=self._conditions("unless"),
            drop_tags=self._made("drop_tags", _tag),
        )
        title = " ".join(" ".join(self._texts("title")).split())[:_LIMIT]
        return Agent(self._name, title, patterns, resume, made, _joined(self._problems))

    def _wrong(self, key: str, words: str) -> None:
        self._problems.append(f"{key} {words}")

    def _texts(self, key: str) -> tuple[str, ...]:
        """A text or a list of texts; empty when it is not there or is something else."""
        value = self._table.get(key)
        if value is None:
            return ()
        texts = [value] if isinstance(value, str) else list_of(value)
        found = tuple(each for each in texts if isinstance(each, str) and each.strip())
        if not found or len(found) != len(texts):
            self._wrong(key, "wants a text or a list of texts, none of them empty")
            return ()
        return found

    def _made(self, key: str, make: Callable[[str], T]) -> tuple[T, ...]:
        """What is made of each text."""
        made: list[T] = []
        for text in self._texts(key):
            try:
                made.append(make(text))
            except ValueError as error:
                self._wrong(key, f"cannot be used: {error}")
        return tuple(made)

    def _fields(self) -> Mapping[str, tuple[FieldPath, ...]]:
        found = {name: self._made(name, field_path) for name in FIELDS if name in self._table}
        usual = {name: tuple(map(field_path, paths)) for name, paths in USUAL_FIELDS.items()}
        return {**usual, **found}

    def _roles(self) -> Mapping[str, str]:
        named: dict[str, str] = {}
        for key in _ROLES:
            for value in self._texts(key):
                first = named.setdefault(value, key)
                if first != key:
                    self._wrong(key, f"lists {value!r}, which {first} lists too; take one out")
        usual = {
            value: key
            for key, values in USUAL_ROLES.items()
            if key not in self._table
            for value in values
        }
        return {**usual, **named}

    def _conditions(self, key: str) -> tuple[Condition, ...]:
        table = self._table.get(key, {})
        if not is_record(table):
            self._wrong(key, f'wants a table, such as {key} = {{ type = "message" }}')
            return ()
        found: list[Condition] = []
        for text, value in table.items():
            # TOML reads a dotted key as tables in each other; so do people.
            for path, wanted in _flat(text, value):
                values = list_of(wanted) if isinstance(wanted, list) else [wanted]
                texts = tuple(each for each in map(_scalar, values) if each is not None)
                if not texts or len(texts) != len(values):
                    self._wrong(key, f"of {path!r} wants a text, a number, true, false or a list")
                    continue
                try:
                    found.append(Condition(field_path(path), texts))
                except ValueError as error:
                    self._wrong(key, f"cannot be used: {error}")
        return tuple(found)


def _flat(path: str, value: object) -> Iterable[tuple[str, object]]:
    """Paths and values of a table in which tables may stand."""
    waiting = [(path, value)]
    while waiting:
        place, found = waiting.pop(0)
        if is_record(found) and found:
            waiting += [(f"{place}.{name}", each) for name, each in found.items()]
        else:
            yield place, found


def _scalar(value: object) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (str, int, float)):
        return str(value)
    return None


def _tag(text: str) -> str:
    if not _TAG.fullmatch(text):
        raise ValueError(f"{text!r} is no name of a tag; write it without < and >")
    return text


def _joined(problems: list[str]) -> str:
    more = len(problems) - _SHOWN
    shown = "; ".join(problems[:_SHOWN])
    return f"{shown}; and {more} more" if more > 0 else shown
