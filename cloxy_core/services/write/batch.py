"""What is handed to the writer, and what it says it did."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from cloxy_hookspecs import BadLine, Chunker, Message, OriginPolicy, SessionFacts


@dataclass(frozen=True, slots=True)
class Feed:
    """Where messages come from, and how they are treated.

    Attributes:
        plugin: name of the source's record; part of a cursor's identity.
        agent: agent whose sessions these are.
        parser: name of the parser's record.
        policy: policy of the memories' origin.
        chunker: what packs the messages.
    """

    plugin: str
    agent: str
    parser: str
    policy: OriginPolicy
    chunker: Chunker


@dataclass(frozen=True, slots=True)
class Cursor:
    """How far a file was read, and how to recognise it; see `tables.Source`.

    Its state is `watched` when all was read; `drift` when no message was found in it; `waiting`
    when an unfinished last line was left, `provisional` when it was taken; `reading` and
    `rereading` when another run was to follow; `failed`, with the reason; or `gone`.
    """

    uri: str
    identity: str
    byte_offset: int
    size: int
    mtime_ns: int
    head: str = ""
    head_len: int = 0
    before_hash: str = ""
    parser_state: Mapping[str, object] = field(default_factory=dict)
    state: str = "watched"
    error: str | None = None
    records: int = 0
    messages: int = 0
    bad_lines: int = 0
    id: int | None = None


@dataclass(frozen=True, slots=True)
class FileBatch:
    """A run of messages from one file, clean, with the cursor after it.

    Attributes:
        feed: where they come from.
        cursor: the cursor to store with them; its counts include this run.
        messages: in the order of the file.
        facts: what the run says about sessions.
        projects: project path by session key, resolved before.
        bad_lines: damaged lines in this run.
        redactions: secrets replaced, by kind.
        reread: whether known messages may have changed, because the file was read anew.
    """

    feed: Feed
    cursor: Cursor
    messages: Sequence[Message]
    facts: Mapping[str, SessionFacts]
    projects: Mapping[str, str]
    bad_lines: Sequence[BadLine] = ()
    redactions: Mapping[str, int] = field(default_factory=dict)
    reread: bool = False


@dataclass(slots=True)
class WriteReport:
    """What a transaction did.

    Attributes:
        memories_added: new memories.
        messages_added: new messages.
        messages_known: messages that were there already.
        cursors: stored cursors, with their ids, by (plugin, uri).
        retitled: ids of sessions whose passages carry an old title.
    """

    memories_added: int = 0
    messages_added: int = 0
    messages_known: int = 0
    cursors: dict[tuple[str, str], Cursor] = field(default_factory=dict)
    retitled: set[int] = field(default_factory=set)
