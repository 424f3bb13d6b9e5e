"""Where sessions work that are not stored, should something of them be taken later on."""

from cloxy_core.services.write.sessions import SessionBook, SessionState
from cloxy_hookspecs import SessionFacts

_MOST = 2000

SessionName = tuple[str, str]
"""Agent and the agent's own id of the session."""


class SetAside:
    """Facts of sessions of which nothing was left to take; kept for the life of the process.

    A log tells them once, and the run that told them may have held only what was forgotten or is
    too old. Titles are not kept: they tell of what was said.
    """

    def __init__(self) -> None:
        self._known: dict[SessionName, tuple[SessionFacts, str | None]] = {}

    def put(self, name: SessionName, facts: SessionFacts, project: str | None) -> None:
        """Keep what a run says of a session."""
        quiet = SessionFacts(
            key=facts.key,
            parent=facts.parent,
            cwd=facts.cwd,
            branch=facts.branch,
            program=facts.program,
            relation=facts.relation,
        )
        if facts.cwd or name not in self._known:
            self._known[name] = (quiet, project)
        while len(self._known) > _MOST:
            del self._known[next(iter(self._known))]

    def give_back(self, name: SessionName, state: SessionState, book: SessionBook) -> None:
        """Let a session that is made now have what was kept of it."""
        if state.was_stored or (kept := self._known.pop(name, None)) is None:
            return
        facts, project = kept
        book.settle(state, project)
        state.learn(facts)
