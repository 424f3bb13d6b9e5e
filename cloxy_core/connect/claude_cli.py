"""Claude Code's own commands for its user-wide servers: it rewrites that file all the time."""

import ntpath
from typing import TYPE_CHECKING, Final

from cloxy_core.connect.commands import Commands
from cloxy_core.connect.entry import ARGUMENTS

if TYPE_CHECKING:
    from cloxy_core.connect.plan import Request, Step

_KEY: Final = "claude-code"
_SCOPE: Final = ("--scope", "user")


def commands(step: "Step", request: "Request", system: Commands) -> tuple[tuple[str, ...], ...]:
    """The commands that do a step; none when the file is to be changed directly."""
    if step.place.client.key != _KEY or step.place.scope != "user":
        return ()
    program = system.find("claude")
    # A .cmd file would pass our words through the shell of Windows, which reads them anew.
    if program is None or ntpath.splitext(program)[1].lower() in {".cmd", ".bat", ".ps1"}:
        return ()
    remove = (program, "mcp", "remove", *_SCOPE, request.name)
    if step.action == "remove":
        return (remove,)
    add = (program, "mcp", "add", *_words(request))
    return (add,) if step.action == "add" else (remove, add)


def _words(request: "Request") -> tuple[str, ...]:
    target = request.target
    if target.url is not None:
        return ("--transport", "http", *_SCOPE, request.name, target.url)
    environment = tuple(
        word for name, value in target.environment.items() for word in ("--env", f"{name}={value}")
    )
    # --env takes all words that follow; an option must come between it and the name.
    return (*environment, *_SCOPE, request.name, "--", str(target.program), *ARGUMENTS)
