"""Working directories and sessions that are known from every source."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from sqlalchemy import Connection, func, select

from cloxy_hookspecs.tables import sessions

MOST: Final = 1000


def known_folders(connection: Connection) -> Sequence[Path]:
    """Absolute working directories of stored sessions, the newest first.

    What a log says is only a claim: names of other machines' shares are left out, since to look at
    one would be to call that machine.
    """
    last = func.max(func.coalesce(sessions.c.ended_at, sessions.c.started_at, 0))
    rows = connection.execute(
        select(sessions.c.cwd)
        .where(sessions.c.cwd.is_not(None))
        .group_by(sessions.c.cwd)
        .order_by(last.desc(), sessions.c.cwd)
        .limit(MOST)
    )
    return [Path(cwd) for cwd in rows.scalars() if cwd and _is_local(cwd)]


def _is_local(cwd: str) -> bool:
    if "\0" in cwd or cwd.startswith(("\\\\", "//")):
        return False
    return Path(cwd).is_absolute()


class KnownSessions:
    """Ids of stored sessions, by agent, as of the last look."""

    def __init__(self) -> None:
        """Know of none yet."""
        self._keys: dict[str, set[str]] = {}
        self._count = 0
        self._last = 0

    def look(self, connection: Connection) -> None:
        """Look again: at those that are new, or at all of them after some were forgotten."""
        stored = connection.scalar(select(func.count()).select_from(sessions)) or 0
        if not self._take_new(connection, stored):
            self._keys, self._count, self._last = {}, 0, 0
            self._take_new(connection, stored)

    def _take_new(self, connection: Connection, stored: int) -> bool:
        """Take those that came since the last one; whether that makes as many as are stored."""
        new = select(sessions.c.id, sessions.c.agent, sessions.c.key)
        new = new.where(sessions.c.id > self._last).order_by(sessions.c.id)
        for number, agent, key in connection.execute(new):
            self._keys.setdefault(agent, set()).add(key)
            self._count, self._last = self._count + 1, number
        return self._count == stored

    def is_told_by_another(self, key: str, agent: str) -> bool:
        """Whether a session is stored from the logs of another agent than this one."""
        return any(key in keys for other, keys in self._keys.items() if other != agent)
