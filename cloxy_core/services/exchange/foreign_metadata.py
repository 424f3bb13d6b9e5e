"""What another system knows of a note, as values that can be stored with it."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, cast

from cloxy_core.services.exchange.foreign_talk import string

_DEPTH: Final = 16
_VALUE: Final = 64 * 1024
_WHOLE: Final = 256 * 1024
_NAME: Final = 200
_INTEGER: Final = 1 << 63


def fitted(metadata: Mapping[str, object]) -> tuple[dict[str, object], int]:
    """Metadata that can be written as JSON and is not too large.

    Left out are values that are no JSON (bytes, numbers without end), nested deeper than 16
    levels, or larger than about 64 KiB, and what would make the whole larger than 256 KiB.

    Returns:
        The rest, and how many values were left out.
    """
    kept: dict[str, object] = {}
    left = whole = 0
    for name, value in metadata.items():
        budget = _Budget(_VALUE)
        try:
            fit = _fit(value, _DEPTH, budget)
        except _DoesNotFitError:
            left += 1
            continue
        whole += _VALUE - budget.left + len(name)
        if whole > _WHOLE:
            left += 1
            whole -= _VALUE - budget.left + len(name)
            continue
        kept[_name(name)] = fit
    return kept, left


class _DoesNotFitError(ValueError):
    """A value that is not taken."""


@dataclass(slots=True)
class _Budget:
    """Characters that a value may still have."""

    left: int

    def spend(self, characters: int) -> None:
        self.left -= characters
        if self.left < 0:
            raise _DoesNotFitError


def _fit(value: object, depth: int, budget: _Budget) -> object:
    budget.spend(4)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        budget.spend(len(value))
        return string(value) or ""
    if isinstance(value, int) and -_INTEGER <= value < _INTEGER:
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    if depth == 0:
        raise _DoesNotFitError
    if isinstance(value, list | tuple):
        items = cast("list[object] | tuple[object, ...]", value)
        return [_fit(each, depth - 1, budget) for each in items]
    if isinstance(value, dict):
        fields = cast("dict[object, object]", value)
        found: dict[str, object] = {}
        for name, each in fields.items():
            budget.spend(len(str(name)))
            found[_name(str(name))] = _fit(each, depth - 1, budget)
        return found
    raise _DoesNotFitError


def _name(name: str) -> str:
    return (string(name) or "")[:_NAME]
