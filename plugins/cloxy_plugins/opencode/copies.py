"""Messages that a forked session took over from another one.

A fork copies messages: they have new ids, and their old time. What stands in the session that it
was copied from, in the same role and words and from the same millisecond, is not told twice. Which
of them is the original tells its id, which begins with the time at which it was made.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping

from cloxy_plugins.opencode.records import Said, Talk

NEAR = 10_000
"""Milliseconds that may lie between the time of a message and the making of its id."""

_HEAD = len("msg_")
_DIGITS = 9
_AROUND = 1 << 36

Reading = Callable[[Iterable[str]], Iterable[Said]]


def moment_of(uid: str) -> int | None:
    """The last 36 bits of the milliseconds at which an id was made; None when it has none."""
    try:
        return int(uid[_HEAD : _HEAD + _DIGITS], 16)
    except ValueError:
        return None


def slots_around(times: Iterable[int]) -> frozenset[int]:
    """Stretches of `NEAR` milliseconds in which ids of messages from these times were made."""
    return frozenset(time % _AROUND // NEAR + step for time in times for step in (-1, 0, 1))


def age_of_id(uid: str, created: int) -> int:
    """Milliseconds between the time of a message and that in its id.

    The time in an id begins anew after 795 days; an id without one counts as made long after.

    Args:
        uid: the id.
        created: time of the message, milliseconds.
    """
    made = moment_of(uid)
    if made is None:
        return _AROUND
    between = (made - created) % _AROUND
    return min(between, _AROUND - between)


def is_older(uid: str, other: str, created: int) -> bool:
    """Whether a message is the original of another one from the same millisecond."""
    return (age_of_id(uid, created), uid) < (age_of_id(other, created), other)


def originals_of(talk: Talk, others: Iterable[tuple[int, str, str]]) -> Mapping[str, str]:
    """Messages that may be originals of a session's, with the sessions in which they stand.

    Args:
        talk: the session.
        others: time, id and session of messages elsewhere.
    """
    mine: dict[int, str] = {}
    for said in talk.said:
        known = mine.get(said.created)
        if known is None or is_older(known, said.id, said.created):
            mine[said.created] = said.id
    return {
        uid: session
        for created, uid, session in others
        if created in mine and is_older(uid, mine[created], created)
    }


def drop_copies(talk: Talk, originals: Mapping[str, str], read: Reading) -> None:
    """Leave out of a session what stands in an older one.

    Args:
        talk: the session; one that it copies from becomes its parent, if it has none.
        originals: ids of messages that may be originals, with their sessions.
        read: reads messages by their ids.
    """
    if not originals:
        return
    found: dict[tuple[str, int, str], Said] = {}
    for said in read(sorted(originals)):
        key = (said.role, said.created, said.words)
        known = found.get(key)
        if known is None or is_older(said.id, known.id, said.created):
            found[key] = said
    origins: Counter[str] = Counter()
    kept: list[Said] = []
    for said in talk.said:
        original = found.get((said.role, said.created, said.words))
        if original is not None and is_older(original.id, said.id, said.created):
            origins[originals[original.id]] += 1
        else:
            kept.append(said)
    talk.said = kept
    if origins and not talk.parent:
        talk.parent, talk.relation = origins.most_common(1)[0][0], "fork"
