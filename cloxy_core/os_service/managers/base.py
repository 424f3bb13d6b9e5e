"""What the service managers have in common."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from cloxy_core.os_service.boundary import Machine, Outcome, ServiceError


@dataclass(frozen=True, slots=True)
class Wanted:
    """The service that is to be.

    Attributes:
        name: name at the service manager.
        program: the program and its arguments; the first is an absolute path.
        environment: variables it gets beside what the manager itself gives.
        data_dir: the data directory, absolute.
    """

    name: str
    program: tuple[str, ...]
    environment: Mapping[str, str]
    data_dir: Path


@dataclass(frozen=True, slots=True)
class Step:
    """A command of an installation.

    Attributes:
        command: program and arguments.
        may_fail: whether its failure is of no matter.
    """

    command: tuple[str, ...]
    may_fail: bool = False


class ServiceManager(Protocol):
    """One kind of service manager."""

    platform: str
    words: str

    def name_for(self, suffix: str) -> str:
        """The service's name; the suffix tells data directories other than the default apart."""
        ...

    def definition_path(self, name: str, data_dir: Path) -> Path:
        """Where the definition file lies."""
        ...

    def definition(self, wanted: Wanted) -> bytes:
        """Contents of the definition file."""
        ...

    def describe(self, definition: bytes) -> str:
        """The definition as text, to be shown."""
        ...

    def check(self) -> None:
        """Refuse when the manager cannot be used here and now.

        Raises:
            ServiceError: it is not there; the hint says how to run without it.
        """
        ...

    def registration(self, name: str, definition: Path) -> Sequence[Step]:
        """Commands that make the manager know the service, and start it."""
        ...

    def replacement(self, name: str) -> Sequence[Step]:
        """Commands that stop a service whose definition has changed, before it is registered."""
        ...

    def removal(self, name: str) -> Sequence[Step]:
        """Commands that stop the service, before its definition is removed."""
        ...

    def after_removal(self) -> Sequence[Step]:
        """Commands that follow when the definition is gone."""
        ...

    def is_registered(self, name: str) -> bool:
        """Whether the manager knows the service, and starts it at login."""
        ...

    def settle(self, name: str) -> None:
        """Wait until a removed service has gone, where removal takes a while."""
        ...

    def start(self, name: str, definition: Path) -> None:
        """Start it now."""
        ...

    def stop(self, name: str) -> None:
        """Stop it now."""
        ...

    def pid(self, name: str) -> int | None:
        """Its process id, if it runs and the manager tells."""
        ...

    def advice(self) -> str:
        """What a person should know about it once it is installed."""
        ...


def run_steps(machine: Machine, steps: Sequence[Step], hint: str | None = None) -> None:
    """Run commands in order, and stop at the first that fails.

    Raises:
        ServiceError: one failed; the message holds its words.
    """
    for step in steps:
        outcome = machine.runner.run(step.command)
        if outcome.code and not step.may_fail:
            raise refused(step.command, outcome, hint)


def refused(command: Sequence[str], outcome: Outcome, hint: str | None = None) -> ServiceError:
    """The error for a command that failed."""
    said = outcome.output or "it said nothing"
    return ServiceError(
        f"`{' '.join(command)}` failed with code {outcome.code}: {said}",
        hint=hint or "`cloxy install-service --print` shows what would be done",
    )
