"""What is around the text of pages that call nothing by a name: told by its shape alone."""

import itertools
import re
from collections import defaultdict
from typing import Final

from selectolax.lexbor import LexborNode

from cloxy_plugins.web.trees import Amount, amounts, attributes, outermost, remove, walk

_LARGE: Final = frozenset({"5", "6", "7"})
"""Sizes of titles of the time before style sheets."""
_CONTENT: Final = "p,pre,blockquote,h1,h2,h3,h4,h5,h6,li,dd,th,article"
_LEAVES: Final = frozenset({"div", "td", "span", "small", "font", "em", "i"})
_FLOWING: Final = frozenset({"p", "li", "dd", "dt", "pre", "code", "th", "h1", "h2", "h3", "h4"})
_DIGITS: Final = re.compile(r"\d+")
_BOXES: Final = frozenset({"div", "table", "tr", "fieldset", "section", "center", "small"})
_OWN_TEXT: Final = "h1,pre,blockquote,article"
_TITLES: Final = "h2,h3,h4,th"
_THREAD: Final = 3
"""Posts that make a thread."""
_SHORT: Final = 300
_WORDS: Final = 4
_KEPT_SHARE: Final = 0.6
_DIRECT_SHARE: Final = 0.2
_DEEPEST: Final = 40
_BEGINNING: Final = 4


def without_closing(body: LexborNode) -> None:
    """Take out what closes the page behind the last post of a thread.

    A page is a thread where short texts differ by their numbers alone: at each post stands who
    wrote it, and how many. So this comes before any of that is taken out.
    """
    threads = [nodes for nodes in _repeated(body) if len(nodes) >= _THREAD]
    remove(outermost([node for nodes in threads for node in _behind_posts(nodes, body)]))


def without_repeated(body: LexborNode) -> None:
    """Take out short texts that differ by their numbers alone: who wrote a post, and how many."""
    remove(outermost([node for nodes in _repeated(body) for node in nodes]))


def _repeated(body: LexborNode) -> list[list[LexborNode]]:
    found: defaultdict[str, list[LexborNode]] = defaultdict(list)
    for node in walk(body, lambda node: node.tag not in _FLOWING):
        if node.tag in _LEAVES and _is_leaf(node):
            text = " ".join(node.text(separator=" ").split())
            if len(text) <= _SHORT and _DIGITS.search(text) and text.count(" ") >= _WORDS - 1:
                found[_DIGITS.sub("0", text)].append(node)
    return [
        nodes
        for nodes in found.values()
        if len(nodes) > 1 and not any(_is_of_data(node) for node in nodes)
    ]


def _behind_posts(told: list[LexborNode], body: LexborNode) -> list[LexborNode]:
    """Short boxes behind the last post of a thread.

    Args:
        told: what stands at each post, in order of the page.
        body: the part of the page they are in.
    """
    lines = [_line(node, body) for node in told]
    depth = 0
    while all(len(line) > depth + 1 for line in lines) and (
        len({line[depth].mem_id for line in lines}) == 1
    ):
        depth += 1
    posts = _elements(lines[0][depth - 1] if depth else body)
    # A post may be several elements: the last one has as many as the longest before it.
    places = {node.mem_id: place for place, node in enumerate(posts)}
    starts = sorted({places[line[depth].mem_id] for line in lines if line[depth].mem_id in places})
    if len(starts) < _THREAD:
        return []
    end = starts[-1] + max(after - before for before, after in itertools.pairwise(starts))
    # Somebody may have written the last post of whom nothing is told.
    names = {_name(posts[start]) for start in starts}
    found = [node for node in posts[end:] if _closes(node) and _name(node) not in names]
    for above in lines[0][:depth]:
        after = above.next
        while after is not None:
            if after.is_element_node and _closes(after):
                found.append(after)
            after = after.next
    return found


def _line(node: LexborNode, body: LexborNode) -> list[LexborNode]:
    """What a node is in, from below the body down to the node itself."""
    line = [node]
    above = node.parent
    while above is not None and above.mem_id != body.mem_id:
        line.append(above)
        above = above.parent
    return line[::-1]


def _closes(node: LexborNode) -> bool:
    """Whether an element is a box with a few words, and no text of the page itself."""
    if node.tag not in _BOXES or node.css_first(_OWN_TEXT) is not None:
        return False
    # A box has one title; a table has a heading for each column.
    return len(node.css(_TITLES)) <= 1 and len(node.text()) < _SHORT


def narrowed(body: LexborNode, title: str) -> LexborNode:
    """The part of a page that is left when what has no paragraph is taken off its ends.

    Args:
        body: a part of a page; it is changed.
        title: of the page; what says the same is no furniture.
    """
    region = body
    for _ in range(_DEEPEST):
        sizes = amounts(region)
        children = [
            each for each in _elements(region) if sizes.get(each.mem_id, Amount()).characters
        ]
        inside = sum(sizes[each.mem_id].characters for each in children)
        whole = sizes[region.mem_id].characters
        if whole - inside > _DIRECT_SHARE * whole:
            return region
        around = _ends(children, sizes, title)
        if sum(sizes[each.mem_id].characters for each in around) > (1 - _KEPT_SHARE) * whole:
            return region
        left = [each for each in children if each not in around]
        remove(around)
        if len(left) != 1 or left[0].tag in _FLOWING or left[0].tag in {"ul", "ol", "dl"}:
            return region
        region = left[0]
    return region


def _ends(children: list[LexborNode], sizes: dict[int, Amount], title: str) -> list[LexborNode]:
    shapes = {_shape(each) for each in children if each.css_first(_CONTENT) is not None}
    if not shapes:
        return []

    def is_around(node: LexborNode) -> bool:
        if node.css_first(_CONTENT) is not None or _shape(node) in shapes:
            return False
        text = " ".join(node.text(separator=" ").split())
        return sizes[node.mem_id].characters < _SHORT and not (text and text in title)

    before = list(itertools.takewhile(is_around, children))
    if before and _is_large(before[-1]):
        before.pop()  # the title of what follows
    return [*before, *itertools.takewhile(is_around, reversed(children))]


def _is_large(node: LexborNode) -> bool:
    return node.tag == "font" and attributes(node).get("size") in _LARGE


def _shape(node: LexborNode) -> tuple[tuple[str, str], ...]:
    """How an element begins: posts of a thread begin alike, whatever is in them."""
    own = _name(node)
    if not own[1]:
        # Cells and blocks without a name are of no one shape.
        return ((own[0], str(node.mem_id)),)
    below = walk(node, _is_frame)
    first = itertools.islice(filter(_is_frame, below), _BEGINNING)
    return (own, *(_name(each) for each in first))


def _is_frame(node: LexborNode) -> bool:
    """Whether an element holds others and is no text by itself."""
    return node.is_element_node and node.tag not in _FLOWING


def _name(node: LexborNode) -> tuple[str, str]:
    return (node.tag or "", attributes(node).get("class", ""))


def _elements(node: LexborNode) -> list[LexborNode]:
    found: list[LexborNode] = []
    child = node.first_child
    while child is not None:
        if child.is_element_node:
            found.append(child)
        child = child.next
    return found


def _is_leaf(node: LexborNode) -> bool:
    return all(each.tag in {"a", "b", "strong", "br", "i", "em"} for each in _elements(node))


def _is_of_data(node: LexborNode) -> bool:
    """Whether a text is in a table with headings: rows of data may well be alike."""
    above: LexborNode | None = node
    while above is not None and above.tag != "table":
        above = above.parent
    return above is not None and above.css_first("th") is not None
