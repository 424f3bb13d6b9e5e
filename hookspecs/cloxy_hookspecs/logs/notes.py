"""What a parser found in lines besides messages."""

from cloxy_hookspecs.types.ingest import BadLine, RawLine

_UNKNOWN_KINDS = 100
_KIND_LIMIT = 60


class Notes:
    """Counts records, and notes what is damaged or unknown; the run of a parser can be one.

    Attributes:
        records: how many records were understood, noise included.
        bad_lines: damaged lines.
        unknown_kinds: how many records there were of each unknown kind, of the first 100 kinds.
    """

    def __init__(self) -> None:
        self.records = 0
        self.bad_lines: list[BadLine] = []
        self.unknown_kinds: dict[str, int] = {}

    def bad(self, line: RawLine, reason: str) -> None:
        """Note a damaged line; the reason is short and free of its text."""
        self.bad_lines.append(BadLine(line.start, line.end, reason))

    def unknown(self, kind: str, count: int = 1) -> None:
        """Count records of an unknown kind, which may be named by anything in them."""
        name = kind[:_KIND_LIMIT]
        if name in self.unknown_kinds or len(self.unknown_kinds) < _UNKNOWN_KINDS:
            self.unknown_kinds[name] = self.unknown_kinds.get(name, 0) + count

    def understood(self) -> None:
        """Count a record that was understood, whether it said something or not."""
        self.records += 1
