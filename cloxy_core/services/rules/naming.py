"""Which project a person means: by path, with all below it, or by the name of its folder."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, select

from cloxy_core.store.project_keys import is_path, key_matches
from cloxy_hookspecs import InputError, NotFoundError
from cloxy_hookspecs.tables import projects

_SHOWN = 10


@dataclass(frozen=True, slots=True)
class NamedProject:
    """A project: its row, the one spelling of its path that is compared, and the shown one."""

    id: int
    key: str
    path: str


def pick_projects(connection: Connection, name: str) -> Sequence[NamedProject]:
    """The projects that a person means, at least one.

    Raises:
        InputError: the name is empty, or is the last folder of several projects.
        NotFoundError: there is none.
    """
    found = find_projects(connection, name)
    if not found:
        raise NotFoundError(
            f"no project is called {name.strip()}", hint="GET /projects lists them by path"
        )
    return found


def find_projects(connection: Connection, name: str) -> Sequence[NamedProject]:
    """As `pick_projects`; none when there is none."""
    wanted = name.strip()
    if not wanted:
        raise InputError("the project is empty", hint="name its path, or the last folder of it")
    rows = connection.execute(select(projects.c.id, projects.c.key, projects.c.path)).all()
    known = [NamedProject(row.id, row.key, row.path) for row in rows]
    if is_path(wanted):
        return [project for project in known if key_matches(wanted, project.key)]
    word = wanted.casefold()
    found = [project for project in known if last_folder(project.key).casefold() == word]
    if len(found) > 1:
        raise ambiguous(wanted, [project.path for project in found])
    return found


def last_folder(key: str) -> str:
    """The last segment of a path."""
    return key.rstrip("/").rpartition("/")[2]


def ambiguous(name: str, paths: Sequence[str]) -> InputError:
    """The refusal of a name that fits several projects; it lists them."""
    listed = ", ".join(sorted(paths)[:_SHOWN])
    more = f" and {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else ""
    return InputError(
        f"{len(paths)} projects are called {name}: {listed}{more}", hint="name one by its path"
    )
