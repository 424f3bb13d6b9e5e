"""Boxes in a chosen part of a page that lead elsewhere, or close it: told by shape."""

import re
from typing import Final, Literal

from selectolax.lexbor import LexborNode

from cloxy_plugins.web.trees import Amount, amounts, attributes, outermost, remove, walk

_BOXES: Final = frozenset({"div", "section", "article", "aside", "figure", "center", "nav"})
_OWN: Final = "h1,h2,pre,table,blockquote,code,dl,img,picture,figure,details"
_SHORT: Final = 300
_LINE: Final = 60
_ENOUGH: Final = 600
_PROSE: Final = 0.5
_MOST_TITLES: Final = 200
_LINKED: Final = 0.95
_SEPARATORS: Final = re.compile(r"[\s|·•/›»«‹—–\-,&]*")
_SENTENCE: Final = re.compile(r"[.!?:;…。！？؟।][\"'”’»)\]]*$")
_STEPS: Final[tuple[Literal["prev", "next"], ...]] = ("prev", "next")
_BELOW: Final = "h2,h3,h4,h5,h6"
_OWN_OF_PAGES: Final = "pre,table,blockquote,dl"
_TEASERS: Final = 0.25
_FEW: Final = 2
_DEEPEST: Final = 12
_START: Final = 16
_MOST_ELEMENTS: Final = 150
_MOST_CLOSING: Final = 20


def without_boxes(region: LexborNode, title: str) -> None:
    """Take out boxes that lead elsewhere, and what closes a part that is mainly paragraphs."""
    sizes = amounts(region)
    whole = sizes[region.mem_id].characters
    prose = sum(sizes[each.mem_id].characters for each in region.css("p") if each.mem_id in sizes)
    is_prose = prose >= _PROSE * whole
    found: list[LexborNode] = []
    known: set[int] = set()
    for node in walk(region, lambda node: node.mem_id not in known and node.tag != "pre"):
        if node.is_element_node and _leads_elsewhere(node, sizes, is_prose=is_prose):
            known.add(node.mem_id)
            found.append(node)
    remove(found)
    if is_prose:
        _without_teasers(region, title)
        remove([each for each in region.css("p > a") if _is_pressed(each)])
    _without_call(region)
    if is_prose and whole >= _ENOUGH:
        _close(region)


def _leads_elsewhere(node: LexborNode, sizes: dict[int, Amount], *, is_prose: bool) -> bool:
    """A row of links alone, or in prose a box that is one link."""
    amount = sizes.get(node.mem_id, Amount())
    if node.tag not in _BOXES or not 0 < amount.characters < _SHORT or not amount.linked:
        return False
    if amount.elements > _MOST_ELEMENTS:
        return False
    if node.css_first(_OWN) is not None or has_twin(node):
        return False
    if amount.link_share >= _LINKED and len(node.css("a")) > 1:
        return amount.linked / len(node.css("a")) < _LINE
    if is_prose and amount.link_share >= _LINKED and _is_framed(node):
        return True
    return amount.link_share > _PROSE and len(node.css("a")) > 1 and _is_separated(node)


def _without_teasers(region: LexborNode, title: str) -> None:
    """Take out boxes in which each heading leads to another page, unless the page has many."""
    sizes = amounts(region)
    whole = sizes[region.mem_id].characters
    found: dict[int, LexborNode] = {}
    for heading in region.css(_BELOW)[1:_MOST_TITLES]:
        if not _leads(heading):
            continue
        box = heading.parent
        while box is not None and box.tag not in {*_BOXES, "li"}:
            box = box.parent
        amount = sizes.get(box.mem_id) if box is not None else None
        if box is None or amount is None or box.mem_id == region.mem_id:
            continue
        if amount.characters > _TEASERS * whole or amount.elements > _MOST_ELEMENTS:
            return
        if not _is_teaser(box, title):
            return  # posts of a thread have titles that are links, too
        found[box.mem_id] = box
    size = sum(sizes[mem_id].characters for mem_id in found)
    if size <= _TEASERS * whole:
        remove(outermost(list(found.values())))


def _is_teaser(box: LexborNode, title: str) -> bool:
    headings = box.css(_BELOW)
    start = title[:_START].casefold()
    return (
        box.css_first(f"{_OWN_OF_PAGES},h1") is None
        and all(map(_leads, headings))
        and not any(start in each.text().casefold() for each in headings)
    )


def _leads(heading: LexborNode) -> bool:
    """Whether a heading is a link to another page, and nothing else."""
    link = heading.css_first("a[href]") or _around(heading)
    if link is None or not (link.attributes.get("href") or "#").strip("#"):
        return False
    if (link.attributes.get("href") or "").startswith("#"):
        return False
    return heading.text().strip() in link.text() and bool(heading.text().strip())


def _around(node: LexborNode) -> LexborNode | None:
    above = node.parent
    return above if above is not None and above.tag == "a" else None


def _is_pressed(link: LexborNode) -> bool:
    """Whether a paragraph is one short link, and nothing was said to come."""
    above = link.parent
    if _near(link, "prev") is not None or _near(link, "next") is not None:
        return False
    text = link.text().strip()
    if above is None or above.text().strip() != text or not 0 < len(text) < _LINE:
        return False
    if _SENTENCE.search(text) or (link.attributes.get("href") or "#").startswith("#"):
        return False
    if link.css_first("img,code") is not None or has_twin(above):
        return False
    before = _near(above, "prev")
    return before is not None and before.tag == "p" and not before.text().strip().endswith(":")


def _without_call(region: LexborNode) -> None:
    """Take off the end a box with one title, a few words and something to press."""
    node = region
    for _ in range(_DEEPEST):
        last = _last(node)
        if last is None or last.tag not in _BOXES:
            return
        if _is_call(last):
            last.decompose()
            return
        node = last


def _is_call(node: LexborNode) -> bool:
    if len(node.text()) >= _SHORT or has_twin(node) or node.css_first(f"{_OWN_OF_PAGES},h1,li"):
        return False
    if len(node.css(_BELOW)) != 1 or len(node.css("p")) > _FEW:
        return False
    links = node.css("a")
    if not 0 < len(links) <= _FEW or _is_in_a_list(node):
        return False
    return all(_stands_alone(link) for link in links)


def _stands_alone(link: LexborNode) -> bool:
    text = link.text().strip()
    above = link.parent
    return (
        0 < len(text) < _LINE
        and above is not None
        and above.tag not in {"p", "li", "dd", "h2", "h3", "h4"}
        and not _SENTENCE.search(text)
    )


def _is_in_a_list(node: LexborNode) -> bool:
    """Whether the boxes before are built alike inside."""
    before = _near(node, "prev")
    return (
        before is not None
        and before.tag == node.tag
        and len(before.text()) < _SHORT
        and (len(before.css(_BELOW)) == 1 and before.css_first("a") is not None)
    )


def _is_framed(node: LexborNode) -> bool:
    """A link around boxes: a card for another page."""
    link = node.css_first("a")
    return link is not None and len(link.css("div,p,h3,h4,span")) > 1


def _is_separated(node: LexborNode) -> bool:
    """Whether nothing but signs stands between the links."""
    inside = walk(node, lambda each: each.tag != "a")
    pieces = [each.text_content or "" for each in inside if each.is_text_node]
    return _SEPARATORS.fullmatch("".join(pieces)) is not None


def has_twin(node: LexborNode) -> bool:
    """Whether a neighbour is of the same kind: entries of a list are."""
    own = (node.tag, attributes(node).get("class", ""))
    for step in _STEPS:
        near = _near(node, step)
        if near is not None and (near.tag, attributes(near).get("class", "")) == own:
            return True
    return False


def _near(node: LexborNode, step: Literal["prev", "next"]) -> LexborNode | None:
    """The next element on one side."""
    near: LexborNode | None = getattr(node, step)
    while near is not None and not near.is_element_node:
        near = getattr(near, step)
    return near


def _close(region: LexborNode) -> None:
    """Take short boxes without a sentence off the end."""
    node = region
    for _ in range(_DEEPEST):
        last = _last(node)
        for _ in range(_MOST_CLOSING):
            if last is None or not _is_closing(last):
                break
            last.decompose()
            last = _last(node)
        if last is None or last.tag not in _BOXES:
            return
        node = last


def _last(node: LexborNode) -> LexborNode | None:
    child = node.last_child
    while child is not None and not (child.is_element_node and child.text().strip()):
        if child.is_text_node and (child.text_content or "").strip():
            return None
        child = child.prev
    return child


def _is_closing(node: LexborNode) -> bool:
    if node.tag not in _BOXES or len(node.text()) >= _SHORT:
        return False
    if node.css_first(f"{_OWN},li") is not None or has_twin(node):
        return False
    pieces = [" ".join(each.split()) for each in node.text(separator="\n").splitlines()]
    return not any(len(piece) >= _LINE or _SENTENCE.search(piece) for piece in pieces if piece)
