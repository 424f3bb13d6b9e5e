"""Plain text, Markdown, source code and JSON."""

import json
import re
from typing import Final

from cloxy_hookspecs import Extracted, FetchMode, PageSource

_HEADING: Final = re.compile(r"(?m)^#{1,2} +(\S.{0,300})$|^(\S.{0,300})\n={3,}\s*$")
_MARKDOWN: Final = ("text/markdown", "text/x-markdown")


def extract(source: PageSource, mode: FetchMode, selector: str | None) -> Extracted:
    """The text as it is, with one kind of line end; the first heading of Markdown is its title."""
    del mode, selector
    text = source.text.replace("\r\n", "\n").replace("\r", "\n").strip("\n")
    heading = _HEADING.search(text[:5_000]) if _is_markdown(source) else None
    return Extracted(text, (heading[1] or heading[2]).strip(" #") if heading else "")


def extract_json(source: PageSource, mode: FetchMode, selector: str | None) -> Extracted:
    """JSON with a line for each value; as it is, and said, where it is none."""
    del selector
    try:
        data = json.loads(source.text)
    except (ValueError, RecursionError):
        made = _lines(source.text)
        return (
            Extracted(source.text.strip(), notes=("this is not valid JSON",))
            if made is None
            else made
        )
    text = json.dumps(data, ensure_ascii=False, indent=2)
    title = data.get("title") if isinstance(data, dict) else None
    shown = f"```json\n{text}\n```" if mode == "markdown" else text
    return Extracted(shown, title if isinstance(title, str) else "")


def _lines(text: str) -> Extracted | None:
    """JSON of one value a line stays as it is."""
    try:
        for line in filter(str.strip, text.splitlines()):
            json.loads(line)
    except (ValueError, RecursionError):
        return None
    return Extracted(text.strip()) if text.strip() else None


def _is_markdown(source: PageSource) -> bool:
    return source.media_type in _MARKDOWN or source.url.lower().endswith((".md", ".markdown"))
