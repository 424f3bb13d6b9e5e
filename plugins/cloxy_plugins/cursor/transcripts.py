"""Transcripts of agents as a source: one item for each conversation.

The command line writes a transcript anew when a conversation is resumed, and no line of it has an
id: a message is known by the number of its line and its role. One whose words a database of the
editor or of the command line has in the same conversation has the id and the time that it has
there, so that it is the same message when the conversation was read from the database before.
"""

import os
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from pathlib import Path

from cloxy_hookspecs import HostContext, LogReader, RawLine, Source, SourceFailure, SourceItem
from cloxy_hookspecs.logs.json_values import Record
from cloxy_hookspecs.logs.turns import raw_lines
from cloxy_plugins.cursor.chats import Chats
from cloxy_plugins.cursor.composers import session_record
from cloxy_plugins.cursor.editor import Editor, editor_of_user
from cloxy_plugins.cursor.finding import Transcripts, conversation_of, parent_of, slug_of
from cloxy_plugins.cursor.places import folder_of_slug
from cloxy_plugins.cursor.roots import agent_folders


def create_transcripts(context: HostContext) -> Source:
    """Make the source."""
    reader = context.service(LogReader)
    folders = agent_folders(os.environ, Path.home())
    transcripts = Transcripts(reader, folders)
    others = (editor_of_user(reader, transcripts), Chats(reader, folders, transcripts))
    return TranscriptFiles(reader, transcripts, others)


class TranscriptFiles:
    """Finds transcripts and reads them whole."""

    def __init__(
        self, reader: LogReader, transcripts: Transcripts, others: Sequence[Editor | Chats]
    ) -> None:
        """Nothing is read.

        Args:
            reader: knows folders that projects may have.
            transcripts: finds and reads.
            others: know conversations that databases have as well.
        """
        self._reader = reader
        self._transcripts = transcripts
        self._others = others

    def roots(self) -> Sequence[Path]:
        """Folders that are watched, whether they exist or not."""
        return tuple(tree.root for tree in self._transcripts.trees)

    def discover(
        self, failures: list[SourceFailure], under: Path | None = None
    ) -> Iterator[SourceItem]:
        """Find the transcripts."""
        yield from self._transcripts.find(failures, under).values()

    def read(self, item: SourceItem, offset: int) -> Iterator[RawLine]:
        """Records of a conversation: its facts, then its messages; none of one without text.

        Raises:
            OSError: it cannot be opened or read.
            ForeignDatabaseError: a database that may have the conversation cannot be read.
        """
        yield from raw_lines(self._records(item.uri), offset)

    def excerpt(self, item: SourceItem, start: int, end: int) -> bytes:
        """Not asked of things that are rewritten."""
        del item, start, end
        return b""

    def _records(self, uri: str) -> Iterator[Record]:
        found = self._transcripts.records(uri)
        yield from (record for record in found if "role" not in record)
        messages = [record for record in found if "role" in record]
        if not messages:
            return
        key = conversation_of(uri)
        facts, said = self._elsewhere(key)
        if parent := parent_of(uri):
            facts |= {"session": f"{parent}/{key}", "parent": parent}
        if facts.get("cwd") is None:
            facts["cwd"] = folder_of_slug(slug_of(uri), self._folders())
        yield facts
        for record in messages:
            user = record["role"] == "user"
            same = said.get((record["role"], record["text"]))
            known: Record = same.popleft() if same else {}
            yield {
                "kind": "message",
                "session": facts["session"],
                "uid": known.get("uid") or f"{record['number']}/{record['role']}",
                "role": record["role"],
                "author": "subagent" if facts.get("parent") else "human" if user else "assistant",
                "text": record["text"],
                "cwd": facts["cwd"],
                "at": known.get("at") or record.get("time"),
                "near": known.get("near"),
                "approximate": known.get("approximate", True),
                "model": known.get("model"),
            }

    def _elsewhere(self, key: str) -> tuple[Record, dict[object, deque[Record]]]:
        """What databases have of a conversation: its facts, and messages by role and words."""
        facts = session_record(key, None, None)
        said: dict[object, deque[Record]] = defaultdict(deque)
        for other in self._others:
            for record in other.records_of(key):
                if record["kind"] == "session":
                    facts = dict(record)
                elif record["kind"] == "message":
                    said[record["role"], record["text"]].append(record)
            if said:
                break
        return facts, said

    def _folders(self) -> Sequence[str]:
        return [str(folder) for folder in self._reader.known_folders()]
