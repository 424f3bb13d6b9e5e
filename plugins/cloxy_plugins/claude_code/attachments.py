"""Attachments: nearly all is context of the harness, three kinds hold words worth keeping."""

from collections.abc import Callable, Mapping

from cloxy_hookspecs import RawLine
from cloxy_hookspecs.logs.json_values import Record, id_of, words_of
from cloxy_plugins.claude_code.content import user_words
from cloxy_plugins.claude_code.envelope import speaker_of
from cloxy_plugins.claude_code.run import Run

_TELLTALE = frozenset({"commandMode", "condition", "planContent"})


def attachment_record(run: Run, record: Record, line: RawLine) -> str | None:
    """Take the words of an attachment; what is not known of it, if anything is not."""
    attachment = record.get("attachment")
    if not isinstance(attachment, dict):
        return "attachment"
    kind = attachment.get("type")
    handler = _HANDLERS.get(kind) if isinstance(kind, str) else None
    if handler is not None:
        known = handler(run, record, line, attachment)
    else:
        known = _TELLTALE.isdisjoint(attachment)
    if known:
        return None
    run.strange()
    return f"attachment/{id_of(attachment, 'type') or '(no type)'}"


def _queued(run: Run, record: Record, line: RawLine, attachment: Record) -> bool:
    """A prompt that was typed while the agent worked, and has no user line."""
    mode = attachment.get("commandMode")
    if mode != "prompt":
        return mode == "task-notification"
    author = speaker_of({**record, **attachment})
    words = user_words(attachment.get("prompt"))
    if words.text and author is not None:
        run.say(record, line, "user", author, words.text)
    return words.strange is None


def _goal(run: Run, record: Record, line: RawLine, attachment: Record) -> bool:
    """A goal that the user set, unless its words stand in a user line as well.

    The first and the last status of a goal (`sentinel`) are written next to the command that
    set or cleared it, so only those in between can be the only trace.
    """
    if attachment.get("sentinel") is True:
        return True
    condition = words_of(attachment, "condition")
    author = speaker_of(record)
    if condition and author is not None:
        run.say(record, line, "user", author, condition, once=True)
    return isinstance(attachment.get("condition"), str)


def _plan(run: Run, record: Record, line: RawLine, attachment: Record) -> bool:
    """A plan, which is attached again after every compaction."""
    if plan := words_of(attachment, "planContent"):
        run.say(record, line, "note", "assistant", plan, once=True)
    return isinstance(attachment.get("planContent"), str)


_HANDLERS: Mapping[str, Callable[[Run, Record, RawLine, Record], bool]] = {
    "queued_command": _queued,
    "goal_status": _goal,
    "plan_file_reference": _plan,
}
