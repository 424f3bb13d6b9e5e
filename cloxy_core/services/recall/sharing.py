"""Text that several sessions hold: forked and resumed ones carry a copy of their history."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from sqlalchemy import Connection, select

from cloxy_core.services.recall.candidates import Candidate, among
from cloxy_core.services.recall.ranking import Ranked
from cloxy_hookspecs import Filters, StorePort
from cloxy_hookspecs.tables import memories, passages, sessions

LONG_ENOUGH = 64
"""Characters from which equal texts are one text; "yes, go on" is said anew each time."""

Identity = tuple[str, str | None]
Claim = tuple[bool, float, int]
"""Sorts those who hold a text: its owner comes first."""


def identity(candidate: Candidate) -> Identity:
    """The same for copies of one text: its hash, with the message's id when it is short."""
    if len(candidate.text) >= LONG_ENOUGH:
        return (candidate.text_hash, None)
    return (candidate.text_hash, candidate.message_uid or str(candidate.id))


def copies_of(ranked: Sequence[Ranked]) -> Collection[Sequence[Ranked]]:
    """The copies of each text together, in the order of their best."""
    copies: dict[Identity, list[Ranked]] = defaultdict(list)
    for item in ranked:
        copies[identity(item.candidate)].append(item)
    return copies.values()


def owned(group: Sequence[Ranked]) -> Ranked:
    """Of copies the one of the session that owns the text, with the best copy's score."""
    best = group[0]
    if len(group) == 1:
        return best
    owner = min(
        (item.candidate for item in group),
        key=lambda item: _claim(item.parent, item.started_at, item.id),
    )
    return replace(best, candidate=owner)


def sessions_of(
    connection: Connection,
    store: StorePort,
    candidates: Sequence[Candidate],
    filters: Filters,
) -> Mapping[Identity, tuple[str, ...]]:
    """Keys of the sessions that hold each text, the owner first, within the filters."""
    if not candidates:
        return {}
    statement = (
        select(
            passages.c.text_hash,
            passages.c.message_uid,
            passages.c.id,
            sessions.c.key,
            sessions.c.parent_key,
            sessions.c.started_at,
        )
        .join(memories, memories.c.id == passages.c.memory_id)
        .join(sessions, sessions.c.id == passages.c.session_id)
        .where(
            among(passages.c.text_hash, [item.text_hash for item in candidates]),
            memories.c.state == "active",
            *store.filter_clause(connection, filters),
        )
    )
    wanted = {identity(item) for item in candidates}
    holders: dict[Identity, list[tuple[Claim, str]]] = defaultdict(list)
    for text_hash, uid, passage_id, key, parent, started_at in connection.execute(statement):
        claim = _claim(parent, started_at, passage_id)
        for name in ((text_hash, None), (text_hash, uid)):
            if name in wanted:
                holders[name].append((claim, key))
    return {name: _keys(claims) for name, claims in holders.items()}


def _claim(parent: str | None, started_at: int | None, passage_id: int) -> Claim:
    """A session that was copied from another owns less than that one; then the older one owns."""
    return (parent is not None, float("inf") if started_at is None else started_at, passage_id)


def _keys(claims: Iterable[tuple[Claim, str]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(key for _, key in sorted(claims)))
