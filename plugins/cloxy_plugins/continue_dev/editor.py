"""What a person typed into Continue's editor: a document of TipTap, kept beside the prompt.

The prompt itself may have the bodies of files and of other context above and between the words.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from cloxy_hookspecs.logs.json_values import (
    Record,
    is_record,
    list_of,
    record_of,
    text_of,
)

_CODE = frozenset({"codeblock", "code-block"})
_COMMAND = frozenset({"promptblock", "prompt-block", "slashcommand", "slash-command"})
_BLOCKS = frozenset({"paragraph", "heading", "blockquote", "listitem", "codeblock", "code-block"})
_MOST = 100_000


@dataclass(slots=True)
class Typed:
    """What stands in the editor.

    Attributes:
        text: the words, with the names of what is mentioned as the prompt has them.
        attached: names of pieces of code that stand between the words.
    """

    text: str = ""
    attached: list[str] = field(default_factory=list[str])


def typed_in(state: object) -> Typed | None:
    """What was typed; None when there is no such document."""
    if not is_record(state) or not isinstance(state.get("content"), list):
        return None
    typed = Typed()
    typed.text = "".join(_pieces(state, typed)).strip()
    return typed


def _pieces(document: Record, typed: Typed) -> Iterator[str]:
    """Words and ends of lines, in order."""
    stack: list[object] = [document]
    for _ in range(_MOST):
        if not stack:
            return
        node = stack.pop()
        if isinstance(node, str):
            yield node
            continue
        record = record_of(node)
        kind = str(record.get("type")).lower()
        attributes = record_of(record.get("attrs"))
        if kind == "text":
            yield _text(record.get("text"))
        elif kind == "mention":
            inline = attributes.get("renderInlineAs")
            yield inline if isinstance(inline, str) else text_of(attributes, "label") or ""
        elif kind in _COMMAND:
            yield _command(attributes)
        elif kind in _CODE and "item" in attributes:
            typed.attached.append(text_of(record_of(attributes["item"]), "name") or "unknown")
        elif kind == "hardbreak":
            yield "\n"
        else:
            if kind in _BLOCKS:
                stack.append("\n")
            children = list_of(record.get("content"))
            stack += [child for child in reversed(children) if is_record(child)]


def _command(attributes: Record) -> str:
    """A command as it is typed: its name behind a slash."""
    item = record_of(attributes.get("item"))
    name = text_of(attributes, "label") or text_of(attributes, "id") or text_of(item, "name")
    return f"/{name.lstrip('/')} " if name else ""


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
