"""Which path of the program `cloxy` goes into a client's file."""

from collections.abc import Callable
from pathlib import PurePath, PurePosixPath, PureWindowsPath

from cloxy_core.connect.entry import NAME
from cloxy_core.connect.errors import ConnectError
from cloxy_core.connect.machine import Machine

_HINT = "run it by its whole path, as in /home/me/.venv/bin/cloxy connect"


def program_path(
    machine: Machine,
    called: str,
    python: str,
    folder: str,
    find: Callable[[str], str | None],
    exists: Callable[[str], bool],
) -> str:
    """The absolute path of the program that runs now.

    It is not resolved: a link in ~/.local/bin, or a path in a virtual environment, goes on working
    when what it leads to is replaced. On Windows it is a program, never a .cmd or .bat file, which
    editors cannot start without a shell.

    Args:
        machine: the computer.
        called: how this process was called (`sys.argv[0]`).
        python: the Python that runs it; the program is often beside it.
        folder: the working directory, for a relative path.
        find: looks a name up in PATH.
        exists: whether a path is a file.

    Raises:
        ConnectError: there is no such path, or it cannot stand in a file.
    """
    kind = PureWindowsPath if machine.platform == "win32" else PurePosixPath
    beside = kind(python).with_name(NAME) if python else None
    found = find(NAME)
    candidates: list[PurePath] = []
    if kind(called).name.lower() in {NAME, f"{NAME}.exe"} and len(kind(called).parts) > 1:
        candidates.append(kind(folder) / called)
    elif found:
        candidates.append(kind(folder) / found)
    if beside is not None:
        candidates.append(beside)
    if found:
        candidates.append(kind(folder) / found)
    for candidate in candidates:
        path = _runnable(machine, candidate, exists)
        if path is not None:
            return _clean(path)
    raise ConnectError(f"the program {NAME} was not found", hint=_HINT)


def _runnable(machine: Machine, path: PurePath, exists: Callable[[str], bool]) -> str | None:
    if machine.platform != "win32":
        return str(path) if exists(str(path)) else None
    executable = str(path.with_suffix(".exe"))
    return executable if exists(executable) else None


def _clean(path: str) -> str:
    try:
        path.encode()
    except UnicodeEncodeError:
        path = ""
    if not path or any(ord(character) < 32 or ord(character) == 127 for character in path):
        raise ConnectError(
            f"the path of {NAME} holds characters that cannot stand in a configuration file",
            hint="install it in a folder with a plain name",
        )
    return path
