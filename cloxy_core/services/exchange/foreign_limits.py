"""What a file of others may be, and what is said when it is more, or damaged."""

from dataclasses import dataclass
from typing import Final

MIB: Final = 1024 * 1024


class ForeignTrouble(Exception):
    """A file that cannot be read, or not to its end; the words say why.

    Attributes:
        hint: what to do about it.
    """

    def __init__(self, words: str, hint: str = "download the export again") -> None:
        super().__init__(words)
        self.hint = hint


DAMAGE_HINT: Final = "repair it (`sqlite3 FILE .recover` writes a new one), or give an older copy"


class ForeignDamage(ForeignTrouble):
    """A place in a database that cannot be read; what lies behind it may be readable."""


@dataclass(frozen=True, slots=True)
class ForeignLimits:
    """Caps on one file.

    Attributes:
        members: of an archive, of any name.
        member_bytes: of one member, unpacked.
        total_bytes: of everything that is read, unpacked.
        ratio: unpacked bytes for one packed one; text packs to a twentieth at best.
        ratio_from: unpacked bytes below which the ratio is of no interest.
        conversation_bytes: of one conversation.
        depth: of brackets within one conversation.
        document_bytes: of a file that holds all memories of a system in one JSON object.
    """

    members: int = 100_000
    member_bytes: int = 4096 * MIB
    total_bytes: int = 16_384 * MIB
    ratio: int = 200
    ratio_from: int = 8 * MIB
    conversation_bytes: int = 64 * MIB
    depth: int = 64
    document_bytes: int = 1024 * MIB


LIMITS: Final = ForeignLimits()
