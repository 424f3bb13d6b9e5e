"""A file of JSON Lines that is read whole, as some logs are that are also cut back."""

from collections.abc import Iterator

from cloxy_hookspecs.logs.json_lines import LineRecovery, records_of
from cloxy_hookspecs.logs.json_values import Record
from cloxy_hookspecs.logs.turns import damaged
from cloxy_hookspecs.types.ingest import RawLine

_MARK = b"\xef\xbb\xbf"


def records_in(data: bytes, recovery: LineRecovery, problems: list[Record]) -> Iterator[Record]:
    """The objects of all lines, those that a damaged line still holds among them.

    Args:
        data: the whole file.
        recovery: knows records of this log.
        problems: gets a `damaged` record for each damaged line; that of the last one is quiet,
            since it may only be about to be written.
    """
    lines = data.removeprefix(_MARK).split(b"\n")

    def note(line: RawLine, damage: str) -> None:
        problems.append(damaged(f"line {line.end}: {damage}", quiet=line.end == len(lines)))

    numbered = (RawLine(number, number + 1, line) for number, line in enumerate(lines))
    for record, _line in records_of(numbered, recovery.recover, note):
        yield record
