"""Server-sent events out of bytes, as the HTML standard reads them (section 9.2.6)."""

import codecs
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Final

from cloxy_hookspecs import ModelError

MOST_CHARACTERS: Final = 4_194_304
"""Of one event: a whole tool call, or an answer of a server that does not stream."""


class EventReader:
    """Takes bytes in any portions; gives the data of each event that is complete."""

    def __init__(self) -> None:
        """Begin at the start of a stream."""
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._rest = ""
        self._data: list[str] = []
        self._size = 0
        self._start = True

    def feed(self, portion: bytes, *, final: bool = False) -> list[str]:
        """The data of events that end in this portion.

        Args:
            portion: the next bytes.
            final: whether they are the last; an event that has no blank line behind it then
                counts, as some servers leave it out.

        Raises:
            ModelError: an event has no end.
        """
        text = self._rest + self._decoder.decode(portion, final)
        if self._start and text:
            text, self._start = text.removeprefix("\ufeff"), False
        held = "\r" if text.endswith("\r") and not final else ""
        text = text[: len(text) - len(held)].replace("\r\n", "\n").replace("\r", "\n")
        *lines, rest = text.split("\n")
        self._rest = rest + held
        if final:
            lines += [self._rest, ""]
            self._rest = ""
        found = [event for line in lines if (event := self._line(line)) is not None]
        if self._size + len(self._rest) > MOST_CHARACTERS:
            raise ModelError("the server of models sends an event without an end")
        return found

    def _line(self, line: str) -> str | None:
        """Take a line in; the data of an event when it ends with this one."""
        if line:
            name, _, value = line.partition(":")
            if name == "data":
                value = value.removeprefix(" ")
                self._data.append(value)
                self._size += len(value)
            return None
        if not self._data:
            return None
        event, self._data, self._size = "\n".join(self._data), [], 0
        return event


async def events(portions: AsyncIterator[bytes]) -> AsyncGenerator[str]:
    """The data of each event of a stream.

    Raises:
        ModelError: an event has no end.
    """
    reader = EventReader()
    async for portion in portions:
        for event in reader.feed(portion):
            yield event
    for event in reader.feed(b"", final=True):
        yield event
