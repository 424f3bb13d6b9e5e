"""Elements of a page that a CSS selector matches."""

import re
from typing import Final

from selectolax.lexbor import LexborNode, SelectolaxError

from cloxy_hookspecs import Extracted, FetchMode, InputError, PageSource
from cloxy_plugins.web.extract_html import base_of, title_of
from cloxy_plugins.web.extract_rendering import rendered
from cloxy_plugins.web.sanitize_characters import without
from cloxy_plugins.web.trees import parsed

MOST_SELECTOR: Final = 200
MOST_MATCHES: Final = 1_000
MOST_CHARACTERS: Final = 500_000
_SHAPED: Final = "p,pre,table,ul,ol,dl,h1,h2,h3,h4,h5,h6,br,div,blockquote"
_PLAIN: Final = frozenset({"pre", "script", "style", "title"})
_LISTS: Final = frozenset({"dl", "ol", "table", "ul"})
_HAS: Final = re.compile(r":has\(|\(|\)", re.IGNORECASE)
_HINT: Final = 'a CSS selector, such as "main h2" or "table.prices td:first-child"'


def extract(source: PageSource, mode: FetchMode, selector: str | None) -> Extracted:
    """Texts of the elements that match, in the order of the page.

    Raises:
        InputError: the selector cannot be used.
    """
    del mode
    told = checked(selector or "")
    tree = parsed(source.text)
    try:
        # An element that two selectors of a list match comes twice.
        found = list({node.mem_id: node for node in tree.css(told)}.values())
    except (SelectolaxError, ValueError) as error:
        raise InputError("the selector is not one", hint=_HINT) from error
    url, title = base_of(tree, source.url), title_of(tree)
    texts: list[str] = []
    size = 0
    for node in found[:MOST_MATCHES]:
        text = _text(node, url)
        size += len(text)
        if size > MOST_CHARACTERS:
            break
        texts.append(text)
    return Extracted(
        "\n\n".join(filter(None, texts)), title, tuple(texts), notes=_notes(found, texts)
    )


def checked(selector: str) -> str:
    """A selector that is short and not nested too deeply.

    Raises:
        InputError: it is neither.
    """
    told = selector.strip()
    if not told:
        raise InputError("mode extract needs a selector", hint=_HINT)
    if len(told) > MOST_SELECTOR:
        raise InputError(f"a selector has at most {MOST_SELECTOR} characters", hint=_HINT)
    if not told.isprintable():
        raise InputError("the selector is not one", hint=_HINT)
    inside: list[bool] = []
    for match in _HAS.finditer(told):
        if match[0] == ")":
            inside = inside[:-1]
        elif match[0] == "(":
            inside.append(False)
        else:
            if any(inside):
                raise InputError("a selector has no :has() inside of :has()", hint=_HINT)
            inside.append(True)
    return told


def _text(node: LexborNode, url: str) -> str:
    inner = node.tag not in _PLAIN and any(each.mem_id != node.mem_id for each in node.css(_SHAPED))
    if inner or node.tag in _LISTS:
        # Rendering changes what it renders, and others that match may be inside.
        return without(rendered(node.clone(), "clean", url))[0]
    text = node.text(separator="")
    kept = text.strip("\n") if node.tag in _PLAIN else " ".join(text.split())
    return without(kept)[0]


def _notes(found: list[LexborNode], texts: list[str]) -> tuple[str, ...]:
    if not found:
        return ("nothing on the page matches the selector",)
    if len(texts) < len(found):
        return (f"the first {len(texts)} of {len(found)} elements that match",)
    return ()
