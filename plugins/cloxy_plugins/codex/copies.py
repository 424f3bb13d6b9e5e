"""Telling the lines that a rollout repeats of another thread from its own.

A fork begins with its parent's lines, written again in one go with new times, but with the turn
ids that they had. Early versions did the same at a resume and at a step back, without turn ids
and without a word of where the lines are from but the parent's own meta line before them.

* What is known to be a fork's copy is left out: the parent's rollout has it, with the right times.
* Of the early kind nothing but the pace of the lines tells where the copy ends, so that nothing is
  left out: its messages are told as the parent's own, under the ids that they have there (made of
  session, place and words, not of times). The store knows them already, or will when it comes to
  the parent's file; if the end was taken too late, the words are still kept.
* A copy of a copy has several such meta lines, and no line says which thread it is of. It is left
  out.
"""

from collections.abc import Mapping

from cloxy_hookspecs.logs.instants import instant, instant_of_uuid
from cloxy_hookspecs.logs.json_values import id_of
from cloxy_plugins.codex.meta import Thread
from cloxy_plugins.codex.state import RolloutState

PAUSE = 1000
"""Milliseconds without a line after which a copy is over; one is written in one go."""

_SECOND = 1000
_TURN_SIGNS = ("task_started", "turn_started", "turn_context")


def meet_thread(state: RolloutState, thread: Thread, at: int | None) -> bool:
    """Take in a meta line.

    Args:
        state: memory of the file; changed.
        thread: what the line says.
        at: time of the line, milliseconds.

    Returns:
        Whether the line tells of a session that is spoken of from here on.
    """
    if state.own is None:
        state.own, state.born = thread.id, thread.at or at
        state.parent, state.relation = thread.parent, thread.relation
        state.speaker, state.program = thread.speaker, thread.program
        state.hand_to("drop" if thread.forked else "", None)
        state.seen = at
        return True
    if thread.id == state.own:
        if state.copy:
            state.hand_to("", None)
        else:
            state.segment()
        return True
    if state.spoken or thread.id == state.owner:
        return False
    state.seen = at
    if state.copy == "" and state.parent is None:
        state.parent, state.relation = thread.id, "resume"
        state.guest, state.guest_root = thread.speaker, thread.cwd
        state.hand_to("keep", thread.id)
        return True
    state.hand_to("drop", None)
    return False


def step(state: RolloutState, kind: str, payload: Mapping[str, object], at: int | None) -> None:
    """Before a record is taken: begin or end a copy.

    Args:
        state: memory of the file; changed.
        kind: type of the record, or of its event.
        payload: what it holds.
        at: time of its line, milliseconds.
    """
    older = _is_older(state, kind, payload)
    if older is None:
        paused = at is not None and state.seen is not None and at - state.seen > PAUSE
        if state.copy and paused:
            state.hand_to("", None)
    elif older and state.copy == "" and state.parent is not None:
        state.hand_to("drop", None)
    elif not older and state.copy:
        state.hand_to("", None)
    if state.copy and at is not None:
        state.seen = max(at, state.seen or at)


def _is_older(state: RolloutState, kind: str, payload: Mapping[str, object]) -> bool | None:
    """Whether a turn begins that is older than the thread; None when that is not told."""
    if kind not in _TURN_SIGNS or state.born is None:
        return None
    began = instant_of_uuid(id_of(payload, "turn_id"))
    if began is not None:
        return began < state.born
    began = instant(payload.get("started_at"), state.born + 10 * 365 * 86_400 * _SECOND)
    return None if began is None else began < state.born // _SECOND * _SECOND
