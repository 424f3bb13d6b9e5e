"""Attachments: nearly all is context of the harness, three kinds hold words worth keeping."""

from cloxy_hookspecs import RawLine
from cloxy_hookspecs.logs.json_values import Record, words_of
from cloxy_plugins.claude_code.content import user_words
from cloxy_plugins.claude_code.envelope import speaker_of
from cloxy_plugins.claude_code.run import Run


def attachment_record(run: Run, record: Record, line: RawLine) -> None:
    """Take the words of an attachment."""
    attachment = record.get("attachment")
    if not isinstance(attachment, dict):
        return
    kind = attachment.get("type")
    if kind == "queued_command":
        _queued(run, record, line, attachment)
    elif kind == "goal_status":
        _goal(run, record, line, attachment)
    elif kind == "plan_file_reference" and (plan := words_of(attachment, "planContent")):
        # The plan is attached again after every compaction.
        run.say(record, line, "note", "assistant", plan, once=True)


def _queued(run: Run, record: Record, line: RawLine, attachment: Record) -> None:
    """A prompt that was typed while the agent worked, and has no user line."""
    if attachment.get("commandMode") != "prompt":
        return
    author = speaker_of({**record, **attachment})
    words = user_words(attachment.get("prompt"))
    if not words.understood:
        run.strange()
    if words.text and author is not None:
        run.say(record, line, "user", author, words.text)


def _goal(run: Run, record: Record, line: RawLine, attachment: Record) -> None:
    """A goal that the user set, unless its words stand in a user line as well.

    The first and the last status of a goal (`sentinel`) are written next to the command that
    set or cleared it, so only those in between can be the only trace.
    """
    condition = words_of(attachment, "condition")
    author = speaker_of(record)
    if condition and author is not None and attachment.get("sentinel") is not True:
        run.say(record, line, "user", author, condition, once=True)
