"""Histories that Aider's own files of settings name.

Aider reads `.aider.conf.yml` in the home folder, in the root of the git repository and where it is
started. Such a file may hold API keys: its lines are looked through for the one that names the
history, and nothing else of it is decoded, kept or told.
"""

import json
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from cloxy_hookspecs import LogReader
from cloxy_hookspecs.logs.repositories import is_there
from cloxy_plugins.aider.places import Place, around, inside

CONFIG = ".aider.conf.yml"

_MOST = 1 << 20
_LINE = re.compile(
    rb"""^(?P<quote>["']?)(?:--)?chat-history-file(?P=quote)[ \t]*:"""
    rb"(?=[ \t\r]|$)(?P<value>[^\r\n]*)",
    re.M,
)
_DOUBLE = re.compile(r'("(?:[^"\\]|\\.)*")\s*(?:#.*)?')
_SINGLE = re.compile(r"'((?:[^']|'')*)'\s*(?:#.*)?")
_COMMENT = re.compile(r"(?:^|(?<=\s))#")
_NOTHING = ("", "~", "null", "Null", "NULL")
_OF_YAML = tuple("&*!|>%@`[]{},")


def named_in(settings: bytes) -> str | None:
    """The history that a file of settings names; None for none, and for what is no plain text.

    Args:
        settings: the file; a key that stands in it twice has the value of the last, as in Aider.
    """
    found: str | None = None
    if settings.startswith(b"\xef\xbb\xbf"):
        settings = settings[3:]
    for line in _LINE.finditer(settings):
        try:
            found = _text_of(line["value"].decode("utf-8").strip())
        except ValueError:
            found = None
    return found


class Configured:
    """Finds the histories that the files of settings name."""

    def __init__(self, reader: LogReader, home: Path) -> None:
        """Nothing is read.

        Args:
            reader: opens files.
            home: the user's home folder.
        """
        self._reader = reader
        self._home = home

    def __call__(self, projects: Sequence[Path]) -> Iterator[Place]:
        """Histories that may be there. Blocks.

        What the file in the home folder names may lie anywhere. One in a project may be
        somebody else's: it names a file below its own folder, or none.

        Args:
            projects: folders of projects, and the roots of their repositories.
        """
        named = self._named(self._home)
        if named is not None and os.path.isabs(named):  # noqa: PTH117
            path = Path(os.path.normpath(named))
            yield Place(path, around(path, projects), named=True)
        elif (below := inside(named or "")) is not None:
            for project in projects:
                yield Place(project / below, project)
        yield from self._of_projects(projects)

    def _of_projects(self, projects: Sequence[Path]) -> Iterator[Place]:
        others = [(each, self._named(each)) for each in projects]
        found = {folder: named for folder, named in others if named is not None}
        for project in projects if found else ():
            # Aider's root is above where it was started, which is what a path is relative to.
            for folder in (project, *project.parents):
                if (named := found.get(folder)) is None:
                    continue
                if os.path.isabs(named):  # noqa: PTH117
                    path = Path(os.path.normpath(named))
                elif (below := inside(named)) is not None:
                    path = project / below
                else:
                    continue
                if _leads_into(path.parent, folder):
                    yield Place(path, project if path.is_relative_to(project) else folder)

    def _named(self, folder: Path) -> str | None:
        path = folder / CONFIG
        if not is_there(path):
            return None
        if folder == self._home:
            # Often a link into somebody's dotfiles; links of a project are not followed.
            path = Path(os.path.realpath(path))
        try:
            return named_in(self._reader.content(path.parent, path, _MOST))
        except (OSError, ValueError):
            return None


def _text_of(value: str) -> str | None:
    """A text as YAML has it on one line."""
    if value.startswith('"'):
        quoted = _DOUBLE.fullmatch(value)
        text = None if quoted is None else json.loads(quoted[1])
    elif value.startswith("'"):
        quoted = _SINGLE.fullmatch(value)
        text = None if quoted is None else quoted[1].replace("''", "'")
    else:
        text = _COMMENT.split(value, maxsplit=1)[0].strip()
        text = None if text in _NOTHING or text.startswith(_OF_YAML) else text
    return text if text and "\0" not in text else None


def _leads_into(folder: Path, project: Path) -> bool:
    """Whether a folder is inside of a project, wherever links on the way to it lead."""
    return Path(os.path.realpath(folder)).is_relative_to(os.path.realpath(project))
