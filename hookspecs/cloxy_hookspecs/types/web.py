"""A page on its way from an address to text.

Sizes are bytes unless "characters" is said. Times are milliseconds since the epoch, UTC.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

FetchMode = Literal["clean", "markdown", "raw", "extract"]
PageFlag = Literal["needs_browser", "too_little_text"]


@dataclass(frozen=True, slots=True)
class Target:
    """Where one hop of a fetch would go: everything that a guard may judge.

    Attributes:
        url: the address of this hop, canonical.
        scheme: `http` or `https`.
        host: name or address in canonical form, lower case, without brackets.
        port: the port.
        addresses: every answer of the one lookup of the name; the address itself for a literal.
    """

    url: str
    scheme: str
    host: str
    port: int
    addresses: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class HopRequest:
    """One request to a vetted target; redirects are not followed.

    Attributes:
        target: where it goes; the connection is made to `addresses`, in order, and to nothing else.
        headers: what is sent beside the fetcher's own, names in lower case.
        seconds: what is left of the time for the whole fetch.
        max_bytes: of the body, after unpacking; more is cut.
    """

    target: Target
    headers: Mapping[str, str]
    seconds: float
    max_bytes: int


@dataclass(frozen=True, slots=True)
class HopResponse:
    """What one hop answered.

    Attributes:
        status: HTTP status.
        headers: names in lower case; the first of repeated ones.
        body: unpacked, at most `max_bytes`; empty for a redirect.
        truncated: whether there was more.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes
    truncated: bool = False


@dataclass(frozen=True, slots=True)
class PageSource:
    """What a sanitizer or an extractor gets: a body, decoded where it is text.

    Attributes:
        url: final address, for links.
        media_type: `text/html`, `application/json`, …; lower case, without parameters.
        text: the body as characters; empty for a type that is no text.
        data: the body as it came, for a type that is no text and that an extractor takes; else
            empty.
    """

    url: str
    media_type: str
    text: str
    data: bytes = b""


@dataclass(frozen=True, slots=True)
class Sanitized:
    """A source without what a reader would not see.

    Attributes:
        source: the source.
        removed: what was taken out, with counts: `script`, `hidden`, `zero_width`, …
    """

    source: PageSource
    removed: Mapping[str, int] = field(default_factory=dict[str, int])


@dataclass(frozen=True, slots=True)
class Extracted:
    """Readable text of a page.

    Attributes:
        text: the text, or markdown.
        title: its title; empty when it has none.
        matches: one text for each element that a selector matched; empty for other modes.
        flags: why the text may not be what a person sees.
        notes: what a reader should know.
    """

    text: str
    title: str = ""
    matches: tuple[str, ...] = ()
    flags: frozenset[PageFlag] = frozenset()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ReadRequest:
    """What somebody wants of a page.

    Attributes:
        url: as given.
        mode: what comes back.
        selector: CSS selector; for mode `extract`.
        headers: to send along; never to another origin.
    """

    url: str
    mode: FetchMode = "clean"
    selector: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class ReadPage:
    """A page that was read.

    Attributes:
        url: as asked for.
        final_url: after redirects.
        status: HTTP status of the last hop.
        mode: as asked for.
        content: what the mode asks for; for `raw` the decoded body.
        title: its title; empty when there is none.
        matches: for `extract`, a text for each element.
        media_type: what it is.
        charset: what it was decoded with.
        fetched_at: when it came over the network.
        from_cache: whether that was for an earlier request.
        truncated: whether the body was cut.
        flags: why the text may not be what a person sees.
        removed: what was taken out, with counts.
        notes: what a reader should know.
        sha256: of the body as it came, in hexadecimal digits.
    """

    url: str
    final_url: str
    status: int
    mode: FetchMode
    content: str
    title: str
    matches: tuple[str, ...]
    media_type: str
    charset: str
    fetched_at: int
    from_cache: bool
    truncated: bool
    flags: frozenset[PageFlag]
    removed: Mapping[str, int]
    notes: tuple[str, ...]
    sha256: str
