"""Sessions as logs of operations: what they come to when all is done again in order.

An operation has a `kind`: 0 the whole state, 1 a value at a path, 2 values to be pushed to the
array at a path, which is first cut to `i` values where there is an `i`, 3 a value to be deleted.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from cloxy_hookspecs.logs.json_values import Record, decode, record_of

_PATH_LIMIT = 64
# Typing in the box for prompts is an operation, too; it may never have been sent.
_NOT_SAID = "inputState"
_NOWHERE = "its path leads nowhere"


@dataclass(slots=True)
class Replayed:
    """What a log comes to.

    Attributes:
        state: the session.
        damaged: operations that were passed over, with the reason.
        unknown: operations of kinds that are not known.
    """

    state: Record = field(default_factory=dict[str, object])
    damaged: list[str] = field(default_factory=list[str])
    unknown: Counter[str] = field(default_factory=Counter[str])


def replay(data: bytes) -> Replayed:
    """Do all operations of a log again; one that is wrong is passed over."""
    found = Replayed()
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            entry = decode(line)
        except ValueError:
            found.damaged.append(f"line {number} is not JSON")
            continue
        try:
            _apply(found, entry)
        except _WrongError as wrong:
            found.damaged.append(f"line {number}: {wrong}")
    return found


class _WrongError(Exception):
    """An operation cannot be done."""


def _apply(found: Replayed, entry: object) -> None:
    operation = record_of(entry)
    kind = operation.get("kind")
    if isinstance(kind, bool) or not isinstance(kind, int):
        raise _WrongError("is no operation")
    if kind == 0:
        value = operation.get("v")
        if not isinstance(value, dict):
            raise _WrongError("the state is no object")
        found.state = value
        return
    work = _KINDS.get(kind)
    if work is None:
        found.unknown[f"operation {kind}"[:40]] += 1
        return
    path = operation.get("k")
    if not isinstance(path, list) or not 0 < len(path) <= _PATH_LIMIT:
        raise _WrongError("has no path")
    if path[0] != _NOT_SAID:
        work(_container(found.state, path[:-1]), path[-1], operation)


def _container(state: object, path: list[object]) -> object:
    for key in path:
        state = _get(state, key)
    return state


def _get(container: object, key: object) -> object:
    if isinstance(container, dict) and isinstance(key, str) and key in container:
        return container[key]
    if isinstance(container, list):
        return container[_index(key, len(container))]
    raise _WrongError(_NOWHERE)


def _index(key: object, length: int) -> int:
    """A place in an array of a length."""
    if isinstance(key, int) and not isinstance(key, bool) and 0 <= key < length:
        return key
    raise _WrongError(_NOWHERE)


def _set(container: object, key: object, operation: Record) -> None:
    value = operation.get("v")
    if isinstance(container, dict) and isinstance(key, str):
        container[key] = value
    elif isinstance(container, list):
        place = _index(key, len(container) + 1)
        container[place : place + 1] = [value]
    else:
        raise _WrongError(_NOWHERE)


def _push(container: object, key: object, operation: Record) -> None:
    if isinstance(container, dict) and isinstance(key, str) and container.get(key) is None:
        container[key] = []
    target = _get(container, key)
    values = operation.get("v")
    length = operation.get("i")
    if not isinstance(target, list):
        raise _WrongError("pushes to what is no array")
    if values is not None and not isinstance(values, list):
        raise _WrongError("pushes what is no array")
    if length is not None:
        del target[_index(length, len(target) + 1) :]
    target.extend(values or [])


def _delete(container: object, key: object, operation: Record) -> None:
    del operation
    if isinstance(container, dict) and isinstance(key, str):
        container.pop(key, None)
    elif isinstance(container, list):
        # The place stays, empty, so that later paths lead where they did.
        container[_index(key, len(container))] = None
    else:
        raise _WrongError(_NOWHERE)


_KINDS: Mapping[int, Callable[[object, object, Record], None]] = {1: _set, 2: _push, 3: _delete}
