"""The words in the content of a message."""

from dataclasses import dataclass

from cloxy_plugins.claude_code.human import human_words

_PARAGRAPH = "\n\n"
_NO_WORDS = frozenset(
    {
        "thinking",
        "redacted_thinking",
        "tool_use",
        "tool_result",
        "tool_reference",
        "server_tool_use",
        "mcp_tool_use",
        "mcp_tool_result",
        "web_search_tool_result",
        "web_fetch_tool_result",
        "code_execution_tool_result",
        "bash_code_execution_tool_result",
        "text_editor_code_execution_tool_result",
        "tool_search_tool_result",
        "container_upload",
        "search_result",
        "fallback",
    }
)
_NO_CONTENT = {"type": "(no content)"}
_TYPE_LIMIT = 60


@dataclass(frozen=True, slots=True)
class Words:
    """What a content says.

    Attributes:
        text: the words; empty when there are none.
        strange: kind of its first part that has no known form; None when all have one.
    """

    text: str
    strange: str | None = None


NOTHING = Words("")


def user_words(content: object) -> Words:
    """What a person said in the content of a user line.

    The result of a tool, and everything in one line with it, is no speech. A picture that comes
    without a word is named, so that the turn is not lost; its data never is.
    """
    if isinstance(content, str):
        words = human_words(content)
        return Words(words) if words else NOTHING
    if _is_wordless(content):
        return NOTHING
    parts = _parts(content)
    if "tool_result" in parts.others:
        return NOTHING
    texts = [words for text in parts.texts if (words := human_words(text))] or parts.pictures
    return _joined(texts, parts)


def plain_words(content: object) -> Words:
    """The text of a content, as it stands there."""
    if isinstance(content, str):
        return Words(content) if content.strip() else NOTHING
    if _is_wordless(content):
        return NOTHING
    parts = _parts(content)
    return _joined(parts.texts, parts)


def _is_wordless(content: object) -> bool:
    """Whether a content is a single block without words; most are, and are told at once."""
    if not isinstance(content, list) or len(content) != 1 or not isinstance(content[0], dict):
        return False
    kind = content[0].get("type")
    return isinstance(kind, str) and kind in _NO_WORDS


@dataclass(slots=True)
class _Parts:
    """The blocks of a content, sorted; `others` are types of blocks that hold no words."""

    texts: list[str]
    pictures: list[str]
    others: list[str]


def _parts(content: object) -> _Parts:
    parts = _Parts([], [], [])
    for block in content if isinstance(content, list) else [content or _NO_CONTENT]:
        kind, text = _kind_and_text(block)
        if text is not None:
            if text and not text.isspace():
                parts.texts.append(text)
        elif kind in ("image", "document"):
            parts.pictures.append(f"[{kind}: {_media_type(block)}]")
        elif block is not None:
            parts.others.append(kind or "(no type)")
    return parts


def _kind_and_text(block: object) -> tuple[str | None, str | None]:
    if not isinstance(block, dict):
        return None, None
    kind, text = block.get("type"), block.get("text")
    if not isinstance(kind, str):
        return None, None
    return kind, text if kind == "text" and isinstance(text, str) else None


def _joined(texts: list[str], parts: _Parts) -> Words:
    strange = next((kind for kind in parts.others if kind not in _NO_WORDS), None)
    return Words(texts[0] if len(texts) == 1 else _PARAGRAPH.join(texts), strange)


def _media_type(block: object) -> str:
    source = block.get("source") if isinstance(block, dict) else None
    name = source.get("media_type") if isinstance(source, dict) else None
    known = isinstance(name, str) and len(name) <= _TYPE_LIMIT and name.isprintable()
    return str(name) if known else "unknown type"
