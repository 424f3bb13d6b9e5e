"""The document of a thread: its facts, and what was said in it.

Of its two forms the older one is turned into the newer when Zed saves a thread again: ids of
prompts are made then, others have none in either form. So all ids are made of the words, which both
forms have; a message keeps its id when the form changes, and when a summary is put in before it.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from cloxy_hookspecs import Author, Role
from cloxy_hookspecs.logs import turns
from cloxy_hookspecs.logs.instants import instant
from cloxy_hookspecs.logs.json_values import (
    Record,
    id_of,
    is_record,
    list_of,
    record_of,
    text_of,
    usable_id,
    words_of,
)
from cloxy_hookspecs.logs.titles import NAMED, title_of_name
from cloxy_plugins.zed.words import Words, kind_of, old_words, words_of_agent, words_of_user

Side = Literal["user", "assistant", "summary"]

_NO_TITLES = frozenset(
    {"new thread", "new agent thread", "new text thread", "new context", "untitled", "generating…"}
)
_LATEST = 2**53


@dataclass(slots=True)
class Row:
    """What stands beside the document of a thread.

    Attributes:
        key: id of the thread.
        summary: its title.
        created_at: when it was begun; for a row of an old version, when that was last changed.
        updated_at: when it was last changed.
        folder_paths: folders of its project, one a line, sorted.
        folder_paths_order: numbers of those folders as the project has them, with commas.
        parent_id: thread that started it.
        grandparent: thread that started that one.
    """

    key: str
    summary: object = None
    created_at: object = None
    updated_at: object = None
    folder_paths: object = None
    folder_paths_order: object = None
    parent_id: object = None
    grandparent: object = None


@dataclass(slots=True)
class _Said:
    """A message.

    Attributes:
        side: whose turn it was.
        text: its words.
        program: whether Zed wrote it in the user's name.
    """

    side: Side
    text: str
    program: bool = False


@dataclass(slots=True)
class _Thread:
    """What was found in a document.

    Attributes:
        said: messages in order.
        problems: records of what was passed over.
    """

    said: list[_Said] = field(default_factory=list[_Said])
    problems: list[Record] = field(default_factory=list[Record])


def thread_records(document: Record, row: Row) -> Iterator[Record]:
    """Records of a thread; of one without a word only what could not be read.

    Args:
        document: the thread.
        row: what stands beside it.
    """
    thread = _Thread()
    messages = document.get("messages")
    if not isinstance(messages, list):
        yield turns.damaged("a thread has no messages")
        return
    for message in list_of(messages):
        _take(thread, message)
    if summary := _detailed_summary(document):
        thread.said.append(_Said("summary", summary))
    yield from thread.problems
    if thread.said:
        yield from _records(thread.said, document, row)


def _take(thread: _Thread, message: object) -> None:
    if message == "Resume":
        return
    record = record_of(message)
    if "role" in record:
        _take_old(thread, record)
    elif is_record(user := record.get("User")):
        _add(thread, "user", words_of_user(user.get("content")))
    elif is_record(agent := record.get("Agent")):
        _add(thread, "assistant", words_of_agent(agent.get("content")))
    elif "Compaction" in record:
        _take_compaction(thread, record["Compaction"])
    elif is_record(message) and len(record) == 1 and not {"User", "Agent"} & record.keys():
        thread.problems.append(turns.unknown(f"message of kind {kind_of(next(iter(record)))}"))
    elif isinstance(message, str):
        thread.problems.append(turns.unknown(f"message of kind {kind_of(message)}"))
    else:
        thread.problems.append(turns.damaged("a message has no known form"))


def _take_old(thread: _Thread, record: Record) -> None:
    """A message of the older form."""
    role = record.get("role")
    if role == "user":
        # The oldest documents give what tools answered to the user's side.
        if not list_of(record.get("tool_results")):
            _add(thread, "user", old_words(record), program=record.get("is_hidden") is True)
    elif role == "assistant":
        _add(thread, "assistant", old_words(record))
    elif role != "system":
        thread.problems.append(turns.unknown(f"message of role {kind_of(role)}"))


def _take_compaction(thread: _Thread, compaction: object) -> None:
    """A summary in place of what was said before, which a provider may keep to itself."""
    if is_record(compaction) and isinstance(compaction.get("Summary"), str):
        if text := words_of(compaction, "Summary").strip():
            thread.said.append(_Said("summary", text))
    elif not (is_record(compaction) and "ProviderNative" in compaction):
        thread.problems.append(turns.unknown("summary of no known form"))


def _add(thread: _Thread, side: Side, words: Words, *, program: bool = False) -> None:
    thread.problems += [turns.unknown(kind) for kind in words.unknown]
    if words.damaged:
        thread.problems.append(turns.damaged("a message has content of no known form"))
    if words.text:
        thread.said.append(_Said(side, words.text, program))


def _detailed_summary(document: Record) -> str:
    """A summary of all of a thread, if it was ever asked for."""
    generated = record_of(record_of(document.get("detailed_summary_state")).get("Generated"))
    found = words_of(document, "detailed_summary") or words_of(generated, "text")
    return found.strip()


def _records(said: list[_Said], document: Record, row: Row) -> Iterator[Record]:
    snapshot = record_of(document.get("initial_project_snapshot"))
    cwd = _folder(row, snapshot)
    parent = _parent(document, row)
    key, above = _keys(row, parent)
    title = _title(row, document)
    yield turns.session(
        key,
        cwd=cwd,
        branch=_branch(snapshot, cwd),
        title=title,
        rank=NAMED if title else 0,
        parent=above,
        relation="subagent" if above else None,
    )
    model = id_of(record_of(document.get("model")), "model")
    uids = turns.MadeUids()
    begun, changed = _times(document, row, snapshot)
    prompts = [number for number, each in enumerate(said) if each.side == "user"]
    last_turn = prompts[-1] if prompts else 0
    for number, each in enumerate(said):
        role, author = _who(each, child=above is not None)
        yield turns.message(
            key,
            uids.of(row.key, each.side, each.text),
            role,
            author,
            each.text,
            # A document is written with each change: the last turn was when it was written last.
            at=changed if number >= last_turn else begun,
            approximate=True,
            model=model if role == "assistant" else None,
        )


def _who(said: _Said, *, child: bool) -> tuple[Role, Author]:
    if said.side == "summary":
        return "summary", "summary"
    if said.program:
        return said.side, "program"
    if child:
        return said.side, "subagent"
    return said.side, "human" if said.side == "user" else "assistant"


def _parent(document: Record, row: Row) -> str | None:
    context = record_of(document.get("subagent_context"))
    parent = usable_id(row.parent_id) or id_of(context, "parent_thread_id")
    return parent if parent != row.key else None


def _keys(row: Row, parent: str | None) -> tuple[str, str | None]:
    """Keys of the session of a thread, and of the one that started it."""
    if parent is None:
        return row.key, None
    grand = usable_id(row.grandparent)
    above = f"{grand}/{parent}" if grand and grand not in (parent, row.key) else parent
    return f"{parent}/{row.key}", above


def _title(row: Row, document: Record) -> str | None:
    for name in (row.summary, document.get("title"), document.get("summary")):
        title = title_of_name(name) if isinstance(name, str) else ""
        if title and title.lower() not in _NO_TITLES:
            return title
    return None


def _times(document: Record, row: Row, snapshot: Record) -> tuple[int | None, int | None]:
    """When a thread was begun and when it was last changed, milliseconds."""
    told = (instant(each, _LATEST) for each in (row.updated_at, document.get("updated_at")))
    changed = next((each for each in told if each is not None), None)
    known = [instant(each, _LATEST) for each in (snapshot.get("timestamp"), row.created_at)]
    times = [each for each in (*known, changed) if each is not None]
    return min(times, default=None), changed


def _folder(row: Row, snapshot: Record) -> str | None:
    """The first folder of a thread's project."""
    if isinstance(row.folder_paths, str):
        paths = [path for path in row.folder_paths.split("\n") if path.strip()]
        order = str(row.folder_paths_order or "").split(",")
        first = order.index("0") if "0" in order else 0
        if paths:
            return paths[first if first < len(paths) else 0]
    worktrees = _worktrees(snapshot)
    return next((path for each in worktrees if (path := text_of(each, "worktree_path"))), None)


def _branch(snapshot: Record, cwd: str | None) -> str | None:
    """The branch as it was when the thread was begun."""
    worktrees = list(_worktrees(snapshot))
    same = [each for each in worktrees if text_of(each, "worktree_path") == cwd]
    state = record_of((same or worktrees or [{}])[0].get("git_state"))
    return text_of(state, "current_branch")


def _worktrees(snapshot: Record) -> Iterable[Record]:
    return [each for each in list_of(snapshot.get("worktree_snapshots")) if is_record(each)]
