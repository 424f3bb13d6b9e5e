"""Which project a rule is for: one that is known, or a path that nobody has worked in yet."""

from dataclasses import dataclass

from sqlalchemy import Connection

from cloxy_core.services.rules.book import load_rules
from cloxy_core.services.rules.naming import ambiguous, find_projects, last_folder
from cloxy_core.store.project_keys import is_path, project_key
from cloxy_hookspecs import InputError, NotFoundError


@dataclass(frozen=True, slots=True)
class Chosen:
    """A project: its path in the one spelling that is compared, and as people see it."""

    key: str
    path: str


def choose(connection: Connection, name: str, *, set_only: bool = False) -> Chosen:
    """The project that a person means.

    Args:
        connection: a transaction.
        name: a path, or the name of its last folder.
        set_only: only one that has a rule of its own.

    Raises:
        InputError: the name is empty, or fits several.
        NotFoundError: it fits none.
    """
    wanted = name.strip()
    if not wanted:
        raise InputError("the project is empty", hint="name its path, or the last folder of it")
    ruled = [Chosen(rule.key, rule.path) for rule in load_rules(connection).rules]
    if is_path(wanted):
        return _by_path(wanted, ruled, set_only=set_only)
    word = wanted.casefold()
    found = {chosen.key: chosen for chosen in ruled if last_folder(chosen.key).casefold() == word}
    if not set_only:
        known = find_projects(connection, wanted)
        found |= {project.key: Chosen(project.key, project.path) for project in known}
    if len(found) > 1:
        raise ambiguous(wanted, [chosen.path for chosen in found.values()])
    if not found:
        raise _unknown(wanted, set_only=set_only)
    return next(iter(found.values()))


def _by_path(path: str, ruled: list[Chosen], *, set_only: bool) -> Chosen:
    key = project_key(path)
    if not key.strip("/"):
        raise InputError("that is the root of the disk", hint="name one project by its path")
    known = next((chosen for chosen in ruled if chosen.key == key), None)
    if known is None and set_only:
        raise _unknown(path, set_only=True)
    return known or Chosen(key, path)


def _unknown(name: str, *, set_only: bool) -> NotFoundError:
    if set_only:
        return NotFoundError(f"there is no rule for {name}", hint="`cloxy ignore --list` shows all")
    return NotFoundError(
        f"no project is called {name}", hint="name it by its path; GET /projects lists them"
    )
