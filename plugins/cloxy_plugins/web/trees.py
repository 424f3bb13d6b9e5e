"""Walking a parsed page without recursion: how deep it goes is decided by who wrote it."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

_UNSEEN: Final = frozenset(
    {"script", "style", "template", "noscript", "head", "title", "svg", "math", "option"}
)

_DOCTYPE: Final = re.compile("<!doctype", re.IGNORECASE)
_DECLARED: Final = re.compile(r".{9}\s[^<>\[\]]{0,500}(\[[^\]]{0,20000}\])\s{0,20}>", re.DOTALL)


@dataclass(slots=True)
class Amount:
    """Text of an element and all that is in it.

    Attributes:
        characters: without spaces at the ends of its pieces.
        linked: of these, in links.
        elements: below it.
    """

    characters: int = 0
    linked: int = 0
    elements: int = 0

    @property
    def link_share(self) -> float:
        """From 0, no links, to 1, nothing else."""
        return self.linked / self.characters if self.characters else 0.0


def parsed(html: str) -> LexborHTMLParser:
    """The tree of a page; what its document type declares is no part of it."""
    first = _DOCTYPE.search(html)
    declared = _DECLARED.match(html, first.start()) if first else None
    if declared is not None:
        html = html[: declared.start(1)] + html[declared.end(1) :]
    return LexborHTMLParser(html)


def walk(root: LexborNode, enters: Callable[[LexborNode], bool]) -> Iterator[LexborNode]:
    """Every node below a root, parents first; texts and comments too.

    Args:
        root: where to begin; not among what is yielded.
        enters: asked for each node after it was yielded: whether to go into it.
    """
    node = root.first_child
    while node is not None:
        yield node
        step = node.first_child if enters(node) else None
        while step is None and node is not None:
            step = node.next
            if step is None:
                node = node.parent
                if node is None or node.mem_id == root.mem_id:
                    return
        node = step


def remove(nodes: list[LexborNode]) -> None:
    """Take nodes out of their tree; none may be inside another."""
    for node in nodes:
        node.decompose()


def outermost(nodes: list[LexborNode]) -> list[LexborNode]:
    """Each once, and without those that are inside another."""
    known = {node.mem_id: node for node in nodes}
    return [node for node in known.values() if not _is_inside(node, known)]


def _is_inside(node: LexborNode, known: Mapping[int, LexborNode]) -> bool:
    above = node.parent
    while above is not None:
        if above.mem_id in known:
            return True
        above = above.parent
    return False


def attributes(node: LexborNode) -> Mapping[str, str]:
    """Attributes of an element; one without a value has an empty one."""
    return {name: value or "" for name, value in node.attributes.items()}


def amounts(root: LexborNode) -> dict[int, Amount]:
    """How much text each element has, by `mem_id`; what is no text of the page is left out."""
    found: dict[int, Amount] = {root.mem_id: Amount()}
    path: list[LexborNode] = [root]
    linked = 0
    node = root.first_child
    while node is not None:
        if node.is_text_node:
            length = len((node.text_content or "").strip())
            # Added to the own parent alone; sums are made on the way up.
            amount = found[path[-1].mem_id]
            amount.characters += length
            amount.linked += length if linked else 0
        elif node.is_element_node and node.tag not in _UNSEEN:
            found[node.mem_id] = Amount()
            child = node.first_child
            found[path[-1].mem_id].elements += child is None
            if child is not None:
                path.append(node)
                linked += node.tag == "a"
                node = child
                continue
        while node.next is None:
            done = path.pop()
            linked -= done.tag == "a" and done.mem_id != root.mem_id
            if not path:
                return found
            above, below = found[path[-1].mem_id], found[done.mem_id]
            above.characters += below.characters
            above.linked += below.linked
            above.elements += below.elements + 1
            node = done
        node = node.next
    return found
