"""What a rollout says of its session, and the ids of its messages."""

from collections.abc import Mapping

from cloxy_hookspecs import Relation, Role, SessionFacts
from cloxy_plugins.codex.state import RolloutState, fingerprint

_RELATIONS: Mapping[str | None, Relation] = {
    "subagent": "subagent",
    "fork": "fork",
    "resume": "resume",
}
_NO_PERSON = ("program", "compact")


def facts_of_own(state: RolloutState, key: str, title: tuple[str | None, int]) -> SessionFacts:
    """Facts of the session that a file is of.

    Args:
        state: memory of the file.
        key: key of the session.
        title: best title of this run, with its rank.
    """
    return SessionFacts(
        key,
        parent=state.parent,
        cwd=state.root,
        branch=state.branch,
        title=title[0],
        title_rank=title[1],
        program=state.program,
        relation=_RELATIONS.get(state.relation),
    )


def facts_of_owner(state: RolloutState, key: str) -> SessionFacts:
    """Facts of the session whose lines a file repeats."""
    return SessionFacts(
        key,
        cwd=state.guest_root or state.cwd,
        branch=state.branch,
        program=state.guest in _NO_PERSON,
    )


def message_id(state: RolloutState, key: str, role: Role, text: str) -> str:
    """Id of the next message, as the module `parser` says; it is counted."""
    if state.turn is not None:
        index = state.place(state.turn, role)
        return "turn-" + fingerprint(key, state.turn, role, str(index))
    words = fingerprint(role, text)
    index = state.place(f"#{state.number}", words)
    return "line-" + fingerprint(key, str(state.number), words, str(index))
