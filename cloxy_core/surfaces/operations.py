"""Calling operations, whatever the door: one place where errors become answers."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel
from pydantic import ValidationError as PydanticError

from cloxy_hookspecs import CloxyError, OperationProvider, ValidationError

SHOWN_PROBLEMS = 5


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation that is ready to be called.

    Attributes:
        record: its record, doors included.
        call: does it.
    """

    record: OperationProvider[Any, Any]
    call: Callable[[Any], Awaitable[BaseModel]]

    async def run(self, values: Mapping[str, object]) -> BaseModel:
        """Validate what a door was given, and do it.

        Raises:
            ValidationError: a field is missing, has the wrong type or is out of range.
            CloxyError: whatever the operation raises.
        """
        try:
            given = self.record.input.model_validate(values)
        except PydanticError as error:
            raise invalid(error.errors(include_url=False, include_input=False)) from error
        return await self.call(given)


def invalid(problems: Sequence[Mapping[str, Any]]) -> ValidationError:
    """The error for fields that were refused, naming each and what is wanted; never a value."""
    words = [_problem(problem) for problem in problems[:SHOWN_PROBLEMS]]
    if len(problems) > SHOWN_PROBLEMS:
        words.append(f"and {len(problems) - SHOWN_PROBLEMS} more")
    return ValidationError("; ".join(words), hint="see the REST reference for the fields")


def error_body(error: CloxyError) -> dict[str, object]:
    """The body of an error at every door."""
    return {
        "error": {"code": error.code, "message": error.message, "hint": error.hint},
        "detail": error.message,
    }


def _problem(problem: Mapping[str, Any]) -> str:
    place = ".".join(str(part) for part in problem.get("loc", ()) if part != "body")
    message = str(problem.get("msg", "is not valid"))
    return f"{place}: {message}" if place else message
