"""Pages as memories: with their address, time and hash, and each only once."""

from collections.abc import Sequence
from urllib.parse import urlsplit

from sqlalchemy import Connection, func, select

from cloxy_hookspecs import Draft, InputError, MemoryWriter, ReadPage, StorePort
from cloxy_hookspecs.tables import memories, projects
from cloxy_plugins.web.operations_instants import iso
from cloxy_plugins.web.operations_models import Kept

ORIGIN = "document"
EMPTY = "nothing was remembered: the page has no text"
KNOWN = "the page is remembered already, as it is now"


class Documents:
    """Keeps pages."""

    def __init__(self, store: StorePort, writer: MemoryWriter) -> None:
        self._store = store
        self._writer = writer

    async def keep(
        self, page: ReadPage, selector: str | None, project: str | None
    ) -> tuple[Kept, Sequence[str]]:
        """Keep a page; one that was kept from the same bytes is not kept again.

        Args:
            page: with its text.
            selector: CSS selector by which the text was chosen; a part is not the whole.
            project: of the memory; None for none.

        Returns:
            What became of it, and what to tell.
        """
        chosen = (selector or "") if page.mode == "extract" else ""
        source = f"web:{_host(page.final_url)}"
        if not page.content.strip():
            return Kept(ids=[], added=0, source=source), [EMPTY]
        known = await self._store.read(
            lambda c: _known(c, source, (page.sha256, chosen), project or None)
        )
        if known:
            return Kept(ids=known, added=0, source=source), [KNOWN]
        metadata: dict[str, object] = {
            "url": page.final_url,
            "title": page.title,
            "fetched_at": iso(page.fetched_at),
            "sha256": page.sha256,
            "mode": page.mode,
            "media_type": page.media_type,
            "truncated": page.truncated,
        }
        if chosen:
            metadata["selector"] = chosen
        draft = Draft(page.content, ORIGIN, source, project or None, metadata)
        try:
            stored = await self._writer.remember(draft)
        except InputError as error:
            # The page itself was read, and is worth its answer.
            return Kept(ids=[], added=0, source=source), [f"not remembered: {error}"]
        return Kept(ids=list(stored.ids), added=stored.added, source=source), []


def _host(url: str) -> str:
    """The host, with nothing in it that separates segments of a source."""
    return (urlsplit(url).hostname or "unknown").replace(":", ".")


def _known(
    connection: Connection, source: str, what: tuple[str, str], project: str | None
) -> list[int]:
    """Memories of a source that were kept from the same bytes and selector, for a project."""
    sha256, selector = what
    extra = memories.c.extra
    rows = connection.execute(
        select(memories.c.id)
        .outerjoin(projects, projects.c.id == memories.c.project_id)
        .where(
            memories.c.source.between(f"{source}:", f"{source};"),
            memories.c.origin == ORIGIN,
            memories.c.state == "active",
            func.json_extract(extra, "$.sha256") == sha256,
            func.coalesce(func.json_extract(extra, "$.selector"), "") == selector,
            projects.c.path.is_(None) if project is None else projects.c.path == project,
        )
        .order_by(memories.c.id)
    )
    return [row[0] for row in rows]
