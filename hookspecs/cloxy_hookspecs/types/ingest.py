"""From a file on disk to messages, and from messages to chunks.

Sizes and offsets are bytes unless "characters" is said; times are integer milliseconds since
the epoch, UTC.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

Role = Literal["user", "assistant", "summary", "note"]
Relation = Literal["subagent", "fork", "resume"]
Author = Literal["human", "assistant", "subagent", "program", "summary", "own"]
"""`own` is what Cloxy's own model answered: kept as it was said, never told to a model again."""


@dataclass(frozen=True, slots=True)
class SourceItem:
    """One readable thing that a source found, usually a file.

    Attributes:
        uri: absolute path; stable while the thing stays where it is.
        identity: what survives a rename (`device:inode` for a file).
        size: bytes at the moment of discovery.
        mtime_ns: modification time, nanoseconds.
    """

    uri: str
    identity: str
    size: int
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class SourceFailure:
    """Something that a source could not look at, for `status`.

    Attributes:
        uri: absolute path.
        reason: why, in words for the user.
        deliberate: whether it was passed over by rule (a link, a device), which is told but is
            no error.
    """

    uri: str
    reason: str
    deliberate: bool = False


@dataclass(frozen=True, slots=True)
class RawLine:
    r"""One line of bytes and its place.

    Attributes:
        start: offset of the first byte.
        end: offset after the line's `\n` (equal to the end of the data for an unfinished line).
        data: the bytes without the line ending; empty when the line was too long to keep.
        dropped: bytes of a line above the limit that were passed over, else 0.
        finished: whether a `\n` ended the line.
    """

    start: int
    end: int
    data: bytes
    dropped: int = 0
    finished: bool = True


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that was passed over because it is damaged.

    Attributes:
        start: offset of its first byte.
        end: offset after it.
        reason: short and free of the line's text.
    """

    start: int
    end: int
    reason: str


@dataclass(frozen=True, slots=True)
class Message:
    """One thing that somebody said, exactly as said.

    Attributes:
        uid: the agent's own id of the message, the same in every copy of it.
        session: key of the session in which it stands.
        role: whose turn it was in the conversation.
        author: who wrote it; a "user" line is not always a human.
        text: verbatim text; never empty.
        at: when it was said; None when the log does not say.
        start: offset of its line.
        end: offset after its line.
        cwd: working directory at that moment, as recorded; None when unknown.
        branch: git branch at that moment; None when unknown.
        model: name of the model that an assistant's turn came from; None when unknown.
        approximate: whether `at` is not the log's own time of this message but one near it.
    """

    uid: str
    session: str
    role: Role
    author: Author
    text: str
    at: int | None
    start: int
    end: int
    cwd: str | None = None
    branch: str | None = None
    model: str | None = None
    approximate: bool = False


@dataclass(frozen=True, slots=True)
class SessionFacts:
    """What lines say about a session besides its messages; None means "not said here".

    Attributes:
        key: the agent's session id (a sub-agent's has the form `parent/agent-id`).
        parent: key of the session that started it, or was copied into it.
        cwd: first working directory.
        branch: last git branch.
        title: best title so far.
        title_rank: how good the title is; a higher rank or an equal one said later wins.
        program: whether a program, not a person, holds the conversation.
        relation: what it is to its parent.
    """

    key: str
    parent: str | None = None
    cwd: str | None = None
    branch: str | None = None
    title: str | None = None
    title_rank: int = 0
    program: bool = False
    relation: Relation | None = None


@dataclass(frozen=True, slots=True)
class ParseResult:
    """What a parser made of a run of lines.

    Attributes:
        messages: in the order of the file.
        sessions: facts by session key, also of sessions without a message in this run.
        bad_lines: damaged lines.
        records: how many records were understood, noise included.
        unknown: record types that the parser does not know, with their counts.
        state: JSON-ready state to hand back with the next run of the same item.
        silent: whether every record of the item so far was of a kind that carries no
            conversation; when False and no message ever came, the format has drifted.
    """

    messages: Sequence[Message]
    sessions: Mapping[str, SessionFacts]
    bad_lines: Sequence[BadLine] = ()
    records: int = 0
    unknown: Mapping[str, int] = field(default_factory=dict[str, int])
    state: Mapping[str, object] = field(default_factory=dict[str, object])
    silent: bool = False


@dataclass(frozen=True, slots=True)
class Piece:
    """A passage of a chunk: one message, or one part of a long one.

    Attributes:
        message: the message it is of.
        part: 0 for the first or only part of the message.
        start: character offset in the chunk's content, label excluded.
        end: character offset after it; `content[start:end]` is the verbatim text.
    """

    message: Message
    part: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Chunk:
    """A packed group of whole messages; what becomes one memory.

    Attributes:
        content: labelled text of all its messages.
        pieces: passages that this call added, in order.
        continues: whether it continues the given tail: the content starts with the tail's.
        open: whether further messages may still join it; at most the last chunk is open.
    """

    content: str
    pieces: Sequence[Piece]
    continues: bool = False
    open: bool = False
