"""Calling operations, whatever the door: one place where errors become answers."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel
from pydantic import ValidationError as PydanticError

from cloxy_core.runtime.changes import watched
from cloxy_core.surfaces.work import WorkGate
from cloxy_hookspecs import OperationProvider, ValidationError

SHOWN_PROBLEMS = 5


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation that is ready to be called.

    Attributes:
        record: its record, doors included.
        call: does it.
        gate: bounds how much of its kind runs at the same time; None for no limit.
        after: told after every call that changed what is stored, well or not, whatever the door.
    """

    record: OperationProvider[Any, Any]
    call: Callable[[Any], Awaitable[BaseModel]]
    gate: WorkGate | None = None
    after: list[Callable[[], None]] = field(default_factory=list)

    async def run(self, values: Mapping[str, object]) -> BaseModel:
        """Validate what a door was given, and do it.

        Raises:
            ValidationError: a field is missing, has the wrong type or is out of range.
            BusyError: too much of its kind is running or waiting.
            CloxyError: whatever the operation raises.
        """
        try:
            given = self.record.input.model_validate(values)
        except PydanticError as error:
            raise invalid(error.errors(include_url=False, include_input=False)) from error
        with watched() as changes:
            try:
                if self.gate is None:
                    return await self.call(given)
                async with self.gate.place():
                    return await self.call(given)
            finally:
                for tell in self.after if changes.happened else ():
                    tell()


def invalid(problems: Sequence[Mapping[str, Any]]) -> ValidationError:
    """The error for fields that were refused, naming each and what is wanted; never a value."""
    words = [_problem(problem) for problem in problems[:SHOWN_PROBLEMS]]
    if len(problems) > SHOWN_PROBLEMS:
        words.append(f"and {len(problems) - SHOWN_PROBLEMS} more")
    return ValidationError("; ".join(words), hint="see the REST reference for the fields")


def _problem(problem: Mapping[str, Any]) -> str:
    place = ".".join(str(part) for part in problem.get("loc", ()) if part != "body")
    message = str(problem.get("msg", "is not valid"))
    return f"{place}: {message}" if place else message
