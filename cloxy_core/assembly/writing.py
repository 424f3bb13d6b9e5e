"""What writes memories: transcripts, notes, and what forgets them."""

from dataclasses import dataclass

from cloxy_core.assembly.base import Base, log, pick
from cloxy_core.services.indexing import Indexing
from cloxy_core.services.keeping.cleaning import FileCleaner
from cloxy_core.services.write.erasing import Eraser
from cloxy_core.services.write.forgetting import Forgetter
from cloxy_core.services.write.notes import NoteWriter
from cloxy_core.services.write.service import MemoryService
from cloxy_hookspecs import Chunker, OriginPolicy
from cloxy_hookspecs.seats import CHUNKERS, ORIGINS

TOMBSTONE_KEY = "tombstones.key"
NOTES = "notes"
NOTE = "note"
TRANSCRIPT = "transcript"
MESSAGES = "messages"


@dataclass(frozen=True, slots=True)
class Choices:
    """How memories are cut and kept, by the names that records use for it.

    Attributes:
        chunkers: what cuts texts into passages.
        policies: what holds for memories of an origin.
    """

    chunkers: dict[str, Chunker]
    policies: dict[str, OriginPolicy]

    @classmethod
    def of(cls, base: Base) -> "Choices":
        """All that plugins bring and that could be made."""
        chunkers = dict(base.lifespan.create_all(base.registry.all(CHUNKERS)))
        return cls(chunkers, {each.name: each for each in base.registry.all(ORIGINS)})

    def chunker(self, name: str) -> Chunker:
        """A chunker.

        Raises:
            PluginContractError: no plugin brings it.
        """
        return pick(self.chunkers, name, "chunker")

    def policy(self, origin: str) -> OriginPolicy:
        """What holds for memories of an origin.

        Raises:
            PluginContractError: no plugin brings it.
        """
        return pick(self.policies, origin, "origin")


def make_memories(
    base: Base, choices: Choices, indexing: Indexing, forgetter: Forgetter
) -> MemoryService:
    """What remembers notes, and forgets."""
    choices.policy(NOTE)  # without it nothing could be remembered
    notes = NoteWriter(choices.chunker(NOTES), choices.policies, indexing, base.clock)
    eraser = Eraser(base.store, indexing.scrub, log)
    files = FileCleaner(base.host, base.paths, base.clock, base.workers)
    return MemoryService(base.store, indexing, notes, forgetter, eraser, files)
