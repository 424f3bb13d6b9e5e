"""Text of pages for which the rules find hardly anything, by readability-lxml."""

from typing import Final

from readability import Document  # type: ignore[import-untyped]

from cloxy_hookspecs import Extracted, FetchMode, PageSource
from cloxy_plugins.web.extract_html import base_of, flagged, title_of, words
from cloxy_plugins.web.extract_quality import is_poor
from cloxy_plugins.web.extract_rendering import rendered
from cloxy_plugins.web.extract_shells import looked_at
from cloxy_plugins.web.trees import parsed

_ENOUGH: Final = 200


def extract(source: PageSource, mode: FetchMode, selector: str | None) -> Extracted | None:
    """Text of what looks like an article; None when that is little or mostly links."""
    del selector
    tree = parsed(source.text)
    shell = looked_at(tree, len(source.text))
    try:
        found = Document(source.text).summary(html_partial=True)
    except Exception:
        # It raises what its parser raises, on pages without text above all.
        return None
    region = parsed(found).body
    if region is None or words(region) < _ENOUGH or is_poor(region, words(tree.body)):
        return None
    text = rendered(region, "clean" if mode == "clean" else "markdown", base_of(tree, source.url))
    return flagged(Extracted(text, title_of(tree)), shell)
