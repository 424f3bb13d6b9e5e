"""What the style sheets inside a page say of its elements, as far as that may hide text.

A sheet that is linked is not fetched. Selectors that depend on what a reader does are left out, and
so are rules for paper and for narrow windows: what is hidden there alone is seen elsewhere.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

from cloxy_plugins.web.sanitize_blocks import blocks, split
from cloxy_plugins.web.sanitize_styles import declarations, hides, plain

_TELLING: Final = re.compile(
    r"\b(?:display|visibility|opacity|content-visibility|font|text-indent|transform|translate|scale"
    r"|zoom|filter|inset|left|top|right|bottom|margin|clip|height|width|overflow|position"
    r"|text-fill-color)\b"
)
_MOVING: Final = re.compile(
    r"::|:(?:hover|focus|active|target|checked|visited|before|after|first-l|placeholder|popover-open)"
)
_DEAR: Final = re.compile(r":(?:nth|last|only|has|empty)|[~]|(?:[ >+]+[^ >+]+){5}")
"""Selectors whose time grows with the square of what they are looked for in."""
_NAMED: Final = re.compile(r"([.#])((?:[\w-]|[^\x00-\x7f])+)")
_INSIDE: Final = re.compile(r"\([^()]*\)|\[[^\]]*\]")
_TYPE: Final = re.compile(r"(?:^|[\s>+~])[a-z]")
_CLASSLIKE: Final = re.compile(r"\.|\[|(?<!:):(?!:)")
_SHOWN_LATER: Final = ("animation", "animation-name", "transition", "transition-property")
_SIZES: Final = frozenset({"font", "font-size"})
_MOST_SHEETS: Final = 200_000
"""Characters of style sheets that are read."""
_MOST_LOOKS: Final = 4_000_000
"""Elements that are looked at, each once for every selector."""
_MOST_FOUND: Final = 100_000
"""Elements that selectors find, all together."""
_FEW: Final = 1_500
_MOST_DEAR: Final = 20
_LEAST_SELECTORS: Final = 60
_MOST_SELECTORS: Final = 2_000
"""Selectors that are looked for, of those whose names are in the page at all."""

Weight = tuple[bool, int, int, int, int]


@dataclass(frozen=True, slots=True)
class _Rule:
    selector: str
    body: str
    values: Mapping[str, str]
    order: int

    @property
    def weight(self) -> tuple[int, int, int]:
        return (
            self.selector.count("#"),
            len(_CLASSLIKE.findall(self.selector)),
            len(_TYPE.findall(self.selector)),
        )


def told(tree: LexborHTMLParser) -> Mapping[int, Mapping[str, str]]:
    """What sheets say of elements that one of their rules may hide, by `mem_id`.

    Args:
        tree: the page, with its `style` elements.
    """
    sheets = "\n".join(node.text() for node in tree.css("style"))[:_MOST_SHEETS]
    if not sheets:
        return {}
    known, elements = _names(tree)
    most = max(_LEAST_SELECTORS, min(_MOST_SELECTORS, _MOST_LOOKS // max(elements, 1)))
    rules = [rule for rule in _rules(plain(sheets)) if _is_there(rule.selector, known)]
    dear = [rule.order for rule in rules if _DEAR.search(rule.selector)]
    left_out = set(dear if elements > _FEW else dear[_MOST_DEAR:])
    rules = [rule for rule in rules if rule.order not in left_out]
    hiding = [rule for rule in rules if _may_hide(rule.values)][:most]
    if not hiding:
        return {}
    taken = {rule.order for rule in hiding}
    others = [rule for rule in rules if rule.order not in taken][:most]
    found: defaultdict[int, list[tuple[Weight, str, str]]] = defaultdict(list)
    above_sized: set[int] = set()
    left = _MOST_FOUND
    for rule in [*hiding, *others]:
        urgent = declarations(rule.body, only_important=True)
        nodes = _matching(tree, rule.selector)
        if rule.order not in taken and not _SIZES.isdisjoint(rule.values):
            _add_above(nodes, above_sized)
        left -= len(nodes)
        if left < 0 and rule is not hiding[0]:
            break
        for node in (each.mem_id for each in nodes):
            if rule.order in taken or node in found:
                found[node] += [
                    ((name in urgent, *rule.weight, rule.order), name, value)
                    for name, value in rule.values.items()
                ]
    return {node: _merged(each, node in above_sized) for node, each in found.items()}


def _may_hide(values: Mapping[str, str]) -> bool:
    """Whether a rule hides, by itself or together with others."""
    return hides({**values, "position": "absolute"}) or hides({**values, "overflow": "hidden"})


def _add_above(nodes: Iterable[LexborNode], above: set[int]) -> None:
    for node in nodes:
        parent = node.parent
        while parent is not None and parent.mem_id not in above:
            above.add(parent.mem_id)
            parent = parent.parent


def _merged(each: list[tuple[Weight, str, str]], holds_sized: bool) -> Mapping[str, str]:
    """What holds in the end of all that is said of an element.

    Args:
        each: weights, properties and values.
        holds_sized: whether something in it has a size of its own: then a size of nothing only
            takes out the space between.
    """
    style = {name: value for _weight, name, value in sorted(each)}
    if holds_sized:
        style = {name: value for name, value in style.items() if name not in _SIZES}
    if any(name in style for name in _SHOWN_LATER):
        # Faded in by a script, or by itself.
        style.pop("opacity", None)
    return style


def _names(tree: LexborHTMLParser) -> tuple[frozenset[str], int]:
    """Classes and ids of a page, as selectors write them, and how many elements it has."""
    found: set[str] = set()
    nodes = tree.css("*")
    for node in nodes:
        given = node.attributes
        found.update(f".{name}" for name in (given.get("class") or "").lower().split())
        found.add(f"#{(given.get('id') or '').strip().lower()}")
    return frozenset(found), len(nodes)


def _is_there(selector: str, known: frozenset[str]) -> bool:
    outside = _INSIDE.sub("", selector)
    return all(f"{mark}{name}" in known for mark, name in _NAMED.findall(outside))


def _matching(tree: LexborHTMLParser, selector: str) -> list[LexborNode]:
    try:
        return tree.css(selector)
    except Exception:  # whatever is no selector for the parser matches nothing
        return []


def _rules(sheets: str) -> Iterator[_Rule]:
    """Rules that tell of what may hide, one for each selector."""
    order = 0
    for selectors, body in blocks(sheets):
        if not _TELLING.search(body):
            continue
        values = declarations(body)
        for selector in split(selectors):
            if selector and not _MOVING.search(selector):
                yield _Rule(selector, body, values, order)
                order += 1
