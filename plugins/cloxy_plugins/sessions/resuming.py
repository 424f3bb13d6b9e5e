"""The command that goes on with a session in its agent."""

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from cloxy_hookspecs import SourceStatus
from cloxy_plugins.sessions.models import ResumeOutput

_SESSION: Final = "{session}"

# An id gets into a command that people run: no white space, no sign of a shell, no option.
_SAFE_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,127}")
_ABSOLUTE: Final = re.compile(r"/|[A-Za-z]:[\\/]")


def resume_commands(sources: Iterable[SourceStatus]) -> Mapping[str, Sequence[str]]:
    """The command of each agent that has one, `{session}` standing for the id."""
    commands: dict[str, Sequence[str]] = {}
    for source in sources:
        if source.resume:
            commands.setdefault(source.agent, source.resume)
    return commands


def resume(command: Sequence[str], key: str, folder: str | None) -> ResumeOutput | None:
    """A command with its session; None when there is none, or the id is not a plain one.

    Args:
        command: arguments, of which one or more hold `{session}`; empty when the agent has none.
        key: the agent's own id of the session.
        folder: where it was held, if that is known.
    """
    if not command or not _SAFE_ID.fullmatch(key):
        return None
    arguments = [argument.replace(_SESSION, key) for argument in command]
    place = folder if folder and _is_plain(folder) else None
    line = shlex.join(arguments)
    if place is not None:
        line = f"cd {shlex.quote(place)} && {line}"
    return ResumeOutput(arguments=arguments, folder=place, line=line)


def _is_plain(folder: str) -> bool:
    """Whether a folder is absolute, and holds nothing that a terminal obeys or hides."""
    return folder.isprintable() and _ABSOLUTE.match(folder) is not None
