"""Stand-ins for the reader of pages and for a model, and a context that hands them out."""

from dataclasses import replace

from cloxy_core.testing.harness import LazyContext
from cloxy_hookspecs import CloxyError, FetchError, PageReader, ReadPage, Similarity

URL = "https://example.com/page"
AT = 1_767_225_600_000  # 2026-01-01T00:00:00Z


def page(content, **more):
    """A page as the reader gives it."""
    base = ReadPage(
        url=URL,
        final_url=URL,
        status=200,
        mode="clean",
        content=content,
        title="A page",
        matches=(),
        media_type="text/html",
        charset="utf-8",
        fetched_at=AT,
        from_cache=False,
        truncated=False,
        flags=frozenset(),
        removed={},
        notes=(),
        sha256="0" * 64,
    )
    return replace(base, **more)


class Pages:
    """A reader with pages by address, or by address and mode; errors are raised."""

    def __init__(self, pages):
        self.pages = dict(pages)
        self.asked = []

    async def read(self, request):
        self.asked.append(request)
        found = self.pages.get((request.url, request.mode), self.pages.get(request.url))
        if found is None:
            raise FetchError(f"nothing at {request.url}")
        if isinstance(found, CloxyError):
            raise found
        return replace(found, url=request.url, mode=request.mode)


class Model:
    """Gives the cosine of the first word of a table that a text has; None when it is not loaded."""

    def __init__(self, nearness=None, error=None):
        self.nearness, self.error = nearness, error
        self.asked = []

    async def similarities(self, text, passages):
        self.asked.append((text, tuple(passages)))
        if self.error is not None:
            raise self.error
        if self.nearness is None:
            return None
        return [self._of(passage) for passage in passages]

    def _of(self, passage):
        return next((near for word, near in self.nearness.items() if word in passage), 0.0)


class Context(LazyContext):
    """A context whose reader and model are stand-ins; everything else is real, or refused."""

    def __init__(self, pages, model=None, context=None):
        super().__init__(lambda: context)
        self.pages = pages if isinstance(pages, Pages) else Pages(pages)
        self.model = model or Model()

    def service(self, port):
        if port is PageReader:
            return self.pages
        if port is Similarity:
            return self.model
        return super().service(port)

    async def blocking(self, work):
        return work()
