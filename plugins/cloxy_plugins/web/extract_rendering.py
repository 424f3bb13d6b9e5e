"""Markdown of a part of a page."""

import html
import re
from typing import Final, Literal
from urllib.parse import urljoin, urlsplit

from html_to_markdown import ConversionOptions, convert
from selectolax.lexbor import LexborNode

from cloxy_plugins.web.trees import attributes, outermost, remove

_OPTIONS: Final = ConversionOptions(
    extract_metadata=False,
    skip_images=False,
    bullets="-",
    compact_tables=True,
    autolinks=False,
    hidden_content="reachable",
)
_LANGUAGE: Final = re.compile(
    r"(?:^|\s)(?:language-|lang-|highlight-source-|highlight-|brush:\s*|prettyprint\s+lang-|src-)"
    r"([A-Za-z0-9+#._-]{1,30})"
)
_NO_LANGUAGE: Final = frozenset({"default", "none", "text", "plaintext", "notranslate", "wrapper"})
_NUMBERS: Final = (
    ".lineno,.linenos,.linenodiv,.line-numbers,.line-numbers-rows,td.gutter,.blob-num,"
    "[data-line-number],button,.copy"
)
_LINES_OF_CODE: Final = "div.fragment"
_ANCHORS: Final = "a.headerlink,a.anchor,a.hash-link,a.anchor-link,a.heading-anchor"
_LAYOUT: Final = "table,pre,h1,h2,h3,h4,h5,h6,article,section,form,ul,ol,blockquote"
_SEVERAL: Final = "td > p + p, td > div + div, td > p + div, td > div + p"
_TAG: Final = re.compile(
    r"<(/?)(table|thead|tbody|tfoot|tr|td|th|colgroup|col|caption|dl|dt|dd|center|address|form)\b"
    r"((?:\"[^\"]*\"|[^\">])*)>"
)
_LINES: Final = re.compile(r"\n{3,}")
_TRAILING: Final = re.compile(r"(?<=\S) {2,}(?=\n)")
_FENCE: Final = re.compile(
    r"(^[ >]*(?:`{3,}|~{3,})[^\n]*\n.*?^[ >]*(?:`{3,}|~{3,})[ ]*$)", re.M | re.S
)
_MARK: Final = "data-layout"
_SCHEMES: Final = frozenset({"http", "https", "mailto", ""})
Style = Literal["clean", "markdown"]


def rendered(region: LexborNode, style: Style, url: str) -> str:
    """Markdown; `clean` is without links and pictures.

    Args:
        region: a part of a page; it is changed.
        style: what of it is kept.
        url: what addresses are relative to.
    """
    remove(outermost(region.css(_ANCHORS)))
    for node in region.css("[data-hidden-tab]"):
        _label_tab(node)
    for node in region.css(_LINES_OF_CODE):
        _gather_lines(node)
    for node in region.css("pre"):
        _settle_code(node)
    _settle_links(region, style, url)
    for node in region.css("table"):
        if _is_layout(node):
            node.attrs[_MARK] = ""
    text = convert(_without_layout(region.html or ""), _OPTIONS).content or ""
    return tidy(text)


def tidy(text: str) -> str:
    """Without empty lines and spaces that say nothing; code stays as it is."""
    parts = _FENCE.split(text)
    for place in range(0, len(parts), 2):
        parts[place] = _LINES.sub("\n\n", _TRAILING.sub("", parts[place]))
    return "".join(parts).strip()


def _label_tab(node: LexborNode) -> None:
    given = attributes(node)
    name = given["data-hidden-tab"] or given.get("aria-label") or given.get("title") or ""
    label = f"Hidden tab: {name}" if name else "Hidden tab"
    node.inner_html = f"<p><em>{html.escape(label)}</em></p>{node.inner_html or ''}"


def _gather_lines(box: LexborNode) -> None:
    """Make code of a box that has an element for each line of it."""
    lines = [line.text(separator="") for line in box.css("div.line")]
    if box.css_first("pre,table") is None and lines:
        code = html.escape("\n".join(line.rstrip("\n") for line in lines), quote=False)
        box.inner_html = f"<pre>{code}</pre>"


def _settle_code(pre: LexborNode) -> None:
    """Leave nothing in a block of code but its text and the name of its language."""
    remove(outermost(pre.css(_NUMBERS)))
    for line_break in pre.css("br"):
        line_break.replace_with("\n")
    text = pre.text(separator="")
    lines = pre.css("code > div, code > span.line, span.token-line, span.code-line")
    if "\n" not in text.strip() and len(lines) > 1:
        text = "\n".join(line.text(separator="") for line in lines)
    language = _language(pre)
    kind = f' class="language-{html.escape(language)}"' if language else ""
    code = html.escape(text.strip("\n"), quote=False)
    pre.inner_html = f"<code{kind}>{code}\n</code>"


def _language(pre: LexborNode) -> str:
    code = pre.css_first("code")
    nodes = [code] if code is not None else []
    nodes.append(pre)
    above = pre.parent
    while above is not None and above.is_element_node and len(nodes) < 5:
        nodes.append(above)
        above = above.parent
    for node in nodes:
        given = attributes(node)
        told = given.get("data-lang") or given.get("data-language") or ""
        found = _LANGUAGE.search(given.get("class", ""))
        name = told or (found[1] if found else "")
        if name and name.lower() not in _NO_LANGUAGE and re.fullmatch(r"[\w+#.-]{1,30}", name):
            return name.lower()
    return ""


def _settle_links(region: LexborNode, style: Style, url: str) -> None:
    if style == "clean":
        region.unwrap_tags(["a", "font", "center"])
        remove(outermost(region.css("img,picture,source,svg,map")))
        return
    for node in region.css("a[href],img[src]"):
        name = "href" if node.tag == "a" else "src"
        there = _absolute(url, attributes(node).get(name, ""))
        if there:
            node.attrs[name] = there
        else:
            del node.attrs[name]
    remove(outermost([node for node in region.css("img") if "src" not in node.attrs]))


def _absolute(url: str, address: str) -> str:
    """The address joined to that of the page; empty for one that no reader can follow."""
    try:
        there = urljoin(url, address.strip())
        return there if urlsplit(there).scheme.lower() in _SCHEMES else ""
    except ValueError:
        return ""


def _is_layout(table: LexborNode) -> bool:
    """Whether a table arranges things on a page and lists nothing."""
    if attributes(table).get("role") in {"presentation", "none"}:
        return True
    if table.css_first("th") is None and table.css_first(_SEVERAL) is not None:
        return True
    if any(node.mem_id != table.mem_id for node in table.css(_LAYOUT)):
        return (
            table.css_first("th") is None or table.css_first("table,article,h1,h2,h3") is not None
        )
    rows = table.css("tr")
    return bool(rows) and table.css_first("th") is None and len(table.css("td")) == 1


def _without_layout(text: str) -> str:
    """HTML with plain blocks for tables that only arrange, and for lists of definitions."""
    open_tables: list[bool] = []

    def instead(match: re.Match[str]) -> str:
        closes, tag, rest = bool(match[1]), match[2], match[3]
        if tag in {"dl", "center", "address", "form"}:
            return "</div>" if closes else "<div>"
        if tag == "dt":
            return "</strong></p>" if closes else "<p><strong>"
        if tag == "dd":
            return "</div>" if closes else "<div>"
        if tag == "table" and not closes:
            open_tables.append(_MARK in rest)
        layout = bool(open_tables) and open_tables[-1]
        if tag == "table" and closes and open_tables:
            open_tables.pop()
        if not layout:
            return match[0]
        return "" if tag in {"col", "colgroup"} else "</div>" if closes else "<div>"

    return _TAG.sub(instead, text)
