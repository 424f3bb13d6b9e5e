"""Which part of a page is what its readers come for."""

import re
from collections.abc import Mapping
from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

from cloxy_plugins.web.extract_furniture import narrowed, without_closing, without_repeated
from cloxy_plugins.web.trees import Amount, amounts, attributes, remove, walk

_NEVER: Final = frozenset(
    {"button", "canvas", "dialog", "input", "menu", "nav", "noscript", "script", "select", "style"}
    | {"svg", "template", "textarea", "object", "embed", "iframe", "video", "audio"}
)
_USUALLY: Final = frozenset({"aside", "footer", "form"})
_ROLES: Final = frozenset(
    {"alertdialog", "banner", "complementary", "contentinfo", "dialog", "menu", "menubar"}
    | {"navigation", "search", "tablist", "toolbar"}
)
# Words that sites call things by that are around their text: one in its class or id is enough.
_NAMES_TEXT: Final = (
    "ad ads adsense advert advertisement announcement announcement-bar banner bottom-notice "
    "breadcrumb breadcrumbs catlinks comment-form comment-respond consent cookie cookies "
    "copy-button copyright copyright-notice cta edit-link edit-page editsection follow footer "
    "gdpr headerlink hidden-print jump-to-nav login mainmenu masthead-nav mega-menu menu "
    "menubar mobile-nav modal most-read mostread mw-editsection mw-jump-link nav navbar navbox "
    "navigation newsletter noprint page-nav pager pagination paywall popup post-footer "
    "post-menu post-meta-nav post-nav post-navigation postdetails postprofile printfooter promo "
    "recommended related related-articles related-posts relatedposts respond share "
    "share-buttons sharedaddy sharing side-bar sidebar sidenav signup site-footer skip "
    "skip-link sociable social social-share sponsor sponsored subscribe subscription "
    "table-of-contents tablist tag-list tags toc toolbar topbar topnav user-info usermenu "
    "who-is-online widget wrapfooter"
)
_NAMES: Final = frozenset(_NAMES_TEXT.split())
# Words that are enough as a part of a longer name.
_PARTS_TEXT: Final = (
    "adsense advert advertisement breadcrumb breadcrumbs consent cookie copyright footer gdpr "
    "menubar navbar newsletter pagination promo related share sharing sidebar signup sponsored "
    "subscribe toc"
)
_PARTS: Final = frozenset(_PARTS_TEXT.split())
_ADMONITION: Final = re.compile(
    r"\b(?:admonition|alert|callout|caution|hint|important|note|tip|warning)\b", re.IGNORECASE
)
_WORDS: Final = re.compile(r"[\s]+")
_SPLIT: Final = re.compile(r"[-_]+|(?<=[a-z])(?=[A-Z])")
_MAIN: Final = "main,[role=main]"
_MOST_SHARE: Final = 0.4
_LINK_LIST: Final = 0.75
_LISTS: Final = frozenset({"ul", "ol", "div", "table", "td", "section", "p"})
_SHORT: Final = 60


def main_region(tree: LexborHTMLParser, title: str = "") -> LexborNode | None:
    """Take out of a page what is around its text, and say where the text is.

    Args:
        tree: the page; it is changed.
        title: of the page.

    Returns:
        The element; None for a page without a body.
    """
    body = tree.body
    if body is None:
        return None
    if not [*body.css(_MAIN), *_single(body.css("article"))]:
        without_closing(body)
    sizes = amounts(body)
    _prune(body, sizes)
    sizes = amounts(body)
    whole = sizes[body.mem_id].characters
    found = _best([*body.css(_MAIN), *_single(body.css("article"))], sizes, whole)
    if found is None:
        without_repeated(body)
        return narrowed(body, title)
    inner = _best(_single(found.css("article")), sizes, sizes[found.mem_id].characters)
    return inner if inner is not None else found


def _single(nodes: list[LexborNode]) -> list[LexborNode]:
    """Several articles are entries of a list or posts of a thread: none of them is the page."""
    return nodes if len(nodes) == 1 else []


def _best(nodes: list[LexborNode], sizes: dict[int, Amount], whole: int) -> LexborNode | None:
    sized = [(sizes[node.mem_id].characters, node) for node in nodes if node.mem_id in sizes]
    large = [(size, node) for size, node in sized if size >= max(1.0, _MOST_SHARE * whole)]
    return max(large, key=lambda pair: pair[0])[1] if large else None


def _prune(body: LexborNode, sizes: dict[int, Amount]) -> None:
    most = _MOST_SHARE * sizes[body.mem_id].characters
    unwanted: list[LexborNode] = []
    known: set[int] = set()
    for node in walk(body, lambda node: node.mem_id not in known and node.tag != "pre"):
        if node.is_comment_node or (node.is_element_node and _is_around(node, sizes, most)):
            known.add(node.mem_id)
            unwanted.append(node)
    remove(unwanted)


def _is_around(node: LexborNode, sizes: dict[int, Amount], most: float) -> bool:
    tag = node.tag or ""
    if tag in _NEVER:
        return True
    given = attributes(node)
    amount = sizes.get(node.mem_id, Amount())
    if tag == "address" and _is_last(node):
        return amount.characters < most
    if _is_called_around(tag, given):
        return amount.characters < most and node.css_first("main,article,h1") is None
    return tag in _LISTS and _is_link_list(node, amount, most)


def _is_called_around(tag: str, given: Mapping[str, str]) -> bool:
    label = f"{given.get('class', '')} {given.get('id', '')}"
    if tag in _USUALLY or given.get("role", "").strip().lower() in _ROLES:
        return not (tag == "aside" and _ADMONITION.search(label))
    return any(
        name.lower() in _NAMES or not _PARTS.isdisjoint(map(str.lower, _SPLIT.split(name)))
        for name in _WORDS.split(label[:500])
        if name
    )


def _is_last(node: LexborNode) -> bool:
    """Whether nothing but who to write to ends the page."""
    after = node.next
    while after is not None:
        if (after.is_text_node and (after.text_content or "").strip()) or after.text().strip():
            return False
        after = after.next
    return node.parent is not None and node.parent.tag in {"body", "main", "div"}


def _is_link_list(node: LexborNode, amount: Amount, most: float) -> bool:
    """Many short links and hardly anything else."""
    if amount.link_share < _LINK_LIST or amount.characters >= most:
        return False
    links = node.css("a")
    if len(links) < 3 or node.css_first("h1,h2,h3,h4,pre") is not None:
        return False
    return amount.linked / len(links) < _SHORT
