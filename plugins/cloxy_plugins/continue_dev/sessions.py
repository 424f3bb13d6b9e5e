"""A session's file: its facts, and what was said in it.

A message of an editor has an id. That of a prompt stays when the prompt is edited and sent anew,
which takes back all that was said after it; so the id of a prompt is made of both its own and its
words, and what was said first keeps its place. The messages of old versions, and of the command
line, have no ids.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from cloxy_hookspecs import Author, LogReader, Role
from cloxy_hookspecs.logs import turns
from cloxy_hookspecs.logs.documents import Document
from cloxy_hookspecs.logs.instants import instant
from cloxy_hookspecs.logs.json_values import (
    Record,
    decode,
    id_of,
    is_record,
    list_of,
    record_of,
    text_of,
    usable_id,
    words_of,
)
from cloxy_hookspecs.logs.titles import NAMED, title_of_name
from cloxy_plugins.continue_dev.listing import Listing
from cloxy_plugins.continue_dev.places import path_of
from cloxy_plugins.continue_dev.words import (
    answer_of,
    content_of,
    kind_of,
    prompt_of,
    with_pictures,
)

_NOISE = ("system", "tool", "thinking")
_NO_TITLES = frozenset({"new session", "untitled session", "failed to load session"})
_THOUGHT = "<think"
_LATEST = 2**53
_NANOSECONDS = 1_000_000


@dataclass(slots=True)
class _Said:
    """A message.

    Attributes:
        role: whose turn it was.
        author: who wrote it.
        text: its words.
        uid: its id.
        model: name of the model.
    """

    role: Role
    author: Author
    text: str
    uid: str
    model: str | None = None


@dataclass(slots=True)
class _History:
    """What was found in a history.

    Attributes:
        key: id of the session.
        uids: makes ids.
        said: messages in order.
        problems: records of what was passed over.
    """

    key: str
    uids: turns.MadeUids = field(default_factory=turns.MadeUids)
    said: list[_Said] = field(default_factory=list[_Said])
    problems: list[Record] = field(default_factory=list[Record])


class Sessions:
    """Makes records of turns of sessions' files."""

    def __init__(self, reader: LogReader) -> None:
        """Nothing is read.

        Args:
            reader: reads the list of sessions beside the files.
        """
        self._listing = Listing(reader)

    def __call__(self, document: Document) -> Iterator[Record]:
        """Records of a session; none of one without a word."""
        if not document.data.strip():
            yield turns.damaged("the file is empty", quiet=True)
            return
        try:
            value = decode(document.data)
        except ValueError:
            yield turns.damaged("the file is not JSON")
            return
        if not is_record(value) or not isinstance(value.get("history"), list):
            yield turns.damaged("the file holds no session")
            return
        key = id_of(value, "sessionId") or usable_id(document.path.stem) or "unknown"
        history = _History(key)
        for item in list_of(value["history"]):
            _take(history, item, text_of(value, "chatModelTitle"))
        yield from history.problems
        if history.said:
            entry = self._listing.entry(document.root, key)
            yield from _records(history, value, entry, document.mtime_ns // _NANOSECONDS)


def _take(history: _History, item: object, model: str | None) -> None:
    """Add the message of an entry, and the summary that may be with it."""
    message = record_of(item).get("message")
    if not is_record(item) or not is_record(message):
        history.problems.append(turns.damaged("an entry of the history is no message"))
        return
    role = message.get("role")
    if role not in ("user", "assistant"):
        if role not in _NOISE:
            history.problems.append(turns.unknown(f"message of role {kind_of(role)}"))
        return
    content = content_of(message.get("content"))
    history.problems += [turns.unknown(kind) for kind in content.unknown]
    if content.damaged or ("content" not in message and not message.get("toolCalls")):
        history.problems.append(turns.damaged("a message has content of no known form"))
    summary = words_of(item, "conversationSummary").strip()
    # The command line replaces what was said by a message that is the summary itself.
    if content.text.strip() != summary or not summary:
        own = id_of(message, "id")
        if role == "user":
            _add_prompt(
                history, with_pictures(prompt_of(content.text, item), content.pictures), own
            )
        else:
            text = with_pictures(answer_of(content.text), content.pictures)
            _add_answer(history, text, own, _model_of(item) or model)
    if summary:
        summary = answer_of(summary)
        uid = history.uids.of(history.key, "summary", summary)
        history.said.append(_Said("summary", "summary", summary, uid))


def _add_prompt(history: _History, text: str, own: str | None) -> None:
    if text:
        uid = history.uids.of(*([own] if own else [history.key]), "user", text)
        history.said.append(_Said("user", "human", text, uid))


def _add_answer(history: _History, text: str, own: str | None, model: str | None) -> None:
    if text:
        uid = own or history.uids.of(history.key, "assistant", text)
        history.said.append(_Said("assistant", "assistant", text, uid, model))


def _model_of(item: Record) -> str | None:
    """The model that the last of an answer came from."""
    for log in reversed(list_of(item.get("promptLogs"))):
        options = record_of(record_of(log).get("completionOptions"))
        name = id_of(options, "model") or id_of(record_of(log), "modelTitle")
        if name is not None:
            return name
    return None


def _records(history: _History, value: Record, entry: Record, written: int) -> Iterator[Record]:
    """Records of a session in which something was said.

    Args:
        history: what was said.
        value: the session's file.
        entry: what the list of sessions says of it.
        written: when its file was written last, milliseconds.
    """
    address = text_of(value, "workspaceDirectory") or text_of(entry, "workspaceDirectory")
    title = _title(history, value) or _title(history, entry)
    yield turns.session(history.key, cwd=path_of(address), title=title, rank=NAMED if title else 0)
    begun = instant(entry.get("dateCreated"), _LATEST) or written
    prompts = [number for number, said in enumerate(history.said) if said.role == "user"]
    last_turn = prompts[-1] if prompts else 0
    for number, said in enumerate(history.said):
        # The file is written after each turn.
        at = max(begun, written) if number >= last_turn else begun
        yield turns.message(
            history.key,
            said.uid,
            said.role,
            said.author,
            said.text,
            at=at,
            approximate=True,
            model=said.model,
        )


def _title(history: _History, record: Record) -> str | None:
    """The name that a session was given; none while it is called as all are, or by its start."""
    name = title_of_name(words_of(record, "title"))
    if not name or name.lower() in _NO_TITLES or name.lower().startswith(_THOUGHT):
        return None
    first = next((said.text for said in history.said if said.role == "user"), "")
    return None if title_of_name(first).startswith(name.removesuffix("...").rstrip()) else name
