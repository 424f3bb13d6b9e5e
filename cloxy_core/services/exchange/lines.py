"""Lines of a file that nobody vouches for, as JSON objects."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import BinaryIO, Final, cast

from cloxy_core.services.exchange.form import LINE_LIMIT

_BLOCK: Final = 1 << 20
_MARK: Final = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Line:
    """One line.

    Attributes:
        number: from 1.
        value: its object; empty when it is bad.
        trouble: why it is none, in words; None when it is one.
        finished: whether a line feed ended it.
    """

    number: int
    value: Mapping[str, object]
    trouble: str | None = None
    finished: bool = True


def read_lines(file: BinaryIO, limit: int = LINE_LIMIT) -> Iterator[Line]:
    """The lines of a file, one in memory at a time; blank ones are passed over.

    Args:
        file: the file, at its beginning.
        limit: bytes of the longest line that is kept.
    """
    number = 0
    while data := file.readline(limit + 1):
        number += 1
        finished = data.endswith(b"\n")
        if len(data) > limit and not finished:
            finished = _skip(file)
            yield Line(number, {}, f"the line is longer than {limit:,} bytes", finished)
        elif data.strip():
            value = _decoded(data.removeprefix(_MARK) if number == 1 else data)
            if isinstance(value, str):
                yield Line(number, {}, value, finished)
            else:
                yield Line(number, value, None, finished)


def _skip(file: BinaryIO) -> bool:
    """Pass over the rest of a line; whether it ends."""
    while block := file.readline(_BLOCK):
        if block.endswith(b"\n"):
            return True
    return False


def _decoded(data: bytes) -> Mapping[str, object] | str:
    """The object of a line, or why there is none."""
    try:
        value: object = json.loads(
            data.decode("utf-8"), object_pairs_hook=_unique, parse_constant=_no_number
        )
    except UnicodeDecodeError:
        return "the line is not UTF-8"
    except RecursionError:
        return "the line is nested too deep"
    except _Refused as error:
        return str(error)
    except ValueError:
        return "the line is not JSON"
    return cast("dict[str, object]", value) if isinstance(value, dict) else "it is no JSON object"


class _Refused(ValueError):
    """JSON that has no one meaning."""


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _Refused("a key stands twice in one object")
    return found


def _no_number(name: str) -> object:
    raise _Refused(f"{name} is no number of JSON")
