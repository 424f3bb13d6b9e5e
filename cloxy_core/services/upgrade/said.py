"""All that was said in a session, as it was read from its log."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import ColumnElement, Connection, String, and_, func, or_, select, type_coerce

from cloxy_core.services.passage_rows import PASSAGE_TEXT
from cloxy_core.services.upgrade.turns import FOREIGN, squashed, turns
from cloxy_core.store.legacy.rows import UPGRADED_FROM
from cloxy_hookspecs.tables import memories, passages, sessions

COVERED: Final = "superseded"
"""State of an old piece that is told by its session's log."""

LONG_ENOUGH: Final = 40
"""Characters from which a text that is found somewhere in a session was not found by chance."""

# Only what a parser read in comes from a source.
is_upgraded: Final = (
    memories.c.source_id.is_(None)
    & (memories.c.origin == "transcript")
    & func.json_extract(type_coerce(memories.c.extra, String), f"$.{UPGRADED_FROM}").is_not(None)
)

is_foreign: Final = and_(
    passages.c.message_uid >= FOREIGN,
    # The character behind the colon that ends it.
    passages.c.message_uid < FOREIGN[:-1] + ";",
)
"""Whether a message was imported from an old database, which knows no ids of messages."""


@dataclass(frozen=True, slots=True)
class Said:
    """What the log of a session tells.

    Attributes:
        whole: every message, one after another.
        messages: each message by itself.
    """

    whole: str
    messages: frozenset[str]

    @classmethod
    def of(cls, connection: Connection, session: int, *, with_pieces: bool = False) -> "Said":
        """Read the messages of a session, and those of the sub-agents that worked for it.

        The old databases have what sub-agents said in the session that started them.

        Args:
            connection: a transaction.
            session: its id.
            with_pieces: whether the pieces count as well that an upgrade left there.
        """
        every = [session, *_sub_sessions(connection, session)]
        messages = [squashed(text) for each in every for text in _messages(connection, each)]
        if with_pieces:
            messages += [turn for text in _pieces(connection, session) for turn in turns(text)]
        return cls(" ".join(messages), frozenset(messages))

    def covers(self, piece: str) -> bool:
        """Whether every turn of an old piece is among what was said."""
        return self.tells(turns(piece))

    def tells(self, found: Sequence[str]) -> bool:
        """Whether each of some turns is among what was said, and one of them for certain."""
        if not found or any(turn not in self.whole for turn in found):
            return False
        # A few letters are in any conversation: they count beside a turn that is certain.
        return any(len(turn) >= LONG_ENOUGH or turn in self.messages for turn in found)


def _sub_sessions(connection: Connection, session: int) -> Sequence[int]:
    own = sessions.alias("own")
    return (
        connection.execute(
            select(sessions.c.id)
            .join(own, and_(own.c.agent == sessions.c.agent, own.c.key == sessions.c.parent_key))
            .where(own.c.id == session, sessions.c.relation == "subagent")
            .order_by(sessions.c.id)
        )
        .scalars()
        .all()
    )


def _messages(connection: Connection, session: int) -> Iterator[str]:
    """Texts of messages in the order in which they were stored, the parts of long ones joined."""
    from_log = and_(
        memories.c.source_id.is_not(None), or_(passages.c.message_uid.is_(None), ~is_foreign)
    )
    for _uid, text, _ids in messages_where(connection, session, from_log):
        yield text


def messages_where(
    connection: Connection, session: int, condition: ColumnElement[bool]
) -> Iterator[tuple[str | None, str, Sequence[int]]]:
    """Messages of a session: id, text and ids of passages, in the order of the store.

    Args:
        connection: a transaction.
        session: its id.
        condition: on their passages and memories.
    """
    rows = connection.execute(
        select(passages.c.id, passages.c.message_uid, PASSAGE_TEXT.label("text"))
        .join(memories, memories.c.id == passages.c.memory_id)
        .where(passages.c.session_id == session, memories.c.state == "active", condition)
        .order_by(passages.c.id)
    )
    uid: str | None = None
    parts: list[str] = []
    ids: list[int] = []
    for row in rows:
        if parts and row.message_uid != uid:
            yield uid, "".join(parts), ids
            parts, ids = [], []
        uid = row.message_uid
        parts.append(row.text)
        ids.append(row.id)
    if parts:
        yield uid, "".join(parts), ids


def _pieces(connection: Connection, session: int) -> Iterator[str]:
    rows = connection.execute(
        select(memories.c.content)
        .where(memories.c.session_id == session, memories.c.state == "active", is_upgraded)
        .order_by(memories.c.ordinal)
    )
    yield from rows.scalars()
