"""Sessions and projects that the old rows name; each is written once, at the end."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from cloxy_core.store.legacy.wording import Helpers
from cloxy_core.store.project_keys import project_key

AGENT: Final = "claude-code"
"""The only agent whose conversations the original read."""

_LOWEST_RANK: Final = 1


@dataclass(slots=True)
class OldSession:
    """A conversation, as far as its rows tell; times in milliseconds."""

    id: int
    key: str
    project_id: int | None = None
    cwd: str | None = None
    branch: str | None = None
    title: str | None = None
    started_at: int | None = None
    ended_at: int | None = None

    def saw(self, begin: int, end: int) -> None:
        """Widen its span of time."""
        self.started_at = begin if self.started_at is None else min(self.started_at, begin)
        self.ended_at = end if self.ended_at is None else max(self.ended_at, end)


class Books:
    """Gives sessions and projects their ids; counts what was redacted on the way."""

    def __init__(self, helpers: Helpers) -> None:
        self.redactions: Counter[str] = Counter()
        self._helpers = helpers
        self._sessions: dict[str, OldSession] = {}
        self._projects: dict[str, tuple[int, str]] = {}
        self._by_folder: dict[str, int | None] = {}

    @property
    def sessions(self) -> int:
        """How many there are."""
        return len(self._sessions)

    def session(self, key: str) -> OldSession:
        """A session, made on first use."""
        known = self._sessions.get(key)
        if known is None:
            known = self._sessions[key] = OldSession(len(self._sessions) + 1, key)
        return known

    def project(self, folder: str | None) -> int | None:
        """The id of the project of a working directory, made on first use."""
        if not folder or not folder.strip():
            return None
        if folder not in self._by_folder:
            self._by_folder[folder] = self._new_project(folder)
        return self._by_folder[folder]

    def clean(self, text: str | None) -> str | None:
        """A short text as it may be stored; None when nothing is left."""
        if not text:
            return None
        cleaned, counts = self._helpers.clean(text)
        self.redactions.update(counts)
        return cleaned if cleaned.strip() else None

    def project_rows(self) -> Iterator[Mapping[str, object]]:
        """Rows for the table of projects."""
        for key, (identifier, path) in self._projects.items():
            yield {"id": identifier, "key": key, "path": path}

    def session_rows(self) -> Iterator[Mapping[str, object]]:
        """Rows for the table of sessions."""
        for session in self._sessions.values():
            yield {
                "id": session.id,
                "agent": AGENT,
                "key": session.key,
                "parent_key": None,
                "project_id": session.project_id,
                "cwd": session.cwd,
                "branch": session.branch,
                "title": session.title,
                # Whatever the session's own log says of its title is better.
                "title_rank": _LOWEST_RANK if session.title else 0,
                "indexed_title": session.title,
                "program": False,
                "started_at": session.started_at,
                "ended_at": session.ended_at,
            }

    def _new_project(self, folder: str) -> int | None:
        path = self.clean(self._helpers.project_of(folder))
        if path is None:
            return None
        key = project_key(path)
        if key not in self._projects:
            self._projects[key] = (len(self._projects) + 1, path)
        return self._projects[key][0]
