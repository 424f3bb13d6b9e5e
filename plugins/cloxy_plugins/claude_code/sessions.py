"""What the lines of a file say about its sessions."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace

from cloxy_hookspecs import SessionFacts
from cloxy_hookspecs.logs.json_values import Record, id_of, text_of
from cloxy_plugins.claude_code.envelope import branch_of, is_program
from cloxy_plugins.claude_code.names import SUFFIX, agent_of_file
from cloxy_plugins.claude_code.state import FileState

_ENVELOPE = (
    "sessionId",
    "cwd",
    "gitBranch",
    "isSidechain",
    "agentId",
    "entrypoint",
    "forkedFrom",
)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a record stands.

    Attributes:
        key: key of its session.
        parent: key of the session that started it; None for a session of its own.
        cwd: working directory, as recorded.
        branch: git branch.
        own: whether it is a session of Cloxy's own helpers, of which nothing is taken.
    """

    key: str
    parent: str | None
    cwd: str | None
    branch: str | None
    own: bool


class Sessions:
    """The sessions of one file, as far as one run of lines tells of them."""

    def __init__(self, uri: str, state: FileState, own_folder: str) -> None:
        """Start with what earlier runs left.

        Args:
            uri: path of the file; its name tells a sub-agent, and names a session without id.
            state: memory of the file; changed as records come.
            own_folder: Cloxy's data directory.
        """
        self._state = state
        self._own_folder = own_folder
        self._own_places: dict[str, bool] = {}
        self._file_agent = agent_of_file(uri)
        self._fallback = uri.rpartition("/")[2].removesuffix(SUFFIX) or "session"
        self._facts: dict[str, SessionFacts] = {}
        self._envelope: tuple[object, ...] = ()
        self._place: Place | None = None

    def current(self) -> str:
        """Key of the main session that was spoken of last."""
        return self._state.last or self._fallback

    def key_of(self, record: Record) -> tuple[str, str | None]:
        """Key of the session in which a record stands, and of its parent if it has one."""
        main = id_of(record, "sessionId") or self.current()
        self._state.last = main
        self._place = None
        if record.get("isSidechain") is not True and self._file_agent is None:
            return main, None
        agent = id_of(record, "agentId") or self._file_agent
        return (f"{main}/agent-{agent}" if agent else f"{main}/sidechain"), main

    def place_of(self, record: Record) -> Place:
        """Where a record stands; brings the facts of its session up to date."""
        envelope = tuple(map(record.get, _ENVELOPE))
        # Records that follow each other mostly stand in one place.
        if self._place is None or envelope != self._envelope or envelope[0] is None:
            self._place = self._learn(record)
            self._envelope = envelope
        return self._place

    def title(self, key: str, text: str, rank: int) -> None:
        """Take a title, if it is at least as good as the best so far."""
        mark = self._state.mark(key)
        if text and rank >= mark.rank:
            mark.rank = rank
            facts = self._facts.get(key) or SessionFacts(key)
            self._facts[key] = replace(facts, title=text, title_rank=rank)

    def facts(self) -> Mapping[str, SessionFacts]:
        """What this run said, without Cloxy's own sessions."""
        return {key: facts for key, facts in self._facts.items() if not self._state.mark(key).own}

    def _learn(self, record: Record) -> Place:
        key, parent = self.key_of(record)
        mark = self._state.mark(key)
        cwd, branch = text_of(record, "cwd"), branch_of(record)
        if cwd is not None:
            mark.own = mark.own or self._is_own(cwd)
        copied = record.get("forkedFrom")
        origin = id_of(copied, "sessionId") if isinstance(copied, dict) else None
        old = self._facts.get(key) or SessionFacts(
            key, parent=parent, relation="subagent" if parent else None
        )
        new = replace(
            old,
            parent=old.parent or origin,
            relation=old.relation or ("fork" if origin else None),
            cwd=old.cwd if mark.placed else cwd,
            branch=branch or old.branch,
            program=old.program or is_program(record),
        )
        self._facts[key] = new
        mark.placed = mark.placed or cwd is not None
        return Place(key, parent, cwd, branch, mark.own)

    def _is_own(self, cwd: str) -> bool:
        known = self._own_places.get(cwd)
        if known is None:
            place = os.path.normpath(cwd)
            known = place == self._own_folder or place.startswith(self._own_folder + os.sep)
            self._own_places[cwd] = known
        return known
