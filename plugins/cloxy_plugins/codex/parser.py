"""The format of rollouts as a parser: which record says what.

A message stands in a rollout up to three times: as the item that the model got or gave
(`response_item`), as an event of the early kind (`user_message`, `agent_message`), and as one of
the kind that came in 2026 (`item_completed`). Which of them a file has depends on the version
that wrote it, and one file may be written by several. A message is taken from the first of them;
later ones of the same words are recognised, whatever their order. Items of the user's role hold
much that no person wrote, so that they count only until an event shows that there are events.

The id of a message is made of its thread, its turn, its role and its place among the messages of
that role in the turn; where turns have no ids, of the number of user's messages before it and of
its words. The ids that some records have are not used: only every second form has one, the forms
of a user's message have different ones, and converting a rollout to another form changes them.
"""

import os
import re
from collections.abc import Callable, Iterable, Mapping

from cloxy_hookspecs import HostContext, LogReader, ParseResult, RawLine, SourceItem
from cloxy_hookspecs.logs.folders import parts_of
from cloxy_hookspecs.logs.instants import latest_instant
from cloxy_hookspecs.logs.json_lines import records_of
from cloxy_hookspecs.logs.json_values import Record, id_of
from cloxy_plugins.codex import kinds
from cloxy_plugins.codex.content import event_content, item_content, plain_content, user_content
from cloxy_plugins.codex.copies import step
from cloxy_plugins.codex.decoding import recover
from cloxy_plugins.codex.run import COMPLETED, EVENT, ITEM, Run
from cloxy_plugins.codex.state import load_state
from cloxy_plugins.codex.threads import ThreadNames

_SPEECH_KEYS = ("message", "role", "content", "text", "item")
_BARE_META_KEYS = ("instructions", "timestamp", "git")
_PLAN = re.compile(r"<proposed_plan>(.*?)(?:</proposed_plan>|\Z)", re.S)


def create_parser(context: HostContext) -> "RolloutParser":
    """Make the parser; messages of sessions in the data directory are not taken."""
    names = ThreadNames(context.service(LogReader))
    return RolloutParser(str(context.paths.data), context.clock.now_ms, names.name_of)


def _nameless(uri: str, thread: str) -> str | None:
    del uri, thread
    return None


class RolloutParser:
    """Turns lines of a rollout into messages; implements `Parser`."""

    def __init__(
        self,
        own_folder: str,
        now_ms: Callable[[], int],
        name_of: Callable[[str, str], str | None] = _nameless,
    ) -> None:
        """Make a parser.

        Args:
            own_folder: folder whose sessions are not taken.
            now_ms: the present in milliseconds; a later time of a message is not believed.
            name_of: from the path of a rollout and a thread's id to the thread's name.
        """
        self._own_folder = parts_of(os.path.normpath(own_folder))
        self._now_ms = now_ms
        self._name_of = name_of

    def parse(
        self, item: SourceItem, lines: Iterable[RawLine], state: Mapping[str, object]
    ) -> ParseResult:
        """Parse a run of lines; see `Parser.parse`."""
        latest = latest_instant(self._now_ms(), item.mtime_ns)
        run = Run(item, load_state(state), self._own_folder, latest)
        for record, line in records_of(lines, recover, run.bad):
            _take(run, record, line)
        return run.result(self._name_of(item.uri, run.own_key))


def _take(run: Run, record: Record, line: RawLine) -> None:
    """Let the handler of a record's type have it, bare or wrapped."""
    kind, payload = record.get("type"), record.get("payload")
    run.time(record.get("timestamp"))
    if isinstance(kind, str) and isinstance(payload, dict):
        inner = payload.get("type")
        step(
            run.state,
            inner if kind == "event_msg" and isinstance(inner, str) else kind,
            payload,
            run.at,
        )
        handler = _LINES.get(kind)
        if handler is not None:
            handler(run, payload, line)
        elif kind in kinds.LINES or kind.startswith(kinds.LINES_BETWEEN_AGENTS):
            run.understood()
        else:
            _unknown(run, payload, kind)
    elif isinstance(kind, str):
        step(run.state, kind, record, run.at)
        _bare(run, record, line)
    elif "record_type" in record:
        run.understood()
    elif id_of(record, "id") and any(key in record for key in _BARE_META_KEYS):
        run.meta(record)
        run.understood()
    else:
        _unknown(run, record, "(no type)")


def _told(run: Run, record: Mapping[str, object], kind: str, *, known: bool) -> None:
    """Count a record, which is of an unknown kind when it has not what its kind always has."""
    if known:
        run.understood()
    else:
        _unknown(run, record, kind)


def _unknown(run: Run, record: Mapping[str, object], kind: str) -> None:
    run.unknown(kind)
    if any(key in record for key in _SPEECH_KEYS):
        run.strange()


def _bare(run: Run, record: Record, line: RawLine) -> None:
    """A line of the time before lines were wrapped: an item, and nothing else."""
    kind = record.get("type")
    if kind == "message" and "content" in record and isinstance(record.get("role"), str):
        _message(run, record, line)
    elif kind in kinds.WORK_ITEMS or kind in kinds.ITEMS:
        _work(run, str(kind))
    else:
        _unknown(run, record, str(kind))


def _work(run: Run, kind: str) -> None:
    if kind in kinds.WORK_ITEMS:
        run.strange()
    run.understood()


def _meta(run: Run, payload: Record, _line: RawLine) -> None:
    _told(run, payload, "session_meta", known=run.meta(payload))


def _context(run: Run, payload: Record, _line: RawLine) -> None:
    run.context(payload)
    run.understood()


def _compacted(run: Run, payload: Record, line: RawLine) -> None:
    """A compaction; of it only the summary, never the copies of old messages."""
    text = payload.get("message")
    if isinstance(text, str):
        run.summary(line, text)
    _told(run, payload, "compacted", known=isinstance(text, str))


def _item(run: Run, payload: Record, line: RawLine) -> None:
    kind = payload.get("type")
    if kind == "message":
        _message(run, payload, line)
    elif kind in kinds.WORK_ITEMS or kind in kinds.ITEMS:
        _work(run, str(kind))
    else:
        _unknown(run, payload, f"response_item/{kind}")


def _message(run: Run, message: Record, line: RawLine) -> None:
    role = message.get("role")
    known = role in ("developer", "system", "tool")
    if role == "user":
        spoken = user_content(message)
        run.user(line, spoken, ITEM)
        known = spoken.understood
    elif role == "assistant":
        spoken = plain_content(message)
        _agent_text(run, line, spoken.words, ITEM)
        known = spoken.understood
    _told(run, message, f"message/{role}", known=known)


def _agent_text(run: Run, line: RawLine, text: str, form: int) -> None:
    """What an agent said, without plans in it that came as records of their own."""
    plans = [plan[0] for plan in _PLAN.finditer(text) if run.is_new_plan(plan[1], form)]
    words = _PLAN.sub(lambda plan: plan[0] if plan[0] in plans else "", text)
    run.agent(line, words, form, besides=_PLAN.sub("", text), plans=plans)


def _event(run: Run, payload: Record, line: RawLine) -> None:
    kind = payload.get("type")
    text = payload.get("message")
    if kind == "user_message":
        spoken = event_content(payload)
        run.user(line, spoken, EVENT)
        _told(run, payload, "event_msg/user_message", known=spoken.understood)
        return
    if kind == "agent_message" and isinstance(text, str):
        _agent_text(run, line, text, EVENT)
    elif kind == "item_completed":
        _completed(run, payload, line)
        return
    elif kind in ("task_complete", "turn_complete"):
        if payload.get("last_agent_message"):
            run.strange()
    elif kind == "thread_name_updated":
        name = payload.get("thread_name")
        if isinstance(name, str):
            run.name(id_of(payload, "thread_id"), name)
    elif kind in ("task_started", "turn_started"):
        run.turn(payload)
    elif not (
        isinstance(kind, str) and (kind in kinds.EVENTS or kind.startswith(kinds.EVENTS_OF_TEAMS))
    ):
        _unknown(run, payload, f"event_msg/{kind}")
        return
    run.understood()


def _completed(run: Run, payload: Record, line: RawLine) -> None:
    item = payload.get("item")
    if not isinstance(item, dict):
        _unknown(run, payload, "item_completed")
        return
    kind, text = item.get("type"), item.get("text")
    text = text if isinstance(text, str) else None
    known = kind in kinds.COMPLETED
    if kind == "UserMessage":
        spoken = item_content(item)
        run.user(line, spoken, COMPLETED)
        known = spoken.understood
    elif kind == "AgentMessage":
        spoken = plain_content(item)
        _agent_text(run, line, spoken.words or text or "", COMPLETED)
        known = spoken.understood or ("content" not in item and text is not None)
        if not known:
            run.strange()
    elif kind == "Plan" and text is not None:
        run.plan(line, text.strip(), COMPLETED)
        known = True
    _told(run, item, f"item_completed/{kind}", known=known)


_LINES: Mapping[str, Callable[[Run, Record, RawLine], None]] = {
    "session_meta": _meta,
    "turn_context": _context,
    "response_item": _item,
    "event_msg": _event,
    "compacted": _compacted,
}
