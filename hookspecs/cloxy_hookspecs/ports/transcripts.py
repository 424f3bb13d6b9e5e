"""Keeping conversations that no log on disk holds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from cloxy_hookspecs.types.ingest import Message, SessionFacts


@dataclass(frozen=True, slots=True)
class Conversation:
    """Messages to be kept as transcripts are.

    Attributes:
        agent: whose sessions they are; part of a session's identity.
        place: stable name of where they come from, unique for the agent; shown as their source.
        messages: in order; each names its session, and a uid that stays the same if it comes again.
        facts: what is known of those sessions, by key.
    """

    agent: str
    place: str
    messages: Sequence[Message]
    facts: Mapping[str, SessionFacts]


@dataclass(frozen=True, slots=True)
class Kept:
    """What became of it.

    Attributes:
        messages_added: messages that are new.
        messages_known: messages that were there already.
        memories_added: memories that are new.
        redactions: secrets replaced, by kind.
    """

    messages_added: int = 0
    messages_known: int = 0
    memories_added: int = 0
    redactions: Mapping[str, int] | None = None


class TranscriptKeeper(Protocol):
    """Writes conversations exactly as the way in for session logs does.

    Secrets are replaced, fenced text of ours is taken out, what was forgotten stays forgotten,
    projects that are ignored stay out, and a message that is there already is not kept twice.
    """

    async def keep(self, conversation: Conversation) -> Kept:
        """Keep a conversation, durably.

        Raises:
            StoreFullError: there is too little room.
            StoreBusyError: too much waits to be written.
        """
        ...
