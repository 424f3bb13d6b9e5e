"""Reading the dates that people write."""

from datetime import tzinfo
from typing import Protocol

from cloxy_hookspecs.types.recall import Window


class DateReader(Protocol):
    """Reads dates, instants and words such as "last week"."""

    def zone(self, name: str | None) -> tzinfo:
        """A time zone by its name or offset; the server's own for None.

        Raises:
            FilterError: there is no such zone.
        """
        ...

    def window(
        self,
        since: str | float | None,
        until: str | float | None,
        *,
        now: int,
        zone: tzinfo,
    ) -> Window:
        """The span between two bounds, either of which may be open.

        Args:
            since: a date (from its first moment), an instant, seconds or milliseconds since the
                epoch, or words.
            until: the same; a date or a day in words includes all of it.
            now: the present, milliseconds.
            zone: the reader's zone, for what has none of its own.

        Raises:
            FilterError: a bound cannot be read; the message gives examples.
        """
        ...
