"""Messages that were imported from an old database, and stand in the log of their session, too.

They have no ids that the log would know, so that they are recognised by their words. What the log
tells is taken out again: word for word it is there.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sqlalchemy import Connection, select

from cloxy_core.services.indexing import Indexing
from cloxy_core.services.upgrade.said import (
    LONG_ENOUGH,
    Said,
    is_foreign,
    messages_where,
)
from cloxy_core.services.upgrade.turns import turns
from cloxy_core.services.write.removal import remove_passages
from cloxy_core.services.write.tombstones import Tombstones
from cloxy_hookspecs.tables import passages

ACTOR = "upgrade"


def told(said: Said, texts: Mapping[str, str]) -> frozenset[str]:
    """Ids of those messages that the log of their session tells.

    Args:
        said: what is in the log.
        texts: messages of the session, by id.
    """
    by_piece: dict[str, list[str]] = {}
    for uid in texts:
        by_piece.setdefault(uid.rpartition(":")[0], []).append(uid)
    found: set[str] = set()
    for uids in by_piece.values():
        if said.tells([turn for uid in uids for turn in turns(texts[uid])]):
            found.update(uids)
        else:
            found.update(uid for uid in uids if said.covers(texts[uid]))
    return frozenset(found)


@dataclass(frozen=True, slots=True)
class GivingWay:
    """Takes out what a log tells; see `upgrade.covering.Imported`.

    Attributes:
        indexing: is told of every passage.
        tombstones: what was forgotten.
    """

    indexing: Indexing
    tombstones: Tombstones

    def sessions(self, connection: Connection) -> set[int]:
        """Sessions that hold messages of an old database."""
        found = select(passages.c.session_id).where(is_foreign).distinct()
        return {int(each) for each in connection.execute(found).scalars() if each is not None}

    def cover(self, connection: Connection, session: int, said: Said, now: int) -> tuple[int, int]:
        """Take out what is told of a session; how many messages went, and how many are left."""
        every = {
            uid: (text, ids)
            for uid, text, ids in messages_where(connection, session, is_foreign)
            if uid is not None
        }
        gone = told(said, {uid: text for uid, (text, _ids) in every.items()})
        if gone:
            ids = [each for uid in gone for each in every[uid][1]]
            remove_passages(connection, self.indexing, ids, actor=ACTOR, now=now)
            leave(connection, self.tombstones, ((uid, every[uid][0]) for uid in gone), now)
        return len(gone), len(every) - len(gone)


def leave(
    connection: Connection, tombstones: Tombstones, messages: Iterable[tuple[str, str]], now: int
) -> None:
    """Let messages stay away for good that a log tells: when that is forgotten, so are they.

    Of a longer text that holds by itself, since it is recognised as forgotten by its words.

    Args:
        connection: a write transaction.
        tombstones: where it is noted.
        messages: ids and texts.
        now: milliseconds.
    """
    short = [(uid, "") for uid, text in messages if len(" ".join(text.split())) < LONG_ENOUGH]
    if short:
        tombstones.bury(connection, short, now)
