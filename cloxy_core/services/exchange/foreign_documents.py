"""Exports of other memory systems that are one JSON object.

Each holds rows of the system's database under names of its own, so that it is put into such tables
again, in memory, and read as the database is: with the same ids, so that what came from one of
both is known in the other. Confirmed in the sources of the systems were

- mcp-memory-service, `MemoryExporter` of its `sync` package (versions 5 to 10; its importer takes
  the same): `export_metadata` (an object) and `memories`, each with content, content_hash, tags (a
  list), created_at and updated_at (seconds), memory_type, metadata (an object), export_source, and
  on demand embedding. What is deleted is not in it, nor are links;
- claude-mem, `scripts/export-memories.ts` (since 7.1): exportedAt, query, and the lists
  `observations`, `sessions`, `summaries` and `prompts` of whole rows, prompts with the project and
  the platform of their session; `metadata.partial` when the sessions are missing. It holds what a
  search found;
- exocortex, `exportData` of its backups (`exocortex export`, version 1): `memories` (with `tags`,
  without tier, namespace and the number of a part), `entities`, `memory_entities` and `settings`.

memX and Cloxy 2 to 5 have none that is public, and the export of basic-memory is its folder.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from hashlib import sha256
from typing import BinaryIO, Final

from cloxy_core.services.exchange import foreign_claude_mem_rows as claude_mem
from cloxy_core.services.exchange.foreign_claude_mem import ClaudeMem
from cloxy_core.services.exchange.foreign_exocortex import Exocortex
from cloxy_core.services.exchange.foreign_limits import LIMITS, ForeignLimits, ForeignTrouble
from cloxy_core.services.exchange.foreign_loaded import LoadedTables
from cloxy_core.services.exchange.foreign_mcp_memory_service import McpMemoryService
from cloxy_core.services.exchange.foreign_members import CUT, split_object
from cloxy_core.services.exchange.foreign_memories import (
    DatabaseSystem,
    ForeignMessage,
    ForeignNote,
    Told,
)
from cloxy_core.services.exchange.foreign_reading import decoded
from cloxy_core.services.exchange.foreign_talk import (
    NotUsableError,
    Object,
    items,
    mapping,
    string,
)

Rows = Iterator[tuple[str, Object]]
_ANEW: Final = "export it there again"


@dataclass(frozen=True, slots=True)
class Document:
    """An export of one system.

    Attributes:
        system: reads the tables.
        members: names by which it is recognised: of these lists (True) or objects (False).
        needed: fields without which items of a list say nothing, by the name of the list.
        tables: columns by table.
        rows: makes rows of an item of a list: the table and its values.
        last: statements to run when all rows are there.
        refuse: says why one cannot be taken, of an object of it; None when it can.
    """

    system: DatabaseSystem
    members: Mapping[str, bool]
    needed: Mapping[str, Sequence[str]]
    tables: Mapping[str, Sequence[str]]
    rows: Callable[[str, Object], Rows]
    last: Sequence[str] = ()
    refuse: Callable[[str, Object], str | None] = lambda _name, _value: None


def _mcp(_name: str, item: Object) -> Rows:
    # Whoever has no hash is known by its words, since its place in the file says nothing.
    own = string(item.get("content")) or ""
    yield "memories", {**item, "id": sha256(own.encode()).hexdigest()}


def _claude_mem(name: str, item: Object) -> Rows:
    yield _CLAUDE_MEM[name], item
    if name == "prompts" and item.get("project"):
        # Of sessions without observations nothing else is there.
        names = ("content_session_id", "claude_session_id", "project", "platform_source")
        yield "sdk_sessions", {each: item.get(each) for each in names}


def _is_partial(name: str, value: Object) -> str | None:
    if name == "metadata" and value.get("partial") is True:
        return "it is a partial one, without the sessions that its summaries belong to"
    return None


def _exocortex(name: str, item: Object) -> Rows:
    yield name, item
    if name == "memories":
        for tag in items(item.get("tags")):
            yield "memory_tags", {"memory_id": item.get("id"), "tag": tag}


_CLAUDE_MEM: Final = {
    "observations": "observations",
    "sessions": "sdk_sessions",
    "summaries": "session_summaries",
    "prompts": "user_prompts",
}
DOCUMENTS: Final[Sequence[Document]] = (
    Document(
        McpMemoryService(),
        {"export_metadata": False, "memories": True},
        {"memories": ("content", "created_at")},
        {
            "memories": (
                *("id", "content_hash", "content", "tags", "memory_type", "metadata"),
                *("created_at", "created_at_iso", "updated_at", "updated_at_iso"),
            )
        },
        _mcp,
    ),
    Document(
        ClaudeMem(),
        dict.fromkeys(_CLAUDE_MEM, True),
        {"observations": ("id", "project", "type"), "prompts": ("id", "prompt_text")},
        {
            "observations": claude_mem.OBSERVATION_COLUMNS,
            "sdk_sessions": claude_mem.SESSION_COLUMNS,
            "session_summaries": claude_mem.SUMMARY_COLUMNS,
            "user_prompts": claude_mem.PROMPT_COLUMNS,
        },
        _claude_mem,
        refuse=_is_partial,
    ),
    Document(
        Exocortex(),
        {"memories": True, "entities": True, "memory_entities": True},
        {"memories": ("id", "content", "is_active", "created_at")},
        {
            "memories": (
                *("id", "content", "content_type", "source", "source_uri", "importance"),
                *("access_count", "parent_id", "is_active", "metadata", "created_at"),
                *("updated_at", "chunk_index"),
            ),
            "memory_tags": ("memory_id", "tag"),
            "entities": ("id", "name", "type", "aliases", "metadata", "created_at", "updated_at"),
            "memory_entities": ("memory_id", "entity_id", "relevance"),
        },
        _exocortex,
        # A part of a long memory is told from a piece of a document by its words alone.
        last=(
            "CREATE INDEX own ON memories (id)",
            "UPDATE memories SET chunk_index = 0 WHERE parent_id IS NOT NULL AND instr("
            "(SELECT content FROM memories AS whole WHERE whole.id = memories.parent_id),"
            " content) > 0",
        ),
    ),
)


@dataclass(slots=True)
class DocumentReader:
    """Reads one file.

    Attributes:
        file: the file, which can be read twice.
        told: is told of items that cannot be taken.
        limits: caps on it.
    """

    file: BinaryIO
    told: Told
    limits: ForeignLimits = LIMITS
    _trouble: ForeignTrouble | None = field(default=None, init=False)

    def recognised(self) -> Document:
        """Whose export it is.

        Raises:
            ForeignTrouble: it is none that is known.
        """
        found: dict[str, bool] = {}
        try:
            for member in split_object(self._begun(), self.limits):
                found.setdefault(member.name, member.is_list)
        except ForeignTrouble as error:
            self._trouble = error
        for document in DOCUMENTS:
            if document.members.items() <= found.items():
                return document
        if self._trouble is not None:
            raise self._trouble
        names = ", ".join(each.system.name for each in DOCUMENTS)
        raise ForeignTrouble(
            "it is a JSON file of no memory system that is known",
            f"JSON exports of these are: {names}",
        )

    def items(self, document: Document) -> Iterator[ForeignNote | ForeignMessage]:
        """All that it holds.

        Raises:
            ForeignTrouble: it lacks what is needed, or is damaged; in that case all that could be
                read came before.
        """
        with closing(LoadedTables(document.tables)) as tables:
            self._load(document, tables)
            for statement in document.last:
                tables.run(statement)
            yield from document.system.items(tables, self.told)
        if self._trouble is not None:
            raise self._trouble

    def _begun(self) -> BinaryIO:
        self.file.seek(0)
        return self.file

    def _load(self, document: Document, tables: LoadedTables) -> None:
        lists = {name for name, is_list in document.members.items() if is_list}
        fields: dict[str, set[str]] = {}
        counts = dict.fromkeys(lists, 0)
        tables.run("BEGIN")
        try:
            for member in split_object(self._begun(), self.limits):
                if member.data is None and member.trouble is None:
                    continue
                if not member.is_list or member.name not in lists:
                    self._look(document, member.name, member.data)
                    continue
                counts[member.name] += 1
                try:
                    item = _object(member.data, member.trouble)
                except NotUsableError as error:
                    self.told.pass_over(f"{member.name}: item {counts[member.name]}: {error}")
                    continue
                needed = set(document.needed.get(member.name, ()))
                fields.setdefault(member.name, set()).update(needed & item.keys())
                for table, values in document.rows(member.name, item):
                    tables.put(table, values)
        except ForeignTrouble as error:
            if self._trouble is None:
                raise
            self._trouble = error
        tables.run("COMMIT")
        for name, wanted in document.needed.items():
            missing = [each for each in wanted if each not in fields.get(name, wanted)]
            if missing:
                raise ForeignTrouble(
                    f"it looks like an export of {document.system.name}, but its {name} have no "
                    + " and no ".join(missing),
                    _ANEW,
                )

    def _look(self, document: Document, name: str, data: bytes | None) -> None:
        """Refuse what says of itself that it cannot be taken.

        Raises:
            ForeignTrouble: why.
        """
        try:
            words = document.refuse(name, mapping(decoded(data))) if data is not None else None
        except NotUsableError:
            return
        if words is not None:
            raise ForeignTrouble(f"{words} ({document.system.name})", _ANEW)


def _object(data: bytes | None, trouble: str | None) -> Object:
    """An item.

    Raises:
        NotUsableError: it is none; the words say why.
    """
    if data is None:
        raise NotUsableError(trouble or CUT)
    return decoded(data)
