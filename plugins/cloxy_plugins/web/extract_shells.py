"""Pages whose text is made by a browser, and what their data still tells."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

from cloxy_hookspecs import PageFlag
from cloxy_plugins.web.trees import amounts

FEW_WORDS: Final = 10
_SOME_WORDS: Final = 60
_SMALL_SHARE: Final = 0.03
_LARGE_PAGE: Final = 20_000
_ROOTS: Final = "#root,#app,#__next,#__nuxt,#___gatsby,app-root,[ng-app],[data-reactroot],#svelte"
_ASKS: Final = re.compile(
    r"(?:enable|requires?|needs?|turn(?:ed)? on|activate|allow|without)\W+(?:\w+\W+){0,4}"
    r"java\s?script"
    r"|java\s?script\W+(?:\w+\W+){0,5}(?:disabled|enabled?|required|needed|turned)",
    re.IGNORECASE,
)
_WORD: Final = re.compile(r"\w+")
_TAGS: Final = re.compile(r"<[^<>]{1,400}>")
_PROSE: Final = 40
_PROSE_WORDS: Final = 6
_MOST_PROSE: Final = 200_000


@dataclass(frozen=True, slots=True)
class Shell:
    """What a page is without a browser.

    Attributes:
        flags: why its text may not be what a person sees.
        share: of text in the whole page.
        embedded: text that was found in its data.
    """

    flags: frozenset[PageFlag]
    share: float
    embedded: str


def looked_at(tree: LexborHTMLParser, length: int) -> Shell:
    """Judge a page before anything is taken out of it.

    Args:
        tree: the page.
        length: of its source, in characters.
    """
    body = tree.body
    size = amounts(body)[body.mem_id] if body is not None else None
    own = size.characters - size.linked if size is not None else 0
    words = own / 5.5
    share = (size.characters if size is not None else 0) / max(1, length)
    flags: set[PageFlag] = set()
    if words < _SOME_WORDS and _is_shell(tree, share, length):
        flags.add("needs_browser")
    if words < FEW_WORDS:
        flags.add("too_little_text")
    embedded = embedded_text(tree) if flags else ""
    if len(embedded) < 2 * own:
        embedded = ""
    return Shell(frozenset(flags), share, embedded)


def _is_shell(tree: LexborHTMLParser, share: float, length: int) -> bool:
    body = tree.body
    text = "" if body is None else body.text(separator=" ")[:20_000]
    if _ASKS.search(text):
        return True
    if any(not node.text().strip() for node in tree.css(_ROOTS)):
        return True
    return length > _LARGE_PAGE and share < _SMALL_SHARE


def embedded_text(tree: LexborHTMLParser) -> str:
    """Prose in the data of a page, in its order, each piece once."""
    pieces: dict[str, None] = {}
    size = 0
    for script in tree.css('script[type="application/json"],script[type="application/ld+json"]'):
        for piece in _prose(_data(script)):
            if piece not in pieces and size < _MOST_PROSE:
                pieces[piece] = None
                size += len(piece)
    return "\n\n".join(pieces)


def _data(script: LexborNode) -> Any:  # noqa: ANN401 - whatever JSON has
    try:
        return json.loads(script.text())
    except (ValueError, RecursionError):
        return None


def _prose(data: Any) -> Iterator[str]:  # noqa: ANN401 - whatever JSON has
    left = [data]
    while left:
        value = left.pop()
        if isinstance(value, dict):
            left.extend(reversed(value.values()))
        elif isinstance(value, list):
            left.extend(reversed(value))
        elif isinstance(value, str) and len(value) >= _PROSE:
            text = " ".join(_TAGS.sub(" ", value).split())
            if len(_WORD.findall(text)) >= _PROSE_WORDS and text.count(" ") >= _PROSE_WORDS - 1:
                yield text
