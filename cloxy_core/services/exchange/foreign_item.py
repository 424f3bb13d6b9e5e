"""One item of a long JSON file, while it is read."""

from typing import Final


class ItemBytes:
    """Takes the bytes of an item, up to as many as are allowed.

    Attributes:
        trouble: in words why the item is not kept; None while it is.
    """

    def __init__(self, most: int) -> None:
        """Nothing was read yet.

        Args:
            most: bytes of the largest item.
        """
        self.trouble: str | None = None
        self._most: Final = most
        self._bytes = bytearray()

    def keep(self, data: bytes) -> None:
        """Take the next bytes."""
        if len(self._bytes) + len(data) > self._most:
            self.trouble = f"it is larger than {self._most:,} bytes"
        if self.trouble is None:
            self._bytes += data
        else:
            self._bytes.clear()

    def taken(self) -> bytes | str:
        """The item, or why there is none; the next one begins."""
        taken = self.trouble or bytes(self._bytes)
        self._bytes.clear()
        self.trouble = None
        return taken
