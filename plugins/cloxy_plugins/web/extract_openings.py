"""What stands before the text in a part of a page that is already chosen."""

import re
from typing import Final

from selectolax.lexbor import LexborNode

from cloxy_plugins.web.trees import Amount, amounts, attributes, remove

_BOXES: Final = frozenset({"div", "section", "article", "aside", "figure", "center", "nav"})
_ABOVE: Final = frozenset({*_BOXES, "p", "ul", "ol", "header", "table", "small", "a", "label"})
_TITLED: Final = ("h1", "h2,h3", "div,p,td,center,b,strong,font")
_CONTENT: Final = "h1,h2,h3,h4,h5,h6,pre,th,tr + tr,blockquote,figure,dl,article,details"
_SHORT: Final = 300
_LINE: Final = 60
_PROSE: Final = 0.5
_BEFORE: Final = 0.15
_TITLE_SHARE: Final = 0.45
_TITLE_LEAST: Final = 6
_MOST_TITLES: Final = 200
_POST: Final = re.compile(r"(\D*)\d{2,}")
_THREAD: Final = 3
_NEAR: Final = 24


def without_before_title(region: LexborNode, title: str) -> None:
    """Take out short boxes that come before the title of a page.

    Args:
        region: a part of a page; it is changed.
        title: of the page.
    """
    sizes = amounts(region)
    heading = _heading(region, title, sizes)
    if heading is None:
        return
    whole = sizes[region.mem_id].characters
    before: list[LexborNode] = []
    node: LexborNode | None = heading
    while node is not None and node.mem_id != region.mem_id:
        earlier = node.prev
        while earlier is not None:
            before.append(earlier)
            earlier = earlier.prev
        node = node.parent
    elements = [each for each in before if each.is_element_node]
    size = sum(sizes.get(each.mem_id, Amount()).characters for each in elements)
    if size > max(_SHORT, _BEFORE * whole) or size > (1 - _PROSE) * whole:
        return
    remove([each for each in elements if _is_of_site(each, sizes)])


def _is_of_site(node: LexborNode, sizes: dict[int, Amount]) -> bool:
    amount = sizes.get(node.mem_id, Amount())
    return (
        node.tag in _ABOVE and 0 < amount.characters < _SHORT and node.css_first(_CONTENT) is None
    )


def _heading(region: LexborNode, title: str, sizes: dict[int, Amount]) -> LexborNode | None:
    """What names the page: its only `h1`, or what says nearly the same as its title."""
    firsts = region.css("h1")
    if len(firsts) == 1:
        return firsts[0]
    for selector in _TITLED:
        for node in region.css(selector)[:_MOST_TITLES]:
            amount = sizes.get(node.mem_id, Amount())
            if 0 < amount.characters <= len(title) and says_title(node, title):
                return node
    return None


def says_title(node: LexborNode, title: str) -> bool:
    """Whether the text of an element is most of what a page is titled."""
    text = " ".join(node.text(separator=" ").split()).casefold()
    told = title.casefold()
    enough = len(text) >= max(_TITLE_LEAST, _TITLE_SHARE * len(told))
    return enough and len(text) <= len(told) and text in told


def without_preface(region: LexborNode) -> None:
    """Take out short boxes between the title of a thread and its first post.

    Posts are neighbours of one kind, each with a number of its own.
    """
    first = next((each for each in region.css("[id]") if _is_first_post(each)), None)
    before: list[LexborNode] = []
    node = first
    while node is not None and node.mem_id != region.mem_id:
        earlier = node.prev
        while earlier is not None:
            if earlier.tag in _BOXES and _is_preface(earlier):
                before.append(earlier)
            earlier = earlier.prev
        node = node.parent
    remove(before)


def _is_preface(node: LexborNode) -> bool:
    return len(node.text()) < _SHORT and node.css_first(f"{_CONTENT},p,li,img") is None


def _is_first_post(node: LexborNode) -> bool:
    kind = _kind_of_post(node)
    count, after = 1, node.next
    for _ in range(_NEAR):
        if kind is None or after is None or count >= _THREAD:
            break
        count += _kind_of_post(after) == kind
        after = after.next
    return kind is not None and count >= _THREAD


def _kind_of_post(node: LexborNode) -> tuple[str, str, str] | None:
    if not node.is_element_node:
        return None
    given = attributes(node)
    number = _POST.fullmatch(given.get("id", "")[:_LINE])
    names = given.get("class", "").split()
    return (node.tag or "", names[0], number[1]) if number and names else None
