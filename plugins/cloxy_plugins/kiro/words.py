"""What a message says, in each of the forms in which Kiro writes it."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from cloxy_hookspecs.logs.json_values import Record, id_of, list_of, record_of, text_of, usable_id

PARAGRAPH = "\n\n"

_TOOLS = frozenset({"toolUse", "toolResult", "json", "tool_use", "tool_result", "toolUses"})
_THOUGHTS = frozenset({"thinking", "redactedThinking", "reasoning"})
_PICTURES = frozenset({"image", "imageUrl", "image_url"})
_FILES = frozenset({"document", "file"})
_NAME_LIMIT = 120
_KIND_LIMIT = 40
_CHOSEN_EACH_TIME = "auto"
# What the editor puts around a prompt, or before and behind it.
_WRAPPER = "kiro-ide-message"
_PUT_IN = (
    r"EnvironmentContext|environment_context|steering-reminder|steering-rules?|user-rule|"
    r"fileTree|OPEN-EDITOR-FILES|ACTIVE-EDITOR-FILE|system-reminder"
)
_BEFORE = re.compile(rf"\s*<({_PUT_IN})(?:\s[^<>]{{0,500}})?>")
_BEHIND = re.compile(rf"</({_PUT_IN})>\s*\Z")
_TAIL = 200
_RULES = (
    "# System Prompt",
    "# Identity",
    "<identity>",
    "## Included Rules",
    "You are operating in a workspace",
)
_CONSENT = "I will follow these instructions."
_CONSENTS = frozenset({_CONSENT, "Understood."})
_NOT_SAID = ("<identity>", "<EnvironmentContext>", "[SYSTEM NOTE:")
_NO_ANSWER = frozenset({"", "On it."})


@dataclass(slots=True)
class Words:
    """What a message says.

    Attributes:
        text: its words, and marks of pictures and files; empty when there are none.
        model: model that thought about it.
        strange: parts of kinds that are not known, with their numbers.
    """

    text: str = ""
    model: str | None = None
    strange: Counter[str] = field(default_factory=Counter[str])


def words_in(content: object) -> Words:
    """What is said in a content: a text, or parts with a `kind` or a `type`."""
    if isinstance(content, str):
        return Words(content if content.strip() else "")
    found = Words()
    texts: list[str] = []
    marks: list[str] = []
    if content is not None and not isinstance(content, list):
        found.strange["content"] += 1
    for each in list_of(content):
        part = record_of(each)
        kind = text_of(part, "kind") or text_of(part, "type")
        data = part.get("data", part.get("text"))
        if kind == "text" and isinstance(data, str):
            texts.append(data)
        elif kind in _PICTURES:
            marks.append(f"[image: {_name_in(part)}]")
        elif kind in _FILES:
            marks.append(f"[file: {_name_in(part)}]")
        elif kind in _THOUGHTS:
            found.model = found.model or model_in(record_of(part.get("data")), "modelId")
        elif kind not in _TOOLS:
            found.strange[f"part/{kind or '(no kind)'}"[:_KIND_LIMIT]] += 1
    texts.append("\n".join(marks))
    found.text = PARAGRAPH.join(text for text in texts if text.strip())
    return found


def typed_in_editor(text: str) -> str:
    """What a person typed in a prompt of the editor; empty when all of it was put in."""
    words = _bare(text)
    opening, closing = f"<{_WRAPPER}>", f"</{_WRAPPER}>"
    if words.startswith(opening):
        words = _bare(words.removeprefix(opening).removesuffix(closing)).strip()
    return "" if words.startswith(_RULES) else words


def said_in_editor(text: str) -> str:
    """What the agent said; its consent to rules that were put in is nothing."""
    return "" if text.strip() == _CONSENT else text


def said_in_run(text: str) -> str:
    """What a run said; empty when it consents to rules, or the program speaks."""
    words = text.strip()
    return "" if words in _CONSENTS or words.startswith(_NOT_SAID) else text


def is_placeholder(text: str) -> bool:
    """Whether an answer in a session only says that there is one elsewhere."""
    return text.strip() in _NO_ANSWER


def model_in(record: Record, *keys: str) -> str | None:
    """A model that a record names; the one that is chosen anew each time is none."""
    for key in keys:
        model = id_of(record, key)
        if model is not None and model.lower() != _CHOSEN_EACH_TIME:
            return model
    return None


def _bare(text: str) -> str:
    """A text without the blocks that stand before and behind it."""
    start, end = 0, len(text)
    while block := _BEFORE.match(text, start):
        closing = f"</{block[1]}>"
        found = text.find(closing, block.end())
        # Cut off before its end, all of it is the program's.
        start = end if found < 0 else found + len(closing)
    while closed := _BEHIND.search(text, max(start, end - _TAIL), end):
        opening = text.rfind(f"<{closed[1]}", start, closed.start())
        if opening < 0:
            break
        end = opening
    return text[start:end].strip() if start or end < len(text) else text


def _name_in(part: Record) -> str:
    """The name of a picture or a file, else its type."""
    for each in _layers(part):
        for key in ("name", "filename", "fileName", "path", "media_type", "mediaType", "format"):
            value = each.get(key)
            if isinstance(value, str) and value.strip():
                last = re.split(r"[\\/]", value[-2048:])[-1] if key == "path" else value
                shown = " ".join(last[:_NAME_LIMIT].split()).replace("]", ")")
                if usable_id(shown):
                    return shown
    return "unknown"


def _layers(part: Record) -> Iterator[Record]:
    data = record_of(part.get("data"))
    yield part
    yield data
    yield record_of(data.get("source"))
    yield record_of(part.get("source"))
