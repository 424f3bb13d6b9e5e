"""Messages of an old database of Cloxy that a session log told already."""

from collections.abc import Sequence

from sqlalchemy import Connection

from cloxy_core.services.exchange.entries import MessageEntry
from cloxy_core.services.exchange.giving_way import told
from cloxy_core.services.exchange.known import stored_messages, stored_sessions
from cloxy_core.services.upgrade.said import Said
from cloxy_core.services.upgrade.turns import FOREIGN


def told_in_logs(
    connection: Connection, agent: str, entries: Sequence[MessageEntry]
) -> Sequence[MessageEntry]:
    """Those of some messages that stand word for word in their session, as it was read here.

    Only messages of an old database are looked at: all others have ids of their own.
    """
    old = [entry for entry in entries if entry.named and entry.message.uid.startswith(FOREIGN)]
    if not old:
        return ()
    there = stored_sessions(connection, agent, [entry.message.session for entry in old])
    by_session: dict[str, list[MessageEntry]] = {}
    for entry in old:
        if entry.message.session in there:
            by_session.setdefault(entry.message.session, []).append(entry)
    found: list[MessageEntry] = []
    for key, own in by_session.items():
        stored = stored_messages(connection, agent, [entry.message for entry in own])
        said = Said.of(connection, there[key].id, with_pieces=True)
        uids = told(said, {entry.message.uid: entry.message.text for entry in own})
        found += [
            entry
            for entry in own
            if entry.message.uid in uids and (key, entry.message.uid) not in stored
        ]
    return found
