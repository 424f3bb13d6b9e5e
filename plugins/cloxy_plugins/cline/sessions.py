"""What was said in a session of Cline 4."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from cloxy_hookspecs import Author
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
    words_of,
)
from cloxy_hookspecs.logs.titles import LISTED
from cloxy_hookspecs.logs.turns import MadeUids, damaged, message, session
from cloxy_plugins.cline.about import Besides
from cloxy_plugins.cline.history import blocks_of, is_known, unknown_blocks
from cloxy_plugins.cline.pictures import picture_of_block
from cloxy_plugins.cline.words import spoken_field, typed_in_session

MESSAGES = ".messages.json"
_COMPACTION = ".compaction.json"

_FORKS = 20
_LATEST = 2**53
# What Cline 4 puts behind the messages of a task of an older version when it goes on with it.
_WENT_ON = "Warning: this is a legacy conversation, which means tool names may have changed."
_SUMMARIES = frozenset({"compaction", "compaction_summary"})
_QUESTIONS = frozenset({"ask_question", "ask_followup_question"})
_NOISE = frozenset(
    {"thinking", "redacted_thinking", "reasoning", "file", "tool_use", "tool_result"}
)


def beside_session(path: Path) -> Sequence[Path]:
    """The files beside messages that belong to them."""
    root = path.parent.name
    return (path.with_name(f"{root}.json"), path.with_name(f"{_stem(path)}{_COMPACTION}"))


def session_records(document: Document, besides: Besides) -> Iterator[Record]:
    """Records of a session.

    Args:
        document: its messages.
        besides: reads the files beside them.
    """
    try:
        whole = decode(document.data)
    except ValueError:
        yield damaged("is not JSON")
        return
    values = list_of(record_of(whole).get("messages"))
    if not is_record(whole) or not isinstance(whole.get("messages"), list):
        yield damaged("has no list of messages")
        return
    manifest_path, compaction_path = beside_session(document.path)
    manifest, wrong = besides.json(document.root, manifest_path)
    compaction, wrong_compaction = besides.json(document.root, compaction_path)
    yield from (*wrong, *wrong_compaction)
    talk = _Talk(document, record_of(manifest), besides)
    for compacted in list_of(record_of(compaction).get("messages")):
        values += [compacted] if _is_summary(record_of(compacted)) else []
    messages = list(talk.records(values))
    if messages:
        yield talk.facts()
        yield from messages


class _Talk:
    """Makes records of the messages of one session."""

    def __init__(self, document: Document, manifest: Record, besides: Besides) -> None:
        self._root = document.path.parent.name
        stem = _stem(document.path)
        self._child = stem != self._root
        self._key = f"{self._root}/{stem}" if self._child else self._root
        self._manifest = manifest
        self._metadata = record_of(manifest.get("metadata"))
        self._cwd = text_of(manifest, "cwd") or text_of(manifest, "workspace_root")
        self._program = words_of(record_of(self._metadata.get("sessionHistoryOrigin")), "trigger")
        fork = {} if self._child else record_of(self._metadata.get("fork"))
        self._forked_from = id_of(fork, "forkedFromSessionId")
        self._forked_at = instant(fork.get("forkedAt"), _LATEST)
        self._first = self._key
        if self._forked_from is not None:
            self._first = _first_of(document, self._forked_from, besides)
        self._made = MadeUids()
        self._asking: set[str] = set()
        self._summaries: set[str] = set()
        self._copied = self._forked_at is not None

    def facts(self) -> Record:
        """The record of the session."""
        parent = self._root if self._child else self._forked_from
        title = None if self._child else text_of(self._metadata, "title")
        return session(
            self._key,
            cwd=self._cwd,
            title=title,
            rank=LISTED,
            parent=parent,
            relation=None if parent is None else "subagent" if self._child else "fork",
            program=bool(self._program),
        )

    def records(self, values: Sequence[object]) -> Iterator[Record]:
        """Records of its messages."""
        went_on = [number for number, value in enumerate(values) if _marks_going_on(value)]
        for value in values[went_on[-1] + 1 if went_on else 0 :]:
            record = record_of(value)
            role = record.get("role")
            if role in ("error", "system"):
                continue
            if role not in ("user", "assistant") or not is_known(record.get("content")):
                yield damaged("a message of no known form")
            elif role == "user":
                yield from self._of_user(record)
            else:
                yield from self._of_assistant(record)

    def _of_user(self, record: Record) -> Iterator[Record]:
        blocks = blocks_of(record.get("content"))
        if _is_summary(record):
            yield from unknown_blocks(blocks, _NOISE)
            text = "\n\n".join(words_of(block, "text") for block in blocks).strip()
            if text and text not in self._summaries:
                self._summaries.add(text)
                yield self._message(record, "summary", text)
            return
        metadata = record_of(record.get("metadata"))
        if id_of(metadata, "kind") or metadata.get("displayRole") not in (None, "user"):
            # A notice of the harness.
            return
        yield from unknown_blocks(blocks, _NOISE)
        said: list[str] = []
        for block in blocks:
            kind = block.get("type")
            if kind == "text":
                said.append(typed_in_session(words_of(block, "text")))
            elif kind == "image":
                said.append(picture_of_block(block))
            elif kind == "tool_result":
                said.append(self._answer(block))
        if text := "\n\n".join(part for part in said if part):
            yield self._message(record, "user", text)

    def _of_assistant(self, record: Record) -> Iterator[Record]:
        blocks = blocks_of(record.get("content"))
        yield from unknown_blocks(blocks, _NOISE)
        said: list[str] = []
        for block in blocks:
            if block.get("type") == "text":
                said.append(words_of(block, "text").strip())
            elif block.get("type") == "tool_use":
                name, call = id_of(block, "name"), id_of(block, "id")
                if name in _QUESTIONS and call is not None:
                    self._asking.add(call)
                if field := spoken_field(name):
                    said.append(words_of(record_of(block.get("input")), field).strip())
        if text := "\n\n".join(part for part in said if part):
            yield self._message(record, "assistant", text)

    def _answer(self, block: Record) -> str:
        """What a person answered to a question of the agent."""
        if id_of(block, "tool_use_id") not in self._asking or block.get("is_error") is True:
            return ""
        inner = blocks_of(block.get("content"))
        text = "\n\n".join(words_of(each, "text") for each in inner).strip()
        return "" if text.startswith(("{", "[")) else text

    def _message(self, record: Record, role: str, text: str) -> Record:
        time = record.get("ts")
        said_at = instant(time, _LATEST)
        if said_at is not None and self._forked_at is not None and said_at >= self._forked_at:
            self._copied = False
        # Messages that a fork has from another session have there the ids that they have here.
        first = self._first if self._copied else self._key
        model = id_of(record_of(record.get("modelInfo")), "id")
        uid = self._made.of(first, role, text)
        near = text_of(self._manifest, "started_at")
        if role == "summary":
            return message(
                self._key, uid, "summary", "summary", text, at=time, near=near, cwd=self._cwd
            )
        author: Author = "assistant"
        if self._child:
            author = "subagent"
        elif role == "user":
            author = "program" if self._program else "human"
        return message(
            self._key,
            uid,
            "user" if role == "user" else "assistant",
            author,
            text,
            at=time,
            near=near,
            cwd=self._cwd,
            model=None if role == "user" else model or text_of(self._manifest, "model"),
        )


def _stem(path: Path) -> str:
    return path.name.removesuffix(MESSAGES)


def _first_of(document: Document, key: str, besides: Besides) -> str:
    """The session that said first what a fork has a copy of."""
    seen = {document.path.parent.name}
    while key not in seen and len(seen) < _FORKS:
        seen.add(key)
        path = document.path.parent.parent / key / f"{key}.json"
        if not path.is_relative_to(document.root):
            break
        manifest, _wrong = besides.json(document.root, path)
        metadata = record_of(record_of(manifest).get("metadata"))
        earlier = id_of(record_of(metadata.get("fork")), "forkedFromSessionId")
        if earlier is None:
            break
        key = earlier
    return key


def _is_summary(record: Record) -> bool:
    kind = id_of(record_of(record.get("metadata")), "kind")
    return kind in _SUMMARIES or record.get("compactionSummary") is True


def _marks_going_on(value: object) -> bool:
    record = record_of(value)
    if record.get("role") != "user":
        return False
    return any(
        words_of(block, "text").lstrip().startswith(_WENT_ON)
        for block in blocks_of(record.get("content"))
    )
