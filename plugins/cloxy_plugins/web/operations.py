"""The records of the operations on pages."""

from collections.abc import Iterable
from typing import Any

from cloxy_hookspecs import MemoryWriter, OperationProvider, PageReader, Route, Similarity
from cloxy_plugins.web import (
    operations_doors,
    operations_fetch,
    operations_models,
    operations_search,
    operations_verify,
)


def operations() -> Iterable[OperationProvider[Any, Any]]:
    """Everything that can be asked about pages."""
    yield OperationProvider(
        name="web-fetch",
        summary="Read a page of the web, and remember it if asked to",
        requires=(PageReader, MemoryWriter),
        input=operations_models.FetchInput,
        output=operations_models.FetchOutput,
        effect="write",
        doors=(Route("POST", "/fetch"),),
        create=operations_fetch.create_fetch,
    )
    # An operation of its own: it only reads, and gives the text in parts.
    yield OperationProvider(
        name="web-read",
        summary="Read a page of the web, a part at a time",
        requires=(PageReader,),
        input=operations_models.PageInput,
        output=operations_models.ReadOutput,
        effect="read",
        doors=(operations_doors.FETCH,),
        create=operations_fetch.create_read,
    )
    yield OperationProvider(
        name="web-search",
        summary="Find lines in a page of the web",
        requires=(PageReader,),
        input=operations_models.SearchInput,
        output=operations_models.SearchOutput,
        effect="read",
        doors=(Route("POST", "/search"), operations_doors.SEARCH_PAGE),
        create=operations_search.create_search,
    )
    yield OperationProvider(
        name="web-verify",
        summary="Find the passages of pages that are nearest to a claim",
        requires=(PageReader, Similarity),
        input=operations_models.VerifyInput,
        output=operations_models.VerifyOutput,
        effect="read",
        doors=(Route("POST", "/verify"), operations_doors.VERIFY),
        create=operations_verify.create_verify,
    )
