"""Takes out of a page what acts and what nobody sees: both are ways to talk past the reader."""

import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

from cloxy_hookspecs import PageSource, Sanitized
from cloxy_plugins.web import sanitize_sheets
from cloxy_plugins.web.sanitize_styles import background, colour, declarations, hides, is_near
from cloxy_plugins.web.trees import attributes, parsed, remove, walk

_ACTIVE: Final = {
    "applet": "embedded",
    "embed": "embedded",
    "frame": "embedded",
    "iframe": "embedded",
    "noembed": "embedded",
    "noframes": "embedded",
    "object": "embedded",
    # What old browsers show instead of them.
    "audio": "fallback",
    "canvas": "fallback",
    "datalist": "fallback",
    "meter": "fallback",
    "progress": "fallback",
    "video": "fallback",
    "annotation": "annotation",
    "annotation-xml": "annotation",
    "script": "script",
    "style": "style",
    "template": "template",
}
_DATA_TYPES: Final = frozenset({"application/json", "application/ld+json"})
_ASSIGNED: Final = re.compile(
    r"\s*(?:(?:var|let|const)\s+)?[\w.$]{1,80}(?:\[[\"'][\w-]{1,80}[\"']\])?\s*=\s*([{\[].*[}\]])\s*;?\s*",
    re.DOTALL,
)
_ADDRESSES: Final = ("action", "formaction", "href", "src", "xlink:href")
_ACTING: Final = re.compile(r"\s*(?:javascript|vbscript|data\s*:\s*text/html)", re.IGNORECASE)
_CLASSES: Final = re.compile(
    r"(?:^|\s)(?:sr-only|visually-?hidden|screen-reader-text|screenreader|offscreen|a11y-hidden)(?:\s|$)",
    re.IGNORECASE,
)
_BLOCKS: Final = "p,pre,table,ul,ol,h1,h2,h3,h4,blockquote"
_TABS: Final = re.compile(r"\btab(?:s|panel|-pane|-panel|-content|item|__\w+)?\b", re.IGNORECASE)
_WANTS_SCRIPTS: Final = re.compile(r"java\s?script|scripts?\b", re.IGNORECASE)
_ID: Final = re.compile(r"[\w:.-]{1,100}")
_DECORATION: Final = 200
_GENERATIONS: Final = 20


def without_unseen(source: PageSource) -> Sanitized:
    """A page without scripts, handlers, styles, comments, frames and hidden elements."""
    tree = parsed(source.text)
    if tree.root is None:
        return Sanitized(source)
    look = _Look(tree)
    unwanted: list[LexborNode] = []
    known: set[int] = set()

    def enters(node: LexborNode) -> bool:
        return node.mem_id not in known

    for node in walk(tree.root, enters):
        kind = look.verdict(node)
        if kind is not None:
            known.add(node.mem_id)
            unwanted.append(node)
            look.removed[kind] += 1
    remove(unwanted)
    return Sanitized(replace(source, text=tree.html or ""), look.removed)


class _Look:
    """Verdicts on the nodes of one page, and what was found."""

    def __init__(self, tree: LexborHTMLParser) -> None:
        self.removed: Counter[str] = Counter()
        self._tree = tree
        # Without styles of its own a page is black on white.
        self._sheets = sanitize_sheets.told(tree)
        self._plain = tree.css_first("style,link[rel~=stylesheet]") is None

    def verdict(self, node: LexborNode) -> str | None:
        """Why a node goes, or None when it stays; handlers are taken off it then."""
        if node.is_comment_node:
            return "comment"
        if not node.is_element_node:
            return None
        tag = node.tag or ""
        given = attributes(node)
        kind = self._active(node, tag, given)
        known = given or tag == "dialog" or node.mem_id in self._sheets
        if kind is not None or not known:
            return kind
        if tag not in {"html", "body"} and self._is_hidden(node, tag, given):
            if not _is_tab_of_code(node, given):
                return "hidden"
            self._show(node, given)
        self._disarm(node, given)
        return None

    def _active(self, node: LexborNode, tag: str, given: Mapping[str, str]) -> str | None:
        if tag == "script":
            return None if _is_data(node, given) else "script"
        if tag == "meta" and given.get("http-equiv", "").strip().lower() == "refresh":
            return "refresh"
        if tag == "noscript":
            # Kept only where it says that nothing works without scripts.
            return None if _WANTS_SCRIPTS.search(node.text()[:1_000]) else "noscript"
        return _ACTIVE.get(tag)

    def _is_hidden(self, node: LexborNode, tag: str, given: Mapping[str, str]) -> bool:
        if given.get("hidden", "until-found").strip().lower() != "until-found":
            return True
        if tag == "dialog" and "open" not in given:
            return True
        if given.get("aria-hidden") == "true" and _is_decoration(node):
            return True
        if _CLASSES.search(given.get("class", "")):
            return True
        style = declarations(given["style"]) if "style" in given else {}
        if "popover" in given or hides({**self._sheets.get(node.mem_id, {}), **style}):
            return True
        told = style.get("color") or (given.get("color") if tag == "font" else None)
        return bool(told) and self._is_same(node, colour(told or ""), style)

    def _is_same(self, node: LexborNode, text: str | None, style: Mapping[str, str]) -> bool:
        """Whether text has the colour of what is behind it, as far as that is told."""
        if text == "transparent":
            return style.get("background-clip", style.get("-webkit-background-clip")) != "text"
        behind = background(style)
        above = node.parent
        for _ in range(_GENERATIONS):
            if behind not in {None, "transparent"} or above is None or not above.is_element_node:
                break
            given = attributes(above)
            behind = background(declarations(given.get("style", "")))
            if behind is None and "bgcolor" in given:
                behind = colour(given["bgcolor"])
            above = above.parent
        if behind in {None, "transparent"}:
            behind = "ffffff" if self._plain else None
        return is_near(text, behind)

    def _show(self, node: LexborNode, given: Mapping[str, str]) -> None:
        """A tab that was not chosen is hidden from nobody; its name is put on it."""
        for name in ("hidden", "style", "aria-hidden"):
            if name in node.attrs:
                del node.attrs[name]
        label = given.get("aria-labelledby", "")
        tab = self._tree.css_first(f'[id="{label}"]') if _ID.fullmatch(label) else None
        name = " ".join(tab.text(separator=" ").split())[:80] if tab is not None else ""
        node.attrs["data-hidden-tab"] = name

    def _disarm(self, node: LexborNode, given: Mapping[str, str]) -> None:
        for name, value in given.items():
            if name.startswith("on"):
                del node.attrs[name]
                self.removed["event_handler"] += 1
            elif name == "title":
                del node.attrs[name]
                self.removed["title"] += 1
            elif name in _ADDRESSES and _ACTING.match(value):
                del node.attrs[name]
                self.removed["script_address"] += 1


def _is_data(node: LexborNode, given: Mapping[str, str]) -> bool:
    """Whether a script holds data and runs nothing; an assignment of data is made into that."""
    if given.get("type", "").strip().lower() in _DATA_TYPES:
        return True
    found = _ASSIGNED.fullmatch(node.text()) if node.text() else None
    if found is None:
        return False
    try:
        json.loads(found[1])
    except (ValueError, RecursionError):
        return False
    node.attrs["type"] = "application/json"
    node.inner_html = found[1].replace("</", "<\\/")
    return True


def _is_decoration(node: LexborNode) -> bool:
    """Screen readers skip it; eyes do not, so only what carries no text of its own goes."""
    return node.css_first(_BLOCKS) is None and len(node.text()) <= _DECORATION


def _is_tab_of_code(node: LexborNode, given: Mapping[str, str]) -> bool:
    is_tab = given.get("role") == "tabpanel" or _TABS.search(given.get("class", "")) is not None
    return is_tab and node.css_first("pre") is not None
