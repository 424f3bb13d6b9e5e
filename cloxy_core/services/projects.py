"""The project that a working directory belongs to, as users see it.

A project is the recorded working directory, except that all worktrees of a git repository are
the repository. Nothing is asked of git; a few small files are read, each at most once.
"""

import os
import re
import stat
from pathlib import PurePosixPath

_LEVELS = 40
_POINTER_BYTES = 4096
_REMEMBERED = 10_000
_HOPS = 4
# Where Claude Code puts the worktrees that it makes; it removes them when they are done, so the
# place alone has to tell.
_MADE_BY_AGENT = re.compile(
    r"(?P<repository>.+?)[/\\]\.claude[/\\]worktrees[/\\][^/\\]+(?:[/\\].*)?"
)
_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_INSIDE_PROJECT = (".git", ".bare")


class ProjectResolver:
    """Finds projects, and remembers what it found after a worktree is gone.

    It remembers for its own life only: whoever stores sessions stores the project with them.
    """

    def __init__(self) -> None:
        """Start without memory."""
        self._known: dict[str, str] = {}

    def resolve(self, cwd: str) -> str:
        """The project of a working directory; never raises, runs no program.

        Args:
            cwd: the directory as recorded; it need not exist, nor be of this machine.

        Returns:
            The root of the common repository for a linked worktree and everything in it, else
            the directory as recorded.
        """
        project = self._known.get(cwd)
        if project is None:
            project = _project_of(cwd)
            if len(self._known) >= _REMEMBERED:
                del self._known[next(iter(self._known))]
            self._known[cwd] = project
        return project


def _project_of(cwd: str) -> str:
    project = cwd
    for _ in range(_HOPS):
        made = _MADE_BY_AGENT.fullmatch(project)
        inner = made["repository"] if made else _common_repository(project)
        if inner is None or inner == project:
            break
        project = inner
    return project


def _common_repository(cwd: str) -> str | None:
    """Root of the repository that a linked worktree belongs to; None when it is none."""
    if not cwd.startswith("/"):
        return None
    folder = PurePosixPath(os.path.normpath(cwd))
    for level in (folder, *folder.parents)[:_LEVELS]:
        try:
            mode = os.lstat(level / ".git").st_mode
        except (OSError, ValueError):
            continue
        return _repository_of_pointer(level) if stat.S_ISREG(mode) else None
    return None


def _repository_of_pointer(worktree: PurePosixPath) -> str | None:
    """Follow a `.git` file, which a worktree has and a submodule too."""
    pointer = _first_line(str(worktree / ".git"))
    if pointer is None or not pointer.startswith("gitdir:"):
        return None
    folder = os.path.normpath(worktree / pointer.removeprefix("gitdir:").strip())
    outer, kind, name = folder.rpartition("/worktrees/")
    if not kind or "/" in name:
        return None
    told = _first_line(f"{folder}/commondir")
    # Joining with an absolute path gives that path.
    common = PurePosixPath(os.path.normpath(PurePosixPath(folder, told)) if told else outer)
    # A bare repository has no folder around it that is its own.
    return str(common.parent if common.name in _INSIDE_PROJECT else common)


def _first_line(path: str) -> str | None:
    """The first line of a small regular file; None when there is none."""
    try:
        descriptor = os.open(path, _FLAGS)
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                return None
            data = os.read(descriptor, _POINTER_BYTES)
        finally:
            os.close(descriptor)
    except (OSError, ValueError):
        return None
    line = os.fsdecode(data).partition("\n")[0].strip()
    return line if line and line.isprintable() else None
