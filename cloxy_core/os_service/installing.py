"""Installing a service and removing it again, each whole or not at all."""

import contextlib
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from cloxy_core.os_service.boundary import Machine, ServiceError
from cloxy_core.os_service.managers.base import run_steps
from cloxy_core.os_service.planning import Plan, known_manager, service_name
from cloxy_core.os_service.record import (
    Record,
    digest_of,
    read_record,
    remove_record,
    write_record,
)
from cloxy_core.runtime.whole_file import replace_file

# Not a name that launchd or systemd would read as a definition.
ASIDE: Final = ".before-cloxy"
_DEFINITION_MODE: Final = 0o644
_FOLDER_MODE: Final = 0o700


@dataclass(frozen=True, slots=True)
class Change:
    """What an installation or a removal did.

    Attributes:
        state: `installed`, `changed`, `unchanged`, or `removed`.
        name: the service's name.
        definition: path of its definition.
        aside: where a definition that somebody else wrote or edited is kept; None for none.
    """

    state: Literal["installed", "changed", "unchanged", "removed"]
    name: str
    definition: Path
    aside: Path | None = None


def install(plan: Plan, machine: Machine) -> Change:
    """Carry a plan out; the service runs afterwards, or everything is as it was.

    One that is installed like this already is left alone, stopped or not.

    Raises:
        ServiceError: the service manager is not there or refused, or a file cannot be written.
    """
    manager, name = plan.manager, plan.wanted.name
    manager.check()
    before = _contents(plan.path)
    registered = manager.is_registered(name)
    if before == plan.definition and plan.record is not None and registered:
        return Change("unchanged", name, plan.path)
    aside = None
    try:
        plan.wanted.data_dir.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)
        if before is not None and before != plan.definition and not _is_ours(plan):
            aside = _keep_aside(plan.path, before)
        _write(plan.path, plan.definition)
        write_record(plan.wanted.data_dir, _record(plan))
    except OSError as error:
        raise ServiceError(f"the service cannot be written down: {error}") from error
    try:
        if registered:
            run_steps(machine, manager.replacement(name))
            manager.settle(name)
        run_steps(machine, plan.steps())
    except ServiceError:
        _undo(plan, machine, before, registered=registered)
        raise
    return Change("installed" if before is None else "changed", name, plan.path, aside)


def uninstall(data_dir: Path, machine: Machine) -> Change | None:
    """Stop and remove the service of a data directory; None when there is none.

    Raises:
        ServiceError: the service manager is not there, or a file cannot be removed.
    """
    manager = known_manager(machine)
    record = read_record(data_dir)
    name = service_name(data_dir, machine) if record is None else record.name
    path = manager.definition_path(name, data_dir)
    found = _contents(path)
    if record is None and found is None:
        return None
    manager.check()
    run_steps(machine, manager.removal(name))
    manager.settle(name)
    try:
        aside = None
        if found is not None and (record is None or digest_of(found) != record.digest):
            aside = _keep_aside(path, found)
        path.unlink(missing_ok=True)
        remove_record(data_dir)
    except OSError as error:
        raise ServiceError(f"the definition cannot be removed: {error}") from error
    run_steps(machine, manager.after_removal())
    return Change("removed", name, path, aside)


def _is_ours(plan: Plan) -> bool:
    record = plan.record
    return record is not None and record.definition == str(plan.path) and record.is_untouched()


def _record(plan: Plan) -> Record:
    return Record(
        platform=plan.manager.platform,
        name=plan.wanted.name,
        definition=str(plan.path),
        digest=digest_of(plan.definition),
        environment=dict(plan.given),
    )


def _undo(plan: Plan, machine: Machine, before: bytes | None, *, registered: bool) -> None:
    """Put back what was there before an installation that failed."""
    manager, name = plan.manager, plan.wanted.name
    if before is None:
        run_steps(machine, manager.removal(name))
        plan.path.unlink(missing_ok=True)
    else:
        _write(plan.path, before)
    if plan.record is None:
        remove_record(plan.wanted.data_dir)
    else:
        write_record(plan.wanted.data_dir, plan.record)
    run_steps(machine, manager.after_removal())
    if before is not None and registered:
        # What the failed attempt stopped runs again, if the manager takes it.
        with contextlib.suppress(ServiceError):
            run_steps(machine, manager.registration(name, plan.path))


def _contents(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ServiceError(f"{path} cannot be read: {error.strerror}") from error


def _keep_aside(path: Path, contents: bytes) -> Path:
    """Keep what somebody wrote, readable by its owner only: older versions wrote keys into it."""
    aside = path.with_name(path.name + ASIDE)
    _write(aside, contents, mode=0o600)
    return aside


def _write(path: Path, contents: bytes, mode: int = _DEFINITION_MODE) -> None:
    """Replace a file in one step."""
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, contents, mode)
