"""Folders that variables name, and whether one lies in another."""

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from cloxy_hookspecs.ports.logs import Parts


def absolute(folders: Iterable[Path]) -> Sequence[Path]:
    """The folders as absolute paths, each once; a root that is a link stays one."""
    found = (Path(os.path.abspath(folder)) for folder in folders)  # noqa: PTH100
    return tuple(dict.fromkeys(found))


def named_folder(environment: Mapping[str, str], variable: str, home: Path) -> Path | None:
    """The folder that a variable names, as `chosen_folder` reads it, but no relative one.

    It would mean another folder every time.
    """
    folder = chosen_folder(environment, variable, home)
    return folder if folder is not None and os.path.isabs(folder) else None  # noqa: PTH117


def chosen_folder(environment: Mapping[str, str], variable: str, home: Path) -> Path | None:
    """The folder that a variable names, as its agent takes it: a relative one, too.

    `~` and `~/…` are read as a shell would have; `~` of somebody else is a folder of that name.
    None when it names none.
    """
    value = environment.get(variable, "").strip()
    if not value or "\0" in value:
        return None
    inside = value == "~" or value.startswith(("~/", "~\\"))
    return home / value[2:] if inside else Path(value)


def parse_folders(text: str) -> tuple[Path, ...]:
    """Parse a setting that names folders: absolute ones, separated as in `PATH`.

    Raises:
        ValueError: one is relative, which would mean another folder every time.
    """
    found: dict[Path, None] = {}
    for part in text.split(os.pathsep):
        named = part.strip()
        if not named:
            continue
        if named == "~" or named.startswith(("~/", "~\\")):
            named = str(Path.home()) + named[1:]
        if "\0" in named or not Path(named).is_absolute():
            raise ValueError("absolute paths, or such that start with ~/")
        found[Path(os.path.normpath(named))] = None
    return tuple(found)


def application_data(environment: Mapping[str, str], home: Path, platform: str) -> Path:
    """The folder in which applications keep what belongs to them.

    `~/Library/Application Support` on macOS, `%APPDATA%` on Windows, elsewhere
    `$XDG_CONFIG_HOME` or `~/.config`.

    Args:
        environment: environment variables.
        home: the user's home folder.
        platform: as `sys.platform` has it.
    """
    if platform == "darwin":
        return home / "Library" / "Application Support"
    if platform == "win32":
        return named_folder(environment, "APPDATA", home) or home / "AppData" / "Roaming"
    return named_folder(environment, "XDG_CONFIG_HOME", home) or home / ".config"


def nowhere(parts: Parts) -> bool:
    """For `LogTree.enter`: logs lie in the root itself, and no folder below it is looked into."""
    del parts
    return False


def parts_of(path: str) -> tuple[str, ...]:
    r"""The parts of a path of any system, `/` and `\\` alike."""
    return tuple(path.replace("\\", "/").rstrip("/").split("/"))


def is_inside(path: str | None, folder: Sequence[str]) -> bool:
    """Whether a path is a folder, told by its parts, or below it."""
    return path is not None and parts_of(path)[: len(folder)] == tuple(folder)


def root_of(roots: Iterable[Path], path: Path) -> Path | None:
    """The root that a path lies below; None when it is below none."""
    return next((root for root in roots if path.is_relative_to(root)), None)


def touches(one: Path, other: Path) -> bool:
    """Whether one of two paths is the other or lies below it."""
    return one.is_relative_to(other) or other.is_relative_to(one)
