"""A second opinion on the boxes of a part of a page that is mainly paragraphs."""

import re
from typing import Final

from readability import Document  # type: ignore[import-untyped]
from selectolax.lexbor import LexborNode

from cloxy_plugins.web.extract_boxes import has_twin
from cloxy_plugins.web.trees import Amount, amounts, parsed, remove, walk

_BOXES: Final = frozenset({"div", "section", "article", "aside", "ul", "ol", "footer", "header"})
_OWN: Final = "h1,pre,table,blockquote,code,dl,figure,details,math,a[href^='#']"
_HEADINGS: Final = "h2,h3,h4,h5,h6"
_MOST_TITLED: Final = 0.9
_LINKED: Final = 0.25
_LINE: Final = 30
_LONG: Final = 60
_SENTENCE: Final = re.compile(r"[.!?…。！？؟।][\"'”’»)\]]*$")
_PROSE: Final = 0.5
_ENOUGH: Final = 1_000
"""Characters of a text about which there is an opinion worth hearing."""
_LARGEST: Final = 50_000
_SHORT: Final = 300
_SHARE: Final = 0.15
_AGREES: Final = 0.85
_LEAST_PIECE: Final = 12
_START: Final = 50
_MOST_BOXES: Final = 1_000
_MOST_ELEMENTS: Final = 150


def without_doubtful(region: LexborNode) -> None:
    """Take out short boxes of which readability-lxml keeps nothing either.

    Args:
        region: a part of a page; it is changed.
    """
    sizes = amounts(region)
    whole = sizes[region.mem_id].characters
    prose = sum(sizes[each.mem_id].characters for each in region.css("p") if each.mem_id in sizes)
    html = region.html or ""
    if whole < _ENOUGH or prose < _PROSE * whole or len(html) > _LARGEST:
        return
    kept = _kept(html)
    if len(kept) < _AGREES * len(_squeezed(region.text())):
        return
    found: list[LexborNode] = []
    known: set[int] = set()
    looked = 0
    for node in walk(region, lambda node: node.mem_id not in known and node.tag != "pre"):
        if node.is_element_node and node.tag in _BOXES and looked < _MOST_BOXES:
            amount = sizes.get(node.mem_id, Amount())
            if amount.elements > _MOST_ELEMENTS:
                continue
            looked += 1
            if 0 < amount.characters < min(_SHORT, _SHARE * whole) and _is_doubtful(
                node, amount, kept
            ):
                known.add(node.mem_id)
                found.append(node)
    remove(found)


def _kept(html: str) -> str:
    try:
        summary = Document(f"<html><body>{html}</body></html>").summary(html_partial=True)
    except Exception:
        # It raises what its parser raises.
        return ""
    body = parsed(summary).body
    return _squeezed(body.text()) if body is not None else ""


def _is_doubtful(node: LexborNode, amount: Amount, kept: str) -> bool:
    if node.css_first(_OWN) is not None or has_twin(node):
        return False
    pieces = [_squeezed(piece) for piece in node.text(separator="\n").splitlines()]
    long = [piece[:_START] for piece in pieces if len(piece) >= _LEAST_PIECE]
    if not long or any(piece in kept for piece in long):
        return False
    return _looks_around(node, amount)


def _looks_around(node: LexborNode, amount: Amount) -> bool:
    """A title with something below it, many links, or no sentence of some length."""
    headings = node.css(_HEADINGS)
    titled = sum(len(each.text().strip()) for each in headings)
    if headings:
        return titled < _MOST_TITLED * amount.characters
    if amount.link_share > _LINKED:
        return True
    texts = (" ".join(each.split()) for each in node.text(separator="\n").splitlines())
    return not any(
        len(each) >= _LONG or (len(each) >= _LINE and _SENTENCE.search(each)) for each in texts
    )


def _squeezed(text: str) -> str:
    return "".join(text.split())
