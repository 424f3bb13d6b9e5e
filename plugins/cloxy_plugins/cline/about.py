"""What is known of a task besides its messages."""

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from cloxy_hookspecs import LogReader
from cloxy_hookspecs.logs.json_values import (
    Record,
    decode,
    id_of,
    list_of,
    record_of,
    text_of,
    words_of,
)
from cloxy_hookspecs.logs.turns import damaged
from cloxy_plugins.cline.places import TASKS

HISTORY_ITEM = "history_item.json"
METADATA = "task_metadata.json"
WRITTEN_BACK = "sdk_writeback.json"

_INDEX = ("state", "taskHistory.json")
_MOST = 16 << 20
_INDEX_MOST = 64 << 20
_DETAILS = "<environment_details>"
_FOLDER = re.compile(
    r"^# Current (?:Working|Workspace) Directory \(([^\n]+)\) Files[ \t\r]*$", re.M
)
_ABSOLUTE = re.compile(r"/|[A-Za-z]:[\\/]|\\\\")
_LOOKED_AT = 20


@dataclass(frozen=True, slots=True)
class About:
    """Facts of a task.

    Attributes:
        cwd: its folder, where a file beside its messages names it.
        parent: the task that started it.
        models: when which model was chosen: milliseconds and name, in order.
        own: how many of its messages are its own; later ones are copies of those of a session
            that went on with it. None when all are.
        problems: what could not be read.
    """

    cwd: str | None = None
    parent: str | None = None
    models: tuple[tuple[float, str], ...] = ()
    own: int | None = None
    problems: list[Record] = field(default_factory=list[Record])

    def model_at(self, time: object) -> str | None:
        """The model that was chosen at a time."""
        if not isinstance(time, (int, float)):
            return None
        return next((name for start, name in reversed(self.models) if start <= time), None)


class Besides:
    """Reads what lies beside the messages of tasks."""

    def __init__(self, reader: LogReader) -> None:
        """Nothing is read.

        Args:
            reader: opens files.
        """
        self._reader = reader
        self._index: tuple[tuple[str, int, int], dict[str, str]] | None = None

    def json(self, root: Path, path: Path, most: int = _MOST) -> tuple[object, list[Record]]:
        """The value of a file, and what is wrong with it; None and nothing when there is none."""
        try:
            return decode(self._reader.content(root, path, most)), []
        except FileNotFoundError:
            return None, []
        except (OSError, ValueError):
            return None, [damaged(f"{path.name} cannot be read", quiet=True)]

    def about(self, root: Path, path: Path) -> About:
        """Facts of the task of which a file has the messages.

        Args:
            root: folder below which everything is looked for.
            path: the file.
        """
        item, wrong = self.json(root, path.with_name(HISTORY_ITEM))
        metadata, wrong_metadata = self.json(root, path.with_name(METADATA))
        back, wrong_back = self.json(root, path.with_name(WRITTEN_BACK))
        facts = record_of(item)
        own = record_of(back).get("baseUiMessageCount")
        return About(
            cwd=_absolute(text_of(facts, "workspace")) or self._listed_folder(root, path),
            parent=id_of(facts, "parentTaskId"),
            models=_models(record_of(metadata)),
            own=own if type(own) is int and own >= 0 else None,
            problems=[*wrong, *wrong_metadata, *wrong_back],
        )

    def _listed_folder(self, root: Path, path: Path) -> str | None:
        """The folder that the list of all tasks names for one."""
        tasks = path.parent.parent
        extension = tasks.parent
        if tasks.name != TASKS or not (tasks == root or extension.is_relative_to(root)):
            return None
        index = extension.joinpath(*_INDEX)
        try:
            status = os.lstat(index)
        except OSError:
            return None
        signature = (str(index), status.st_size, status.st_mtime_ns)
        if self._index is None or self._index[0] != signature:
            # Whatever is wrong with the list: tasks are known by their folders.
            value, _wrong = self.json(extension, index, _INDEX_MOST)
            self._index = (signature, dict(_folders(list_of(value))))
        return self._index[1].get(path.parent.name)


def folder_of_messages(values: Iterable[object]) -> str | None:
    """The folder that requests to a model name, as the first messages of a task have them."""
    looked_at = 0
    for value in values:
        message = record_of(value)
        if message.get("say") != "api_req_started":
            continue
        looked_at += 1
        if looked_at > _LOOKED_AT:
            break
        try:
            request = record_of(decode(words_of(message, "text"))).get("request")
        except ValueError:
            continue
        if isinstance(request, str) and (found := folder_of_details(request)):
            return found
    return None


def folder_of_details(text: str) -> str | None:
    """The folder that the details of the environment name; none for several folders at once."""
    start = text.find(_DETAILS)
    found = _FOLDER.search(text, start) if start >= 0 else None
    return _absolute(found[1]) if found else None


def _absolute(path: str | None) -> str | None:
    return path if path is not None and _ABSOLUTE.match(path) and path.isprintable() else None


def _folders(items: Iterable[object]) -> Iterable[tuple[str, str]]:
    for each in items:
        item = record_of(each)
        key, folder = id_of(item, "id"), _absolute(text_of(item, "cwdOnTaskInitialization"))
        if key is not None and folder is not None:
            yield key, folder


def _models(metadata: Record) -> tuple[tuple[float, str], ...]:
    found: list[tuple[float, str]] = []
    for each in list_of(metadata.get("model_usage")):
        usage = record_of(each)
        start, name = usage.get("ts"), id_of(usage, "model_id")
        if isinstance(start, (int, float)) and name is not None:
            found.append((start, name))
    return tuple(sorted(found))
