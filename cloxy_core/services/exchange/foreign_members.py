"""The members of a large JSON object, one item of its lists in memory at a time."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, Final

from cloxy_core.services.exchange.foreign_item import ItemBytes
from cloxy_core.services.exchange.foreign_limits import LIMITS, ForeignLimits, ForeignTrouble

_BLOCK: Final = 1 << 20
_MARK: Final = b"\xef\xbb\xbf"
_TOKEN: Final = re.compile(
    rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[{}\[\]]|[^"{}\[\]]++|(?P<open>")', re.DOTALL
)
_NAME: Final = re.compile(rb'"([^"\\]{0,200})"')
_OPENING: Final = {b"{": b"}", b"[": b"]"}
_CLOSING: Final = frozenset(_OPENING.values())
CUT: Final = "the file is cut: its object does not end"
DAMAGED: Final = "the file is damaged: its brackets do not fit"


@dataclass(frozen=True, slots=True)
class Member:
    """A list or an object of the object, or an item of such a list.

    Attributes:
        name: of the member; empty when it has an unusual one.
        is_list: whether it is a list.
        data: bytes of an object, which is the member or an item of it; None where a list begins.
        trouble: in words why there are no bytes; None when there are.
    """

    name: str
    is_list: bool
    data: bytes | None = None
    trouble: str | None = None


def split_object(stream: BinaryIO, limits: ForeignLimits = LIMITS) -> Iterator[Member]:
    """The members of a JSON object in their order; those that are neither are passed over.

    Args:
        stream: bytes of a JSON object; it is read once.
        limits: on the size of the whole, and on the size and depth of an item.

    Raises:
        ForeignTrouble: it is no object, or damaged, ends too early or is too large.
    """
    splitter = _Splitter(limits)
    for token in _tokens(stream, limits):
        found = splitter.take(token)
        if found is not None:
            yield found
    splitter.finish()


def _tokens(stream: BinaryIO, limits: ForeignLimits) -> Iterator[bytes]:
    """Brackets, strings, and what stands between them."""
    rest, total, is_first = b"", 0, True
    while block := stream.read(_BLOCK):
        total += len(block)
        if total > limits.document_bytes:
            raise ForeignTrouble(
                f"it is larger than {limits.document_bytes:,} bytes", "export a part of it there"
            )
        data = rest + (block.removeprefix(_MARK) if is_first else block)
        rest, is_first = b"", False
        for match in _TOKEN.finditer(data):
            if match["open"] is not None:
                # The end of this string is still to come.
                rest = data[match.start() :]
                break
            yield match[0]
        if len(rest) > limits.conversation_bytes:
            raise ForeignTrouble(f"a text in it is larger than {limits.conversation_bytes:,} bytes")
    if rest:
        raise ForeignTrouble(CUT)


class _Splitter:
    """Where in the object the reading stands."""

    def __init__(self, limits: ForeignLimits) -> None:
        self._limits = limits
        self._open: list[bytes] = []
        self._last = (b"", b"")
        self._name = ""
        self._item = ItemBytes(limits.conversation_bytes)
        self._base = 0
        self._ended = False

    def take(self, token: bytes) -> Member | None:
        """The next token; a member that begins or ends with it."""
        if token in _OPENING:
            return self._begin(token)
        if token in _CLOSING:
            return self._end(token)
        if self._base:
            self._item.keep(token)
        elif len(self._open) == 1:
            # Before a member stand its name and a colon, which blocks may part from white space.
            self._last = (self._last[1], token) if token.strip() else self._last
        elif len(self._open) == 2 and token.strip(b" \t\r\n,"):
            return Member(self._name, is_list=True, trouble="it is no object")
        elif not self._open and token.strip():
            raise ForeignTrouble(
                "the file is damaged: something stands "
                + ("behind its object" if self._ended else "before its object")
            )
        return None

    def finish(self) -> None:
        """There are no more tokens.

        Raises:
            ForeignTrouble: the object is not at its end.
        """
        if not self._ended:
            raise ForeignTrouble(CUT)

    def _begin(self, token: bytes) -> Member | None:
        depth, begun = len(self._open), None
        if depth == 0 and (token != b"{" or self._ended):
            raise ForeignTrouble("the file is damaged: something stands behind its object")
        if depth == 1:
            found = _NAME.fullmatch(self._last[0]) if self._last[1].strip() == b":" else None
            self._name = found[1].decode("utf-8", "replace") if found else ""
            self._last = (b"", b"")
            if token == b"[":
                begun = Member(self._name, is_list=True)
        self._open.append(token)
        if self._base:
            if depth - self._base > self._limits.depth:
                self._item.trouble = "it is nested too deep"
                if depth > self._limits.depth * self._limits.depth:
                    raise ForeignTrouble("it is nested too deep")
        elif depth == 2 or (depth == 1 and token == b"{"):
            self._base = depth + 1
            self._item.trouble = None if token == b"{" else "it is no object"
        if self._base:
            self._item.keep(token)
        return begun

    def _end(self, token: bytes) -> Member | None:
        if not self._open or _OPENING[self._open.pop()] != token:
            raise ForeignTrouble(DAMAGED)
        self._ended = not self._open
        if not self._base:
            return None
        self._item.keep(token)
        if len(self._open) >= self._base:
            return None
        is_list = len(self._open) > 1
        self._base = 0
        taken = self._item.taken()
        if isinstance(taken, str):
            return Member(self._name, is_list, trouble=taken)
        return Member(self._name, is_list, taken)
