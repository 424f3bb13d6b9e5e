"""Whether the guard of the web is as closed as it comes."""

from collections.abc import Sequence

from cloxy_hookspecs import Finding, HostContext
from cloxy_plugins.web.guard import OPEN, PublicWeb, made, warnings


class GuardCheck:
    """Says what may be read beside the public web."""

    def __init__(self, guard: PublicWeb) -> None:
        """Look at a guard.

        Args:
            guard: made from the settings of this moment.
        """
        self._guard = guard

    async def run(self) -> Sequence[Finding]:
        """A finding for each thing that is let through."""
        found = [Finding("warning" if w == OPEN else "ok", w) for w in warnings(self._guard)]
        return found or [Finding("ok", "only the public web is read")]


def create_check(context: HostContext) -> GuardCheck:
    """The check of the guard that the settings make."""
    return GuardCheck(made(context))
