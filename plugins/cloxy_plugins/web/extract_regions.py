"""Which part of a page is what its readers come for."""

from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

from cloxy_plugins.web.extract_boxes import without_boxes
from cloxy_plugins.web.extract_furniture import narrowed, without_closing, without_repeated
from cloxy_plugins.web.extract_names import (
    is_called_around,
    is_called_form,
    is_dressed_as_button,
    is_line_numbers,
)
from cloxy_plugins.web.extract_openings import says_title, without_before_title, without_preface
from cloxy_plugins.web.extract_opinion import without_doubtful
from cloxy_plugins.web.extract_wording import says_it_is_around
from cloxy_plugins.web.trees import Amount, amounts, attributes, remove, walk

_NEVER: Final = frozenset(
    {"button", "canvas", "dialog", "input", "menu", "nav", "noscript", "script", "select", "style"}
    | {"svg", "template", "textarea", "object", "embed", "iframe", "video", "audio"}
)
_MAIN: Final = "main,[role=main]"
_MOST_SHARE: Final = 0.4
_LINK_LIST: Final = 0.75
_LISTS: Final = frozenset({"ul", "ol", "div", "table", "td", "section", "p"})
_SHORT: Final = 60
_HEADLINE: Final = 25
"""Characters of a link that reads like the title of another page; terms are shorter."""
_TITLES: Final = frozenset({"h2", "h3", "h4", "h5", "h6"})
_HEADINGS: Final = ",".join(sorted(_TITLES))
_ANNOUNCED: Final = 400
_SHARING: Final = "amp-social-share"
_FILLED_IN: Final = "input:not([type=hidden]),select,textarea,button,label"
_ASKING: Final = "dt button,h2 button,h3 button,h4 button,h5 button,h6 button,summary button"
_NOTES: Final = "[role=doc-footnote],[role=doc-endnote],[role=doc-endnotes]"
_FEW: Final = 2
_MOST_ASKING: Final = 200
_SMALL: Final = 150
_LARGEST_BOX: Final = 1_000
_LARGEST_LIST: Final = 5_000
"""Elements below a box; each look at a larger one would cost too much on deep pages."""
_MOST_ARTICLES: Final = 50


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
    _open_questions(body)
    sizes = amounts(body)
    _prune(body, sizes, title)
    sizes = amounts(body)
    whole = sizes[body.mem_id].characters
    found = _best([*body.css(_MAIN), *_single(body.css("article"))], sizes, whole)
    if found is None:
        without_repeated(body)
        region = narrowed(body, title)
    else:
        inner = _best(_single(found.css("article")), sizes, sizes[found.mem_id].characters)
        region = inner if inner is not None else found
    without_before_title(region, title)
    without_preface(region)
    without_boxes(region, title)
    without_doubtful(region)
    _without_last_titles(region)
    return region


def _without_last_titles(region: LexborNode) -> None:
    """Take out titles at the end, below which nothing is left."""
    last: list[LexborNode] = []
    for node in walk(region, lambda node: node.tag not in _TITLES):
        if node.tag in _TITLES:
            last.append(node)
        elif node.tag == "img" or (node.is_text_node and (node.text_content or "").strip()):
            last.clear()
    remove(last)


def _single(nodes: list[LexborNode]) -> list[LexborNode]:
    """Several articles are entries of a list or posts of a thread: none of them is the page.

    Unless one has the title, and all others announce other pages in a few words.
    """
    if len(nodes) <= 1:
        return nodes
    titled = [node for node in nodes if node.css_first("h1") is not None]
    if len(titled) != 1:
        return []
    others = [node for node in nodes if node.mem_id != titled[0].mem_id]
    return titled if all(map(_announces, others)) else []


def _announces(node: LexborNode) -> bool:
    return len(node.text()) < _ANNOUNCED and node.css_first("a") is not None


def _best(nodes: list[LexborNode], sizes: dict[int, Amount], whole: int) -> LexborNode | None:
    sized = [(sizes[node.mem_id].characters, node) for node in nodes if node.mem_id in sizes]
    large = [(size, node) for size, node in sized if size >= max(1.0, _MOST_SHARE * whole)]
    return max(large, key=lambda pair: pair[0])[1] if large else None


def _prune(body: LexborNode, sizes: dict[int, Amount], title: str) -> None:
    most = _MOST_SHARE * sizes[body.mem_id].characters
    unwanted: list[LexborNode] = []
    known: set[int] = set()
    for node in walk(body, lambda node: node.mem_id not in known and node.tag != "pre"):
        if node.is_comment_node or (node.is_element_node and _is_around(node, sizes, most, title)):
            known.add(node.mem_id)
            unwanted.append(node)
    remove(unwanted)


def _is_around(node: LexborNode, sizes: dict[int, Amount], most: float, title: str) -> bool:
    tag = node.tag or ""
    if tag in _NEVER:
        return True
    given = attributes(node)
    amount = sizes.get(node.mem_id, Amount())
    if tag == "address" and _is_last(node):
        return amount.characters < most
    if is_line_numbers(tag, given):
        return True
    if tag == "a" and amount.characters < _SHORT and is_dressed_as_button(given):
        return True
    if is_called_around(tag, given) and not _belongs_to_text(node):
        return amount.characters < most and not _has_the_page(node)
    if amount.elements <= _SMALL and (
        (tag == "div" and amount.characters < _SHORT and node.css_first(_SHARING) is not None)
        or says_it_is_around(node, amount.characters)
    ):
        return True
    return tag in _LISTS and (
        (_is_link_list(node, amount, most) and not _links_title(node, title))
        or _is_of_others(node, amount, most)
    )


def _belongs_to_text(node: LexborNode) -> bool:
    """Whether a form is nothing to fill in, or an aside holds notes to the text."""
    if node.tag == "form":
        return _holds_text(node)
    return node.tag == "aside" and node.css_first(_NOTES) is not None


def _holds_text(form: LexborNode) -> bool:
    """Whether there is nothing to fill in, only text that its author may edit."""
    if form.css_first("p") is None or form.css_first(_FILLED_IN) is not None:
        return False
    return not is_called_form(attributes(form))


def _has_the_page(node: LexborNode) -> bool:
    """Whether a box has the page's own part in it; articles that announce others are not it."""
    if node.css_first("main,h1") is not None:
        return True
    return any(not _announces(each) for each in node.css("article")[:_MOST_ARTICLES])


def _open_questions(body: LexborNode) -> None:
    """Leave the text of a heading that is all something to press: it opens what is below."""
    seen: set[int] = set()
    for button in body.css(_ASKING)[:_MOST_ASKING]:
        above = button.parent
        while above is not None and above.tag not in {"dt", "summary", *_TITLES}:
            above = above.parent
        if above is None or above.mem_id in seen:
            continue
        seen.add(above.mem_id)
        text = button.text().strip()
        if text.count(" ") >= _FEW and above.text().strip() == text:
            button.unwrap()


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
    if amount.elements > _LARGEST_LIST:
        return False
    links = node.css("a")
    if len(links) < 3 or node.css_first("h1,h2,h3,h4,pre") is not None:
        return False
    if node.tag == "p" and _follows_heading(node):
        return False  # a section of the page that consists of its references
    return amount.linked / len(links) < _SHORT


def _links_title(node: LexborNode, title: str) -> bool:
    """Whether the title of the page is among the first links: a post begins with it."""
    return any(says_title(link, title) for link in node.css("a")[:_FEW])


def _follows_heading(node: LexborNode) -> bool:
    before = node.prev
    while before is not None and not before.is_element_node:
        before = before.prev
    return before is not None and before.tag in {"h1", *_TITLES}


def _is_of_others(node: LexborNode, amount: Amount, most: float) -> bool:
    """A box with one title and headlines of other pages below it."""
    if amount.characters >= most or node.tag not in {"div", "section"}:
        return False
    if not amount.linked or amount.elements > _LARGEST_BOX:
        return False
    headings = [each for each in node.css(_HEADINGS) if each.css_first("a") is None]
    links = node.css("a")
    if len(headings) != 1 or len(links) < 2 or node.css_first("h1,pre,blockquote") is not None:
        return False
    title = len(headings[0].text().strip())
    linked = amount.linked / max(1, amount.characters - title)
    return linked >= _LINK_LIST and amount.linked / len(links) >= _HEADLINE
