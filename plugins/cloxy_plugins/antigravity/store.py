"""Databases of conversations as a source, for those that have no transcript.

A database holds one conversation: its steps, each a message in the form of Protocol Buffers. Only
the texts of prompts, answers and summaries are taken of them.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from cloxy_hookspecs import (
    ForeignDatabase,
    ForeignDatabaseError,
    HostContext,
    LogReader,
    LogTree,
    Source,
)
from cloxy_hookspecs.logs.databases import Databases, Version
from cloxy_hookspecs.logs.json_values import Record, usable_id
from cloxy_hookspecs.logs.turns import damaged
from cloxy_plugins.antigravity.people import People
from cloxy_plugins.antigravity.places import (
    BRAIN,
    DATABASES,
    conversation_of,
    databases_below,
    home_of,
    homes,
    transcripts_below,
)
from cloxy_plugins.antigravity.protobuf import fields, inner
from cloxy_plugins.antigravity.steps import ANSWERED, PERSON, SUMMED_UP, TYPED, Step
from cloxy_plugins.antigravity.transcripts import conversation_records

_AGENT = "antigravity"
_STEPS, _META = "steps", "trajectory_meta"
_COLUMNS = frozenset({"idx", "step_type", "step_payload"})
_KINDS = {14: TYPED, 15: ANSWERED, 23: SUMMED_UP}
# Where the texts lie, by step type: a prompt, an answer, a summary.
_TEXTS = {14: (19, 2), 15: (20, 1), 23: (30, 4)}
_TIME = (5, 1)
_SECOND = 1000
_NANOS = 1_000_000

_VERSION = "SELECT count(*), total(length(step_payload)) FROM steps"
_SAID = """
    SELECT idx, step_type, step_payload FROM steps WHERE step_type IN (14, 15, 23) ORDER BY idx
"""


def create_store(context: HostContext) -> Source:
    """Make the source."""
    return databases_in(context.service(LogReader), homes(Path.home()))


def databases_in(reader: LogReader, places: Sequence[Path]) -> Databases:
    """The source of databases.

    Args:
        reader: finds and opens.
        places: folders of Antigravity.
    """
    folders = [place / DATABASES for place in places]
    trees = [transcripts_below(place / BRAIN) for place in places]

    def told() -> set[str]:
        logs = reader.files(trees, [])
        return {conversation_of(Path(log.uri)) for log in logs if log.size}

    return Databases(reader, _AGENT, lambda: folders, Conversations(People(reader)), told)


class Conversations:
    """What is in a database; implements `Talks`."""

    def __init__(self, people: People) -> None:
        """Read databases.

        Args:
            people: knows where conversations were held, and who started them.
        """
        self._people = people

    def tree(self, folder: Path) -> LogTree:
        """As `Talks.tree`."""
        return databases_below(folder)

    def versions(self, database: ForeignDatabase) -> Mapping[str, Version]:
        """As `Talks.versions`."""
        if not _has_steps(database):
            return {}
        names = {usable_id(name) for (name,) in _names(database)} - {None}
        if len(names) != 1:
            raise ForeignDatabaseError("a database of Antigravity does not name its conversation")
        (counted,) = database.rows(_VERSION)
        count, length = (int(each) if isinstance(each, (int, float)) else 0 for each in counted)
        return {str(names.pop()): Version(count + length, 0)}

    def records(self, database: ForeignDatabase, path: Path, key: str) -> Iterator[Record]:
        """As `Talks.records`."""
        steps: list[Step] = []
        if _has_steps(database):
            for number, kind, payload in database.rows(_SAID):
                try:
                    steps.append(step_in(number, kind, payload))
                except ValueError:
                    yield damaged("a step is damaged")
        yield from conversation_records(key, steps, self._people, home_of(path))


def step_in(number: object, kind: object, payload: object) -> Step:
    """A step of a row.

    Raises:
        ValueError: it is damaged.
    """
    if not isinstance(number, int) or not isinstance(kind, int) or not isinstance(payload, bytes):
        raise ValueError("not a step")
    text = (inner(payload, *_TEXTS[kind]) or b"").decode("utf-8", "replace")
    return Step(number, _KINDS[kind], PERSON, text, _time_in(payload))


def _time_in(payload: bytes) -> int | None:
    """Milliseconds since the epoch."""
    stamp = dict(fields(inner(payload, *_TIME) or b""))
    seconds, nanos = stamp.get(1), stamp.get(2, 0)
    if not isinstance(seconds, int) or not isinstance(nanos, int):
        return None
    return seconds * _SECOND + nanos // _NANOS


def _names(database: ForeignDatabase) -> Iterator[tuple[object, ...]]:
    if "cascade_id" in database.columns(_META):
        yield from database.rows("SELECT DISTINCT cascade_id FROM trajectory_meta")


def _has_steps(database: ForeignDatabase) -> bool:
    return _STEPS in database.tables() and database.columns(_STEPS) >= _COLUMNS
