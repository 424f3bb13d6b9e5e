"""What was said in a thread."""

import re
from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import unquote

from cloxy_hookspecs import Author, Relation, Role
from cloxy_hookspecs.logs.documents import Document
from cloxy_hookspecs.logs.json_values import (
    Record,
    decode,
    id_of,
    is_record,
    list_of,
    record_of,
    text_of,
    words_of,
)
from cloxy_hookspecs.logs.pictures import NAME_LIMIT, bytes_of_base64, picture_mark
from cloxy_hookspecs.logs.titles import LISTED
from cloxy_hookspecs.logs.turns import damaged, made_uid, message, session, unknown
from cloxy_plugins.amp.places import place_of

_NOISE = frozenset(
    {
        "thinking",
        "redacted_thinking",
        "tool_use",
        "tool_result",
        "server_tool_use",
        "manual_bash_invocation",
    }
)
_NO_TITLES = frozenset({"untitled", "new thread", "untitled thread"})


def thread_records(document: Document) -> Iterator[Record]:
    """Records of a thread."""
    try:
        thread = decode(document.data)
    except ValueError:
        yield damaged("is not JSON")
        return
    if not is_record(thread) or not isinstance(thread.get("messages"), list):
        yield damaged("is no thread")
        return
    talk = _Talk(id_of(thread, "id") or document.path.stem, thread)
    found = list(talk.records(list_of(thread["messages"])))
    if any(record["kind"] == "message" for record in found):
        yield talk.facts()
    yield from found


class _Talk:
    """Makes records of the messages of a thread, one after another."""

    def __init__(self, key: str, thread: Record) -> None:
        self._key = key
        self._thread = thread
        self._cwd, self._branch = place_of(thread)
        self._parent: str | None
        self._relation: Relation | None
        self._parent, self._relation = _origin_of(key, thread)
        self._ended = _times_of_answers(thread)
        self._turn = ""
        self._given: dict[str, int] = {}

    def facts(self) -> Record:
        """The record of the session."""
        title = text_of(self._thread, "title")
        return session(
            self._key,
            cwd=self._cwd,
            branch=self._branch,
            title=None if title is None or title.strip().lower() in _NO_TITLES else title,
            rank=LISTED,
            parent=self._parent,
            relation=self._relation,
        )

    def records(self, values: Iterable[object]) -> Iterator[Record]:
        """Records of messages."""
        for number, value in enumerate(values):
            record = record_of(value)
            role = record.get("role")
            if not is_record(value) or role not in ("user", "assistant", "info"):
                yield damaged("a message of no known form")
                continue
            blocks = _blocks_of(record.get("content"))
            for block in blocks:
                kind = id_of(block, "type") or "(no type)"
                if kind not in _NOISE and kind not in ("text", "image", "summary"):
                    yield unknown(kind)
            place = _number_of(record, number)
            whole = record.get("type") == "summary"
            if summary := _joined(_summaries(blocks, whole=whole)):
                yield self._message(record, place, "summary", summary)
            if whole or role == "info":
                continue
            if text := _joined(_words(blocks, person=role == "user")):
                yield self._message(record, place, "user" if role == "user" else "assistant", text)

    def _message(self, record: Record, place: str, role: Role, text: str) -> Record:
        sent = record_of(record.get("meta")).get("sentAt")
        usage = record_of(record.get("usage"))
        own = sent if role == "user" else usage.get("timestamp", sent)
        if role == "user":
            uid = self._turn = self._begun(place, sent, text)
        else:
            uid = made_uid(self._turn or self._key, role, place)
        again = self._given.get(uid, 0)
        self._given[uid] = again + 1
        return message(
            self._key,
            uid if not again else made_uid(uid, str(again), text),
            role,
            self._author(role),
            text,
            at=own if own is not None else self._ended.get(place),
            near=self._thread.get("created"),
            approximate=own is None,
            cwd=self._cwd,
            branch=self._branch,
            model=id_of(usage, "model") if role == "assistant" else None,
        )

    def _begun(self, place: str, sent: object, text: str) -> str:
        """The id of a prompt; copies in other threads have the same.

        A place is used again when a prompt is edited, so that the words count as well.
        """
        if isinstance(sent, (int, float, str)) and not isinstance(sent, bool):
            return made_uid("user", place, str(sent), text)
        return made_uid("user", place, self._key, text)

    def _author(self, role: Role) -> Author:
        if role == "summary":
            return "summary"
        if self._relation == "subagent":
            return "subagent"
        return "human" if role == "user" else "assistant"


def _origin_of(key: str, thread: Record) -> tuple[str | None, Relation | None]:
    """The thread from which one was made, and how."""
    main = id_of(thread, "mainThreadID")
    if main is not None and main != key:
        return main, "subagent"
    forked = thread.get("forkedFrom")
    parent = _thread_in(forked) if is_record(forked) else id_of(thread, "forkedFrom")
    if parent is not None and parent != key:
        return parent, "fork"
    for each in list_of(thread.get("relationships")):
        relation = record_of(each)
        parent = _thread_in(relation)
        kind = relation.get("type")
        if relation.get("role") != "parent" or parent is None or parent == key:
            continue
        if kind in ("fork", "handoff"):
            return parent, "fork" if kind == "fork" else "resume"
    return None, None


def _thread_in(record: Record) -> str | None:
    return id_of(record, "threadID") or id_of(record, "threadId")


def _times_of_answers(thread: Record) -> Mapping[str, object]:
    """When the model had given each answer, by place, from the list of its uses."""
    found: dict[str, object] = {}
    for each in list_of(record_of(thread.get("usageLedger")).get("events")):
        event = record_of(each)
        place = event.get("toMessageId")
        if event.get("operationType") == "inference" and type(place) is int:
            found[str(place)] = event.get("timestamp")
    return found


def _blocks_of(content: object) -> list[Record]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [record_of(each) for each in list_of(content)]


def _number_of(record: Record, number: int) -> str:
    place = record.get("messageId")
    if type(place) is int:
        return str(place)
    return id_of(record, "messageId") or f"#{number}"


def _words(blocks: Iterable[Record], *, person: bool) -> Iterator[str]:
    for block in blocks:
        if block.get("type") == "text":
            yield words_of(block, "text")
        elif block.get("type") == "image" and person:
            yield _mark(block)


def _summaries(blocks: Iterable[Record], *, whole: bool) -> Iterator[str]:
    for block in blocks:
        if block.get("type") == "summary":
            summary = block.get("summary")
            inner = record_of(summary)
            if isinstance(summary, str):
                yield words_of(block, "summary")
            yield words_of(inner, "summary") or words_of(inner, "text") or words_of(block, "text")
        elif whole and block.get("type") == "text":
            yield words_of(block, "text")


def _joined(parts: Iterable[str]) -> str:
    return "\n\n".join(part.strip() for part in parts if part.strip())


def _mark(block: Record) -> str:
    """What stands for a picture: its name, or its type and a digest of its data."""
    source = record_of(block.get("source"))
    name = text_of(block, "sourcePath") or text_of(source, "url")
    data = source.get("data")
    if name is None and isinstance(data, str):
        media = id_of(source, "mediaType") or id_of(source, "media_type") or "unknown type"
        return picture_mark(media, bytes_of_base64(data))
    shown = re.split(r"[\\/]", unquote(name or "").partition("?")[0])[-1][:NAME_LIMIT]
    shown = " ".join(shown.replace("[", "(").replace("]", ")").split())
    return f"[image: {shown}]" if shown and shown.isprintable() else "[image: unknown]"
