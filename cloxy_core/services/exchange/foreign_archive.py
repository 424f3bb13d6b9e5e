"""The conversations of an export as they lie in a zip; nothing is unpacked to disk."""

import io
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from typing import IO, BinaryIO, Final

from cloxy_core.services.exchange.foreign_limits import LIMITS, ForeignLimits, ForeignTrouble

_NAMES: Final = re.compile(r"conversations(?:-\d{3})?\.json")
_ENCRYPTED: Final = 0x1 | 0x40
_KINDS: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_DAMAGE: Final = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    NotImplementedError,
    OverflowError,
    ValueError,
)
_AGAIN: Final = "download the export again, and give the zip as it came"
DAMAGED: Final = "the zip is damaged"


class Archive:
    """A zip, looked at before anything of it is unpacked."""

    def __init__(self, file: BinaryIO, limits: ForeignLimits = LIMITS) -> None:
        """Read its directory.

        Raises:
            ForeignTrouble: it is none, or holds what it may not.
        """
        self._limits = limits
        self._total = 0
        try:
            self._zip = zipfile.ZipFile(file)
        except (*_DAMAGE, OSError) as error:
            raise ForeignTrouble(f"{DAMAGED} or cut", _AGAIN) from error
        self._members = self._chosen()

    def streams(self) -> Iterator[BinaryIO]:
        """The files with conversations, in the order of their names."""
        for member in self._members:
            try:
                packed = self._zip.open(member)
            except (*_DAMAGE, OSError, RuntimeError) as error:
                raise ForeignTrouble(DAMAGED, _AGAIN) from error
            with packed:
                yield io.BufferedReader(_Unpacked(self, packed, member))

    def count(self, more: int) -> None:
        """So many bytes more were unpacked.

        Raises:
            ForeignTrouble: it is too much.
        """
        self._total += more
        if self._total > self._limits.total_bytes:
            raise ForeignTrouble(
                f"it unpacks to more than {self._limits.total_bytes:,} bytes", _AGAIN
            )

    def check(self, member: zipfile.ZipInfo, size: int) -> None:
        """Return when a member may be so large.

        Raises:
            ForeignTrouble: it may not.
        """
        limits = self._limits
        if size > limits.member_bytes:
            raise ForeignTrouble(
                f"{member.filename} in it is larger than {limits.member_bytes:,} bytes", _AGAIN
            )
        if size > limits.ratio_from and size > limits.ratio * max(member.compress_size, 1):
            raise ForeignTrouble(
                f"{member.filename} in it unpacks to more than {limits.ratio} times its size, "
                "which no text does",
                _AGAIN,
            )

    def _chosen(self) -> Sequence[zipfile.ZipInfo]:
        every = self._zip.infolist()
        if len(every) > self._limits.members:
            raise ForeignTrouble(f"it holds more than {self._limits.members:,} files", _AGAIN)
        # The name as it is written: a path to elsewhere is no name that is looked for.
        chosen = [each for each in every if _NAMES.fullmatch(each.orig_filename)]
        if not chosen:
            raise ForeignTrouble(
                "it is a zip without conversations.json",
                "give the zip that ChatGPT or Claude.ai sent, as it came",
            )
        if len({each.filename for each in chosen}) < len(chosen):
            raise ForeignTrouble("a name stands twice in the zip", _AGAIN)
        for each in chosen:
            if each.flag_bits & _ENCRYPTED:
                raise ForeignTrouble(
                    "the zip is encrypted", "unpack it, and give its conversations.json"
                )
            if each.compress_type not in _KINDS:
                raise ForeignTrouble(
                    "the zip is packed in a way that is not read",
                    "unpack it, and give its conversations.json",
                )
            self.check(each, each.file_size)
        return sorted(chosen, key=lambda each: each.filename)


class _Unpacked(io.RawIOBase):
    """A member as it is unpacked, within its caps."""

    def __init__(self, archive: Archive, packed: IO[bytes], member: zipfile.ZipInfo) -> None:
        self._archive = archive
        self._packed = packed
        self._member = member
        self._size = 0

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: "bytearray | memoryview") -> int:  # type: ignore[override]
        """The next bytes.

        Raises:
            ForeignTrouble: they are damaged, or too many.
        """
        try:
            data = self._packed.read(len(buffer))
        except (*_DAMAGE, OSError) as error:
            raise ForeignTrouble(
                f"{DAMAGED}: {self._member.filename} is not whole", _AGAIN
            ) from error
        self._size += len(data)
        self._archive.check(self._member, self._size)
        self._archive.count(len(data))
        buffer[: len(data)] = data
        return len(data)
