"""The file in which agents are described, and where their logs lie."""

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath

from cloxy_hookspecs import LogTree, Parts, Setting

NAME = "json_lines.toml"
ANY_DEPTH = "**"
_ALL_BELOW = (ANY_DEPTH, "*.jsonl")
_LONGEST = 4096


def _file(text: str) -> str:
    if not text:
        return ""
    path = _expanded(text, Path.home())
    if not path.is_absolute() or "\0" in text:
        raise ValueError("the absolute path of a TOML file")
    return str(path)


FILE = Setting(
    name="json_lines.file",
    default="",
    parse=_file,
    help="TOML file that describes further agents and their logs; default: json_lines.toml in the"
    " data directory.",
)


@dataclass(frozen=True, slots=True)
class LogPattern:
    """Which files are logs.

    Attributes:
        root: absolute folder.
        parts: what the path below it looks like, part by part: `*` and `?` stand for characters,
            `**` for any number of folders.
    """

    root: Path
    parts: Parts


def log_pattern(text: str, home: Path) -> LogPattern:
    """What a path with wildcards says.

    Without a wildcard it is a file if its name has an ending, else a folder, of which all `.jsonl`
    files are logs at any depth.

    Args:
        text: an absolute path, or one that begins with `~/`.
        home: the user's home folder.

    Raises:
        ValueError: it is no such path, or begins so high that too much would be watched; in words
            for the user.
    """
    if not text.strip() or "\0" in text or len(text) > _LONGEST:
        raise ValueError("is no path")
    path = _expanded(text, home)
    if not path.is_absolute():
        raise ValueError(f"{text!r} is not absolute; begin it with / or ~/")
    parts = Path(os.path.normpath(path)).parts
    plain = next((n for n, part in enumerate(parts) if _is_wild(part)), len(parts))
    if plain < len(parts):
        pattern = LogPattern(Path(*parts[:plain]), parts[plain:])
    elif path.suffix:
        pattern = LogPattern(path.parent, (path.name,))
    else:
        pattern = LogPattern(Path(*parts), _ALL_BELOW)
    if pattern.root == home or len(pattern.root.parts) < 2 or home.is_relative_to(pattern.root):
        raise ValueError(
            f"{text!r} would have all of {pattern.root} watched; name the folder of the logs"
        )
    return pattern


def trees_of(patterns: Iterable[LogPattern]) -> Sequence[LogTree]:
    """Where logs lie, one tree for each root."""
    by_root: dict[Path, list[Parts]] = {}
    for pattern in patterns:
        by_root.setdefault(pattern.root, []).append(pattern.parts)
    return [
        LogTree(root, Wanted(tuple(found)), Entered(tuple(found)))
        for root, found in by_root.items()
    ]


@dataclass(frozen=True, slots=True)
class Wanted:
    """Whether a file is a log: its whole path fits a pattern."""

    patterns: tuple[Parts, ...]

    def __call__(self, parts: Parts) -> bool:
        """Whether the path below the root fits."""
        return any(_fits(pattern, parts) for pattern in self.patterns)


@dataclass(frozen=True, slots=True)
class Entered:
    """Whether a folder may hold logs: its path fits the beginning of a pattern."""

    patterns: tuple[Parts, ...]

    def __call__(self, parts: Parts) -> bool:
        """Whether the path below the root may go on to a log."""
        return any(_begins(pattern, parts) for pattern in self.patterns)


def session_of_file(uri: str) -> str:
    """Key of the session that a log is named after."""
    return PurePath(uri).stem or "session"


def _expanded(text: str, home: Path) -> Path:
    if text == "~" or text.startswith(("~/", "~\\")):
        return home / text[2:]
    return Path(text)


def _is_wild(part: str) -> bool:
    return "*" in part or "?" in part


def _reached(pattern: Parts, parts: Parts) -> set[int]:
    """Places in the pattern at which one can be after the parts; `**` may stand for none."""
    places = _over_depths(pattern, {0})
    for part in parts:
        onward: set[int] = set()
        for place in places:
            if place < len(pattern):
                if pattern[place] == ANY_DEPTH:
                    onward.add(place)
                elif _same(pattern[place], part):
                    onward.add(place + 1)
        places = _over_depths(pattern, onward)
    return places


def _over_depths(pattern: Parts, places: set[int]) -> set[int]:
    found = set(places)
    for place in places:
        onward = place
        while onward < len(pattern) and pattern[onward] == ANY_DEPTH:
            onward += 1
            found.add(onward)
    return found


def _fits(pattern: Parts, parts: Parts) -> bool:
    return len(pattern) in _reached(pattern, parts)


def _begins(pattern: Parts, parts: Parts) -> bool:
    return any(place < len(pattern) for place in _reached(pattern, parts))


def _same(wild: str, part: str) -> bool:
    if not _is_wild(wild):
        return wild == part
    pieces = (
        ".*" if each == "*" else "." if each == "?" else re.escape(each)
        for each in re.split(r"([*?])", wild)
    )
    return re.fullmatch("".join(pieces), part, re.DOTALL) is not None
