"""From a history to records of turns.

Aider has no ids. A chat is told by its start, what it showed then and what was typed first; so it
is the same in every copy of the file, as in worktrees and clones. A message is told by what was
typed, and an answer by what it answers.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b

from cloxy_hookspecs.logs.json_values import Record
from cloxy_hookspecs.logs.turns import MadeUids, damaged, made_uid, message, session, unknown
from cloxy_plugins.aider.answers import only_thinks, said, words_of
from cloxy_plugins.aider.chats import Block, Chat, chats_of
from cloxy_plugins.aider.times import Times, entries_of, local, milliseconds
from cloxy_plugins.aider.typed import plain, typed

_MODEL = re.compile(r"(?:Main model|Model): (\S+)(?: with (.*?) edit format)?")
_EDITOR = re.compile(r"Editor model: (\S+)(?: with (.*?) edit format)?")
_DONE = re.compile(r"(?:Applied edit to \S|Commit [0-9a-f]{6,40} \S)")
_FORMAT_LIMIT = 40


def records_of(data: bytes, inputs: bytes, cwd: str | None) -> Iterator[Record]:
    """Records of the chats of a history.

    Args:
        data: the history.
        inputs: the history of what was typed; empty when there is none.
        cwd: folder of the project.
    """
    text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    lost = text.count("\ufffd") - data.count("\ufffd".encode())
    if lost > 0:
        yield damaged(f"{lost} bytes are no UTF-8", quiet=True)
    if "\0" in text:
        yield damaged("zero bytes", quiet=True)
        text = text.replace("\0", "")
    chats = chats_of(text)
    if not any(_is_chat(chat) for chat in chats):
        if text.strip():
            yield unknown("text that is no chat")
        return
    for reason, number in Counter(each for chat in chats for each in chat.damage).items():
        yield damaged(f"{reason}, in {number} chat(s)")
    times = Times(entries_of(inputs))
    keys: Counter[str] = Counter()
    starts = [local(chat.started) for chat in chats]
    for number, chat in enumerate(chats):
        following = starts[number + 1] if number + 1 < len(starts) else None
        times.begin(starts[number], following)
        yield from _Telling(chat, starts[number], times, cwd).records(keys)


def _is_chat(chat: Chat) -> bool:
    return chat.started is not None or any(block.kind == "typed" for block in chat.blocks)


@dataclass(frozen=True, slots=True)
class _Model:
    name: str | None = None
    edit_format: str = ""


class _Telling:
    """One chat on the way to records."""

    def __init__(self, chat: Chat, start: datetime | None, times: Times, cwd: str | None) -> None:
        self._chat = chat
        self._start: object = milliseconds(start)
        self._times = times
        self._cwd = cwd
        self._key = ""
        self._uids = MadeUids()
        self._model = self._editor = self._now = _Model()
        self._anchor = ""
        self._answers = self._notes = 0
        self._asked = ""
        self._answer = ""

    def records(self, keys: Counter[str]) -> Iterator[Record]:
        """The session and its messages; nothing of a chat in which nothing was typed.

        Args:
            keys: how many chats had a key so far.
        """
        first = self._chat.first
        if first == len(self._chat.blocks):
            return
        self._key = _key_of(self._chat, first, keys)
        for block in self._chat.blocks[:first]:
            if block.kind == "shown":
                self._learn(block)
        told = [record for block in self._chat.blocks[first:] for record in self._tell(block)]
        if told:
            yield session(self._key, cwd=self._cwd)
            yield from told

    def _tell(self, block: Block) -> Iterator[Record]:
        if block.kind == "typed":
            yield from self._typed(block)
        elif block.kind == "answer":
            yield from self._answered(block)
        else:
            self._learn(block)
            yield from self._done(block)

    def _typed(self, block: Block) -> Iterator[Record]:
        text = block.text
        at = milliseconds(self._times.of(text))
        is_handed_on = bool(self._answer) and " ".join(text.split()) == self._answer
        asked, self._asked = self._asked, ""
        self._now = self._editor if is_handed_on and self._editor.name else self._model
        if is_handed_on or (asked and asked == plain(text)):
            return  # to the editor's model; or the words behind a command once more
        self._anchor = self._uids.of(self._key, "user", plain(text))
        self._answers = self._notes = 0
        self._answer = ""
        what = typed(text)
        if not what.words:
            return
        if what.command:
            self._asked = plain(what.words)
        near = self._near()
        yield message(
            self._key,
            self._anchor,
            "user",
            "human",
            what.words,
            at=near if at is None else at,
            approximate=at is None,
        )

    def _answered(self, block: Block) -> Iterator[Record]:
        self._answer = said(block)
        words = words_of(block, self._now.edit_format)
        self._answers += 1
        if only_thinks(block):
            yield damaged("thoughts without an end", quiet=True)
        if words:
            uid = made_uid(self._key, self._anchor, "assistant", str(self._answers))
            yield message(
                self._key,
                uid,
                "assistant",
                "assistant",
                words,
                at=self._near(),
                approximate=True,
                model=self._now.name,
            )

    def _done(self, block: Block) -> Iterator[Record]:
        """What Aider says that it did."""
        lines = [line for line in block.lines if _DONE.match(line)]
        if lines:
            self._notes += 1
            uid = made_uid(self._key, self._anchor, "note", str(self._notes))
            text = "\n".join(lines)
            yield message(
                self._key, uid, "note", "program", text, at=self._near(), approximate=True
            )

    def _near(self) -> object:
        """The start of the chat, for the first message of it; the others are near that one."""
        start, self._start = self._start, None
        return start

    def _learn(self, block: Block) -> None:
        """Take the names of models, and how they write edits, from what was shown."""
        for line in block.lines:
            main = _MODEL.match(line)
            # Only at the start it may be the name alone; later, that may be the output of anything.
            if main is not None and (main[2] or not self._anchor):
                self._model = self._now = _Model(main[1], (main[2] or "")[:_FORMAT_LIMIT])
            elif editor := _EDITOR.match(line):
                self._editor = _Model(editor[1], (editor[2] or "")[:_FORMAT_LIMIT])


def _key_of(chat: Chat, first: int, keys: Counter[str]) -> str:
    """The key of a chat, the same in every copy of its history."""
    shown = [line for block in chat.blocks[:first] for line in _plain(block.lines)]
    parts = [chat.started or "", *shown, plain(chat.blocks[first].text)]
    whole = "\0".join(parts).encode("utf-8", "surrogatepass")
    name = (chat.started or "undated").replace(" ", "T").replace(":", "-")
    key = f"{name}-{blake2b(whole, digest_size=6).hexdigest()}"
    keys[key] += 1
    return key if keys[key] == 1 else f"{key}-{keys[key]}"


def _plain(lines: Sequence[str]) -> Iterator[str]:
    return (line.strip() for line in lines if line.strip())
