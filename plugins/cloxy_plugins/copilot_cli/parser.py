"""The format of event logs as a parser: which event says what.

An event is `{type, data, id, timestamp, parentId, agentId}`. Its `id` is the id of the message: it
stays the same when the log is copied, and when it is cut back and written on. What a sub-agent
says stands in the log of its session and names the sub-agent; it is a session of its own here,
`session/agent`.
"""

import os
from collections.abc import Callable, Iterable, Mapping

from cloxy_hookspecs import Author, HostContext, LogReader, ParseResult, RawLine, SourceItem
from cloxy_hookspecs.logs.folders import parts_of
from cloxy_hookspecs.logs.instants import latest_instant
from cloxy_hookspecs.logs.json_lines import records_of
from cloxy_hookspecs.logs.json_values import id_of
from cloxy_hookspecs.logs.titles import NAMED, title_of_name
from cloxy_plugins.copilot_cli import kinds
from cloxy_plugins.copilot_cli.cards import Cards, Title
from cloxy_plugins.copilot_cli.content import is_whole, words_of
from cloxy_plugins.copilot_cli.decoding import recover
from cloxy_plugins.copilot_cli.run import Record, Run
from cloxy_plugins.copilot_cli.state import load_state

_CHOSEN_EACH_TIME = "auto"
_SPEECH_KEYS = ("content", "message", "text", "summary")
# A skill's text and notices are put in as a user's messages, and hidden from the user.
_HIDDEN = ("skill", "system")


def create_parser(context: HostContext) -> "EventParser":
    """Make the parser; messages of sessions in the data directory are not taken."""
    cards = Cards(context.service(LogReader))
    return EventParser(str(context.paths.data), context.clock.now_ms, cards.title_of)


def _untitled(uri: str) -> Title | None:
    del uri
    return None


class EventParser:
    """Turns events into messages; implements `Parser`."""

    def __init__(
        self,
        own_folder: str,
        now_ms: Callable[[], int],
        title_of: Callable[[str], Title | None] = _untitled,
    ) -> None:
        """Make a parser.

        Args:
            own_folder: folder whose sessions are not taken.
            now_ms: the present in milliseconds; a later time of a message is not believed.
            title_of: from the path of a log to the title that its session has beside it.
        """
        self._own_folder = parts_of(os.path.normpath(own_folder))
        self._now_ms = now_ms
        self._title_of = title_of

    def parse(
        self, item: SourceItem, lines: Iterable[RawLine], state: Mapping[str, object]
    ) -> ParseResult:
        """Parse a run of lines; see `Parser.parse`."""
        latest = latest_instant(self._now_ms(), item.mtime_ns)
        run = Run(item, load_state(state), self._own_folder, latest)
        for record, line in records_of(lines, recover, run.bad):
            _take(run, record, line)
        return run.result(self._title_of(item.uri))


def _take(run: Run, event: Record, line: RawLine) -> None:
    """Let the handler of an event's type have it."""
    kind, data = event.get("type"), event.get("data")
    run.time(event.get("timestamp"))
    if not isinstance(kind, str) or not isinstance(data, Mapping):
        _unknown(run, event, kind if isinstance(kind, str) else "(no type)")
        return
    handler = _EVENTS.get(kind)
    if handler is not None:
        if not handler(run, event, data, line):
            _unknown(run, data, kind)
            return
    elif kind.startswith(kinds.WORK):
        run.strange()
    elif kind not in kinds.NOISE and not kind.startswith(kinds.FAMILIES):
        _unknown(run, data, kind)
        return
    run.understood()


def _unknown(run: Run, record: Record, kind: str) -> None:
    run.unknown(kind)
    if any(key in record for key in _SPEECH_KEYS):
        run.strange()


def _agent_of(event: Record, data: Record) -> str | None:
    """The sub-agent whose event it is; older versions name only the call that started it."""
    return id_of(event, "agentId") or id_of(data, "parentToolCallId")


def _start(run: Run, _event: Record, data: Record, _line: RawLine) -> bool:
    run.begin(id_of(data, "sessionId"))
    run.place(data.get("context"))
    return _model(run, _event, data, _line)


def _context(run: Run, _event: Record, data: Record, _line: RawLine) -> bool:
    run.place(data)
    return True


def _model(run: Run, event: Record, data: Record, _line: RawLine) -> bool:
    chosen = id_of(data, "newModel") or id_of(data, "selectedModel") or id_of(data, "chosenModel")
    if chosen is not None and _agent_of(event, data) is None:
        run.state.model = None if chosen == _CHOSEN_EACH_TIME else chosen
    return True


def _title(run: Run, _event: Record, data: Record, _line: RawLine) -> bool:
    title = data.get("title")
    if isinstance(title, str) and run.state.spoken:
        run.title(title_of_name(title), NAMED)
    return True


def _user(run: Run, event: Record, data: Record, line: RawLine) -> bool:
    source = data.get("source")
    if isinstance(source, str) and source.startswith(_HIDDEN):
        return True
    run.say(event, line, "user", _author(data), words_of(data), _agent_of(event, data))
    return is_whole(data)


def _author(data: Record) -> Author:
    """Who wrote a user's message: a person, unless it says otherwise."""
    person = (
        data.get("source") in (None, "", "user")
        and data.get("isAutopilotContinuation") is not True
        and not data.get("inputOrigin")
    )
    return "human" if person else "program"


def _assistant(run: Run, event: Record, data: Record, line: RawLine) -> bool:
    content = data.get("content")
    text = content if isinstance(content, str) else ""
    run.say(event, line, "assistant", "assistant", text, _agent_of(event, data))
    return isinstance(content, str)


def _compaction(run: Run, event: Record, data: Record, line: RawLine) -> bool:
    summary = data.get("summaryContent")
    # Not every compaction writes a summary; what it writes in a checkpoint is one.
    lost = summary is None and data.get("checkpointPath") is not None
    return _summary(run, event, summary, line) and not lost


def _done(run: Run, event: Record, data: Record, line: RawLine) -> bool:
    return _summary(run, event, data.get("summary"), line)


def _summary(run: Run, event: Record, text: object, line: RawLine) -> bool:
    if isinstance(text, str):
        run.say(event, line, "summary", "summary", text, id_of(event, "agentId"))
    return text is None or isinstance(text, str)


_EVENTS: Mapping[str, Callable[[Run, Record, Record, RawLine], bool]] = {
    "session.start": _start,
    "session.resume": _start,
    "session.context_changed": _context,
    "session.model_change": _model,
    "session.auto_mode_resolved": _model,
    "session.title_changed": _title,
    "session.compaction_complete": _compaction,
    "session.task_complete": _done,
    "session.handoff": _done,
    "user.message": _user,
    "assistant.message": _assistant,
}
