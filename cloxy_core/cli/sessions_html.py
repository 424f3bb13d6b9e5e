"""A session as one HTML file: no scripts, nothing from elsewhere, no links."""

import base64
import hashlib
import html
from collections.abc import Iterable, Iterator, Mapping

from cloxy_core.cli import fields, output
from cloxy_core.cli.sessions_text import DAMAGED, facts, message_facts

STYLE = """
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.4rem; }
h2 { font-size: 1rem; margin: 1.5rem 0 0.3rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.1rem 1rem; }
dt { opacity: 0.7; }
dd { margin: 0; overflow-wrap: anywhere; }
.text { white-space: pre-wrap; overflow-wrap: anywhere; border-left: 3px solid #8888;
  padding-left: 0.8rem; unicode-bidi: isolate; }
.human { border-left-color: #3a7bd5; }
"""
_STYLE_HASH = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
POLICY = (
    f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; base-uri 'none'; form-action 'none'"
)


def page(session: Mapping[str, object], messages: Iterable[Mapping[str, object]]) -> Iterator[str]:
    """The pieces of the file.

    Args:
        session: what is known of it, as the server tells it.
        messages: its messages, in order.
    """
    title = inline(fields.text(session, "title") or "A session without a title")
    yield (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f"<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n<dl>\n"
    )
    for name, value in facts(session):
        yield f"<dt>{inline(name)}</dt><dd>{inline(value)}</dd>\n"
    yield "</dl>\n"
    for message in messages:
        yield from _message(message)
    yield "</body>\n</html>\n"


def inline(text: str) -> str:
    """A text in one line, as text."""
    return html.escape(output.escape(text))


def _message(message: Mapping[str, object]) -> Iterator[str]:
    number = fields.count(message, "number")
    yield f"<h2>{number}. {inline(' · '.join(message_facts(message)))}</h2>\n"
    text = DAMAGED if message.get("damaged") is True else fields.text(message, "text")
    kind = "text human" if fields.text(message, "author") == "human" else "text"
    yield f'<div class="{kind}">{html.escape(output.escape(text, lines=True))}</div>\n'
