"""Text of HTML pages by rule: the main part, or all that is left when nothing is called main."""

from dataclasses import replace
from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

from cloxy_hookspecs import Extracted, FetchMode, PageSource
from cloxy_plugins.web.extract_quality import is_poor
from cloxy_plugins.web.extract_regions import main_region
from cloxy_plugins.web.extract_rendering import Style, rendered
from cloxy_plugins.web.extract_shells import Shell, looked_at
from cloxy_plugins.web.trees import parsed

_NEVER: Final = "script,style,template,noscript,head"


def extract(source: PageSource, mode: FetchMode, selector: str | None) -> Extracted | None:
    """Text of the main part of a page; None where the rules find hardly anything."""
    del selector
    tree = parsed(source.text)
    shell = looked_at(tree, len(source.text))
    title, url = title_of(tree), base_of(tree, source.url)
    if shell.embedded:
        return _from_data(title, shell)
    heading = tree.css_first("h1")
    heading_text = " ".join(heading.text(separator=" ").split()) if heading is not None else ""
    whole = words(tree.body)
    region = main_region(tree, title)
    if region is None:
        return flagged(Extracted("", title), shell)
    missing = heading_text and not any(
        heading_text == " ".join(node.text(separator=" ").split()) for node in region.css("h1,h2")
    )
    poor = is_poor(region, whole)
    if poor and not shell.flags:
        return None
    text = rendered(region, _style(mode), url)
    if missing:
        text = f"# {heading_text.removesuffix('¶').strip()}\n\n{text}"
    return flagged(Extracted(text.strip(), title), shell)


def extract_all(source: PageSource, mode: FetchMode, selector: str | None) -> Extracted:
    """Text of everything that is on a page."""
    del selector
    tree = parsed(source.text)
    shell = looked_at(tree, len(source.text))
    title, url = title_of(tree), base_of(tree, source.url)
    for node in tree.css(_NEVER):
        node.decompose()
    text = rendered(tree.body, _style(mode), url) if tree.body is not None else ""
    return flagged(Extracted(text, title, notes=("this is all text of the page",)), shell)


def title_of(tree: LexborHTMLParser) -> str:
    """The title that a page gives itself, else its first heading."""
    for node in tree.css("head > title, title, h1"):
        text = " ".join(node.text(separator=" ").split())
        if text:
            return text[:500]
    return ""


def base_of(tree: LexborHTMLParser, url: str) -> str:
    """What links of a page are relative to: its address, or what the page says."""
    base = tree.css_first("base[href]")
    told = (base.attributes.get("href") or "").strip() if base is not None else ""
    return told if told.startswith(("http://", "https://")) else url


def words(node: LexborNode | None) -> int:
    """Characters of text below a node, spaces left out."""
    return len("".join(node.text(separator=" ").split())) if node is not None else 0


def flagged(made: Extracted, shell: Shell) -> Extracted:
    """The text, with why it may not be what a person sees."""
    if not shell.flags:
        return made
    share = f"text is {shell.share:.1%} of the page"
    told = (
        f"the page probably needs a browser to show its text; {share}"
        if "needs_browser" in shell.flags
        else f"the page has hardly any text; {share}"
    )
    return replace(made, flags=shell.flags, notes=(*made.notes, told))


def _from_data(title: str, shell: Shell) -> Extracted:
    note = "the text was taken from data inside the page"
    flags = shell.flags - {"too_little_text"}
    return flagged(Extracted(shell.embedded, title, notes=(note,)), replace(shell, flags=flags))


def _style(mode: FetchMode) -> Style:
    return "clean" if mode == "clean" else "markdown"
