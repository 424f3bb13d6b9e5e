"""XML and feeds; what a document type or an entity would bring in is refused."""

import html
import re
from collections.abc import Iterator
from typing import Final
from xml.parsers import expat

from cloxy_hookspecs import Extracted, FetchError, FetchMode, PageSource
from cloxy_plugins.web.extract_rendering import rendered, tidy
from cloxy_plugins.web.sanitize import without_unseen
from cloxy_plugins.web.trees import parsed

_DEEPEST: Final = 200
_ITEMS: Final = frozenset({"item", "entry"})
_FIELDS: Final = ("title", "link", "pubdate", "published", "updated", "date", "author", "creator")
_TEXTS: Final = ("encoded", "content", "description", "summary")
_DECLARED: Final = re.compile(r"\A\s*<\?xml[^>]*\?>")
_LOOKS_HTML: Final = re.compile(r"<[a-z][^>]*>|&[a-z]+;|&#", re.IGNORECASE)


class _Element:
    """An element of a document, without its namespace."""

    __slots__ = ("attributes", "children", "name", "pieces")

    def __init__(self, name: str, attributes: dict[str, str]) -> None:
        self.name = name
        self.attributes = attributes
        self.children: list[_Element] = []
        self.pieces: list[str] = []

    @property
    def text(self) -> str:
        return "".join(self.pieces).strip()


def extract(source: PageSource, mode: FetchMode, selector: str | None) -> Extracted:
    """Entries of a feed; of other documents, names and texts, indented as they are nested.

    Raises:
        FetchError: the document brings a type or entities of its own.
    """
    del selector
    root = _read(source.text)
    if root is None:
        return Extracted(source.text.strip(), notes=("this is not well-formed XML",))
    items = [each for each in _below(root) if each.name in _ITEMS]
    if items:
        return _feed(root, items, mode, source.url)
    return Extracted("\n".join(_outline(root)))


def _read(text: str) -> _Element | None:
    top = _Element("", {})
    path = [top]

    def starts(name: str, attributes: dict[str, str]) -> None:
        element = _Element(name.rpartition(":")[2].lower(), attributes)
        if len(path) > _DEEPEST:
            raise FetchError(f"the document is nested more than {_DEEPEST} deep")
        path[-1].children.append(element)
        path.append(element)

    def says(data: str) -> None:
        path[-1].pieces.append(data)

    def refuses(*_given: object) -> int:
        raise FetchError(
            "the document brings a document type or entities of its own, which are not read",
            hint="mode raw gives its text as it is",
        )

    parser = expat.ParserCreate(encoding="utf-8")
    parser.buffer_text = True
    parser.StartElementHandler = starts
    parser.EndElementHandler = lambda _name: path.pop()
    parser.CharacterDataHandler = says
    parser.StartDoctypeDeclHandler = refuses
    parser.EntityDeclHandler = refuses
    parser.ExternalEntityRefHandler = refuses
    try:
        parser.Parse(_DECLARED.sub("", text).strip().encode(), True)
    except expat.ExpatError:
        return None
    return top.children[0] if top.children else None


def _below(root: _Element) -> Iterator[_Element]:
    left = [root]
    while left:
        element = left.pop()
        yield element
        left.extend(reversed(element.children))


def _outline(root: _Element) -> Iterator[str]:
    left = [(root, 0)]
    while left:
        element, depth = left.pop()
        told = "".join(f' {name}="{value}"' for name, value in element.attributes.items())
        text = " ".join(element.text.split())
        yield f"{'  ' * depth}{element.name}{told}" + (f": {text}" if text else "")
        left.extend((child, depth + 1) for child in reversed(element.children))


def _feed(root: _Element, items: list[_Element], mode: FetchMode, url: str) -> Extracted:
    head = next((each for each in _below(root) if each.name in {"channel", "feed"}), root)
    title = _field(head, "title")
    parts = [f"# {title}"] if title else []
    about = _field(head, "description") or _field(head, "subtitle")
    parts += [_readable(about, mode, url)] if about else []
    parts += [_entry(item, mode, url) for item in items]
    return Extracted(tidy("\n\n".join(parts)), title)


def _entry(item: _Element, mode: FetchMode, url: str) -> str:
    told = {name: _field(item, name) for name in _FIELDS}
    lines = [f"## {_readable(told['title'], 'clean', url) or 'Without a title'}"]
    when = told["pubdate"] or told["published"] or told["updated"] or told["date"]
    who = told["author"] or told["creator"]
    line = ", ".join(filter(None, (when, who, told["link"])))
    lines += [line] if line else []
    text = next(filter(None, (_field(item, name) for name in _TEXTS)), "")
    lines += [_readable(text, mode, url)] if text else []
    return "\n\n".join(lines)


def _field(element: _Element, name: str) -> str:
    for child in element.children:
        if child.name == name:
            inner = child.text or " ".join(each.text for each in _below(child) if each.text)
            found = inner or child.attributes.get("href", "")
            if found:
                return found
    return ""


def _readable(text: str, mode: FetchMode, url: str) -> str:
    """Text of a field, which is often HTML."""
    if not _LOOKS_HTML.search(text):
        return " ".join(text.split())
    shown = without_unseen(PageSource(url, "text/html", text)).source.text
    body = parsed(shown).body
    if body is None:
        return " ".join(html.unescape(text).split())
    return rendered(body, "clean" if mode == "clean" else "markdown", url)
