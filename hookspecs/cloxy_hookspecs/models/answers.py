"""An answer in pieces: up to what ends it, with its calls, and a sign of life for each token."""

import secrets
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Protocol

from cloxy_hookspecs.types.llm import ChatDelta, ToolCallDelta

SLICE_SECONDS: Final = 0.3
"""Reading a conversation is done in slices of about this time, so that it can be broken off."""


class TextPieces:
    """Takes text; gives what is no part of what ends the answer.

    Attributes:
        stopped: whether a text came that ends the answer.
    """

    def __init__(self, stops: Sequence[str] = ()) -> None:
        """Begin an answer.

        Args:
            stops: texts that end it; they are not part of it.
        """
        self.stopped = False
        self._stops = tuple(filter(None, stops))
        self._held: str = ""

    def feed(self, text: str) -> str:
        """The text that is certain with the next characters; may be empty."""
        if self.stopped:
            return ""
        text = self._held + text
        found = [at for stop in self._stops if (at := text.find(stop)) >= 0]
        if found:
            self.stopped, self._held = True, ""
            return text[: min(found)]
        keep = longest_beginning(text, self._stops)
        self._held = text[len(text) - keep :]
        return text[: len(text) - keep]

    def end(self) -> str:
        """What was held back, as nothing more comes."""
        held, self._held = self._held, ""
        return held


def longest_beginning(text: str, marks: Sequence[str]) -> int:
    """Characters at the end of a text that may be the beginning of a mark."""
    longest = max((len(mark) for mark in marks), default=0) - 1
    for size in range(min(longest, len(text)), 0, -1):
        if any(mark.startswith(text[-size:]) for mark in marks):
            return size
    return 0


class ReadsCalls(Protocol):
    """Takes the text of an answer; gives text and calls."""

    def feed(self, text: str) -> list[ChatDelta]:
        """What is certain with the next text."""
        ...


def told(text: str, calls: ReadsCalls | None) -> Iterator[ChatDelta]:
    """What a token says; an empty delta where that is nothing yet: it is a sign of life."""
    found = [ChatDelta(text)] if calls is None else calls.feed(text)
    yield from found or [ChatDelta()]


def text_delta(text: str) -> list[ChatDelta]:
    """A piece of text; nothing for none."""
    return [ChatDelta(text)] if text else []


def call_delta(first: int, calls: Iterable[tuple[str, str]]) -> ChatDelta:
    """Whole calls that were read together.

    Args:
        first: number of the first one within its answer, from 0.
        calls: name and arguments, the latter as JSON.
    """
    return ChatDelta(
        tool_calls=tuple(
            ToolCallDelta(number, f"call_{secrets.token_hex(12)}", name, arguments)
            for number, (name, arguments) in enumerate(calls, first)
        )
    )


class Slices:
    """How many tokens of a conversation are read at a time.

    Attributes:
        size: of the next slice.
    """

    def __init__(self, least: int) -> None:
        """Begin with the smallest one.

        Args:
            least: tokens of the smallest one.
        """
        self.size = self._least = least

    def took(self, seconds: float, most: int) -> None:
        """Make the next one larger or smaller.

        Args:
            seconds: what the last one took.
            most: tokens of the largest one.
        """
        if seconds < SLICE_SECONDS / 2:
            self.size = min(self.size * 2, most)
        elif seconds > SLICE_SECONDS * 2:
            self.size = max(self.size // 2, self._least)
