"""The format of the session logs as a parser: which record says what."""

import os
from collections.abc import Callable, Iterable, Mapping

from cloxy_hookspecs import HostContext, ParseResult, RawLine, SourceItem
from cloxy_hookspecs.logs.instants import latest_instant
from cloxy_hookspecs.logs.json_lines import records_of
from cloxy_hookspecs.logs.json_values import Record, id_of, words_of
from cloxy_hookspecs.logs.titles import title_of_name
from cloxy_plugins.claude_code import titles
from cloxy_plugins.claude_code.attachments import attachment_record
from cloxy_plugins.claude_code.content import Words, plain_words, user_words
from cloxy_plugins.claude_code.decoding import recover
from cloxy_plugins.claude_code.envelope import speaker_of
from cloxy_plugins.claude_code.run import Run
from cloxy_plugins.claude_code.state import load_state

_NOISE = frozenset(
    {
        "agent-setting",
        "atis-latch",
        "bridge-session",
        "file-history-delta",
        "file-history-snapshot",
        "frame-link",
        "last-prompt",
        "mode",
        "permission-mode",
        "progress",
        "queue-operation",
        "relocated",
        "tag",
        "teleported-from",
        "worktree-state",
    }
)
_TITLES = {
    "custom-title": ("customTitle", titles.CUSTOM),
    "ai-title": ("aiTitle", titles.GENERATED),
    "agent-name": ("agentName", titles.AGENT),
}
_NOTICES = frozenset(
    {
        "agents_killed",
        "api_error",
        "compact_boundary",
        "informational",
        "local_command",
        "microcompact_boundary",
        "model_refusal_fallback",
        "scheduled_task_fire",
        "stop_hook_summary",
        "turn_duration",
    }
)
_SPEECH_KEYS = ("message", "role", "content", "text")


def create_parser(context: HostContext) -> "ClaudeCodeParser":
    """Make the parser; messages of sessions in the data directory are not taken."""
    return ClaudeCodeParser(str(context.paths.data), context.clock.now_ms)


class ClaudeCodeParser:
    """Turns lines of a session log into messages; implements `Parser`."""

    def __init__(self, own_folder: str, now_ms: Callable[[], int]) -> None:
        """Make a parser.

        Args:
            own_folder: folder whose sessions are not taken.
            now_ms: the present in milliseconds; a later time of a message is not believed.
        """
        self._own_folder = os.path.normpath(own_folder)
        self._now_ms = now_ms

    def parse(
        self, item: SourceItem, lines: Iterable[RawLine], state: Mapping[str, object]
    ) -> ParseResult:
        """Parse a run of lines; see `Parser.parse`."""
        latest = latest_instant(self._now_ms(), item.mtime_ns)
        run = Run(item.uri, load_state(state), self._own_folder, latest)
        for record, line in records_of(lines, recover, run.bad):
            _take(run, record, line)
        return run.result()


def _take(run: Run, record: Record, line: RawLine) -> None:
    """Let the handler of a record's type have it."""
    kind = record.get("type")
    if not isinstance(kind, str):
        _take_unknown(run, record, "(prompt history)" if "display" in record else "(no type)")
        return
    unknown = None
    if kind not in _NOISE:
        handler = _HANDLERS.get(kind)
        if handler is None:
            _take_unknown(run, record, kind)
            return
        unknown = handler(run, record, line)
    if unknown is None:
        run.understood()
    else:
        run.unknown(unknown)
    run.pass_by(record.get("uuid"))


def _take_unknown(run: Run, record: Record, kind: str) -> None:
    run.unknown(kind)
    if any(key in record for key in _SPEECH_KEYS):
        run.strange()


def _user(run: Run, record: Record, line: RawLine) -> str | None:
    message = record.get("message")
    if not isinstance(message, dict):
        return _without_message(run, record)
    summary = record.get("isCompactSummary") is True
    if not summary and record.get("isMeta") is True:
        return None
    words = (plain_words if summary else user_words)(message.get("content"))
    if words.text and summary:
        run.say(record, line, "summary", "summary", words.text)
    elif words.text and (author := speaker_of(record)) is not None:
        run.say(record, line, "user", author, words.text)
    return _strange_part(run, record, words)


def _assistant(run: Run, record: Record, line: RawLine) -> str | None:
    message = record.get("message")
    if not isinstance(message, dict):
        return _without_message(run, record)
    if record.get("isApiErrorMessage") is True or message.get("model") == "<synthetic>":
        return None
    words = plain_words(message.get("content"))
    if words.text:
        run.say(record, line, "assistant", "assistant", words.text)
    return _strange_part(run, record, words)


def _without_message(run: Run, record: Record) -> str | None:
    """Some versions write lines without a message; in others it stands under another name."""
    run.strange()
    others = (each for each in record.values() if isinstance(each, dict))
    lost = "message" in record or any("role" in each for each in others)
    return f"{record['type']}/(no message)" if lost else None


def _strange_part(run: Run, record: Record, words: Words) -> str | None:
    if words.strange is None:
        return None
    run.strange()
    return f"{record['type']}/{words.strange}"


def _system(run: Run, record: Record, line: RawLine) -> str | None:
    kind = record.get("subtype")
    text = words_of(record, "content") or words_of(record, "summary")
    if kind == "away_summary":
        known = any(isinstance(record.get(key), str) for key in ("content", "summary"))
        if text:
            run.say(record, line, "summary", "summary", text)
    else:
        # Notices of new kinds have a level.
        known = not text or "level" in record or (isinstance(kind, str) and kind in _NOTICES)
    return None if known else f"system/{id_of(record, 'subtype') or '(no type)'}"


def _title(run: Run, record: Record, _line: RawLine) -> str | None:
    field, rank = _TITLES[str(record["type"])]
    text = words_of(record, field)
    if text:
        run.sessions.title(run.sessions.key_of(record)[0], title_of_name(text), rank)
    return _kind_without(record, field)


def _summary(run: Run, record: Record, _line: RawLine) -> str | None:
    text, leaf = words_of(record, "summary"), id_of(record, "leafUuid")
    if text and leaf is not None:
        run.summary(leaf, title_of_name(text))
    return _kind_without(record, "summary")


def _kind_without(record: Record, field: str) -> str | None:
    """The kind of a record in which a field that it always has holds no text; None otherwise."""
    return None if isinstance(record.get(field), str) else str(record["type"])


def _pull_request(run: Run, record: Record, line: RawLine) -> str | None:
    address = words_of(record, "prUrl")
    if not address:
        return _kind_without(record, "prUrl")
    name = f"{record.get('prRepository') or ''}#{record.get('prNumber') or ''}".strip("#")
    text = f"Pull request {name}: {address}" if name else f"Pull request {address}"
    run.say(record, line, "note", "program", text, once=True)
    return None


_HANDLERS: Mapping[str, Callable[[Run, Record, RawLine], str | None]] = {
    "user": _user,
    "assistant": _assistant,
    "attachment": attachment_record,
    "system": _system,
    "summary": _summary,
    "pr-link": _pull_request,
    **dict.fromkeys(_TITLES, _title),
}
