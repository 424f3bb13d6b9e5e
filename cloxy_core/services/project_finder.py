"""The project of a working directory, among those of the store."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from sqlalchemy import Connection, select

from cloxy_core.services.rules.book import load_rules
from cloxy_core.store.project_keys import project_key
from cloxy_hookspecs import KnownProject, StorePort
from cloxy_hookspecs.tables import projects


class StoredProjects:
    """Finds projects in the store.

    It is asked about folders whose small files are read: beside the loop.
    """

    def __init__(self, store: StorePort, resolve: Callable[[str], str]) -> None:
        """Find projects.

        Args:
            store: the database.
            resolve: the repository that a worktree belongs to; any other folder itself.
        """
        self._store = store
        self._resolve = resolve

    async def find(self, cwd: str) -> KnownProject | None:
        """The project of a folder: itself, a worktree's repository, or the folder around it."""
        return await self._store.read(partial(_find, cwd=cwd, resolve=self._resolve))


def _find(connection: Connection, cwd: str, resolve: Callable[[str], str]) -> KnownProject | None:
    resolved = resolve(cwd)
    found = _nearest(connection, project_key(resolved))
    if found is None:
        return None
    rule = load_rules(connection).ignoring(cwd, resolved, found.path)
    return found if rule is None else replace(found, ignored=True)


def _nearest(connection: Connection, key: str) -> KnownProject | None:
    rows = connection.execute(select(projects.c.id, projects.c.key, projects.c.path)).all()
    known = {row.key: KnownProject(row.id, row.path) for row in rows}
    if key in known:
        return known[key]
    apart = {project_key(str(Path.home()))}
    while "/" in key.rstrip("/"):
        key = key.rpartition("/")[0]
        if not key.strip("/") or key in apart:
            return None
        if key in known:
            return known[key]
    return None
