"""Old pieces that recall passes over, found by what is said in them; for forgetting."""

from collections.abc import Collection, Mapping

from sqlalchemy import Connection, select

from cloxy_core.services.upgrade.said import COVERED, LONG_ENOUGH, is_upgraded
from cloxy_core.services.upgrade.turns import squashed, turns
from cloxy_hookspecs.tables import memories


def shadows(connection: Connection, said: Mapping[int, Collection[str]]) -> set[int]:
    """Ids of passed-over memories that hold any of these texts, or a part of one.

    Nobody sees them, so that they must go with the message that took their place.

    Args:
        connection: a transaction.
        said: texts of messages, by the id of their session.
    """
    found: set[int] = set()
    for session, texts in said.items():
        pieces = connection.execute(
            select(memories.c.id, memories.c.content).where(
                memories.c.session_id == session, memories.c.state == COVERED, is_upgraded
            )
        ).all()
        wanted = {flat for text in texts if (flat := squashed(text))} if pieces else set()
        found |= {piece.id for piece in pieces if _tells(piece.content, wanted)}
    return found


def _tells(piece: str, texts: Collection[str]) -> bool:
    said = turns(piece)
    whole = squashed(piece)
    return any(
        text in said
        or (len(text) >= LONG_ENOUGH and text in whole)
        or any(len(turn) >= LONG_ENOUGH and turn in text for turn in said)
        for text in texts
    )
