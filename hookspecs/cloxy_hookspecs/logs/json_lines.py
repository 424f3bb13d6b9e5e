"""From the bytes of a line to JSON objects, whatever state the line is in.

A whole line goes through orjson. What orjson refuses takes the slow way, which recovers what
can be recovered: several objects glued on one line, an object behind a run of zero bytes or
behind half of another one, halves of surrogate pairs, invalid UTF-8, NaN.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import orjson

from cloxy_hookspecs.logs.json_values import DECODER, Record, is_record, repaired
from cloxy_hookspecs.types.ingest import RawLine

# Attempts to find a whole object behind a damaged one; each may cost a scan of the line.
_ATTEMPTS = 16
_VALUES = 10_000
# Programs escape them in JSON; a tab some write as it is.
_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]")
_FILLING = re.compile("[\\s\ufeff\0]*")


@dataclass(frozen=True, slots=True)
class Recovered:
    """What a damaged line still holds.

    Attributes:
        records: the objects, in order.
        damage: what was passed over; None when nothing was.
    """

    records: list[Record]
    damage: str | None


def decode_line(data: bytes) -> Record | None:
    """The object of a sound line; None when the line needs `LineRecovery`."""
    try:
        value = orjson.loads(data)
    except ValueError:
        return None
    return value if is_record(value) else None


def records_of(
    lines: Iterable[RawLine],
    recover: Callable[[bytes], Recovered],
    damaged: Callable[[RawLine, str], object],
) -> Iterator[tuple[Record, RawLine]]:
    """The objects of lines, each with its line; those that a damaged line still holds among them.

    Args:
        lines: lines as a source reads them.
        recover: `LineRecovery.recover` of this log.
        damaged: told of each damaged line, after its objects were given.
    """
    for line in lines:
        data = line.data
        record = decode_line(data) if data else None
        if record is not None:
            yield record, line
        elif line.dropped:
            damaged(line, f"a line of {line.dropped} bytes is too long")
        elif data and not data.isspace():
            found = recover(data)
            for each in found.records:
                yield each, line
            if found.damage:
                damaged(line, found.damage)


class LineRecovery:
    """Finds the objects of a line that is not simply one object."""

    def __init__(self, first_fields: Iterable[str], is_record: Callable[[Record], bool]) -> None:
        """Know records when they are seen.

        Args:
            first_fields: fields that a record may begin with.
            is_record: whether an object in the middle of a damaged one is a record rather than
                a part of it.
        """
        names = "|".join(re.escape(name) for name in first_fields)
        self._start = re.compile(rf'\{{"(?:{names})"')
        self._is_record = is_record

    def recover(self, data: bytes) -> Recovered:
        """The objects of a line; never raises."""
        text = repaired(data)
        records: list[Record] = []
        damage: str | None = None
        position = attempts = 0
        whole = True
        for _ in range(_VALUES):
            filling = _FILLING.match(text, position)
            end = filling.end() if filling else position
            if "\0" in text[position:end]:
                damage = damage or "zero bytes"
            position = end
            if position == len(text):
                return Recovered(records, damage or _damage_of_texts(data))
            try:
                value, position = DECODER.raw_decode(text, position)
            except (ValueError, RecursionError) as error:
                damage = "nested too deeply" if isinstance(error, RecursionError) else "not JSON"
                attempts += 1
                start = self._start.search(text, position + 1) if attempts < _ATTEMPTS else None
                if start is None:
                    return Recovered(records, damage)
                position = start.start()
                whole = False
                continue
            if is_record(value) and (whole or self._is_record(value)):
                records.append(value)
                whole = True
            else:
                damage = damage or "not a JSON object"
        return Recovered(records, damage or "too many values")


def _damage_of_texts(data: bytes) -> str | None:
    """What was written in no form of a text; the JSON around it may still be whole."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return "bytes that are no UTF-8"
    return "control characters" if _CONTROL.search(data) else None
