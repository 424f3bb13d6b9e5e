"""Content blocks of the Messages API as text for a model that reads nothing else."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import cast

from cloxy_plugins.model_api.fields import FieldError, kind, object_field, text_field

_SILENT = frozenset({"thinking", "redacted_thinking", "fallback", "mcp_tool_listing"})
"""Kinds that only the model which wrote them, or its server, can use."""
_SERVER_CALLS = frozenset({"server_tool_use", "mcp_tool_use"})
_READABLE = ("title", "url", "text", "stdout", "stderr", "content", "data", "error_code")
"""Members of a server tool's result that hold text, in the order in which they are shown."""
_CARRIERS = ("text", "content", "data", "source", "input", "output", "summary")
"""Members in which an unknown kind of block would carry something to read."""
_FILES = frozenset({"base64", "url", "file"})
"""Sources of a document that hold no text."""
_MEDIA = re.compile(r"[a-z]{1,20}/[a-z0-9.+-]{1,40}")
_ONLY_TEXT = "The models here read text only: send the text itself, or say in words what it shows."


def members(value: object, path: str) -> Iterator[tuple[Mapping[str, object], str]]:
    """The blocks of a content, each with its path; a plain text counts as one text block.

    Raises:
        FieldError: it is neither a text nor a list of blocks.
    """
    if isinstance(value, str):
        yield {"type": "text", "text": value}, path
        return
    if not isinstance(value, list):
        raise FieldError(path, f"must be a string or a list of blocks, not {kind(value)}")
    for index, item in enumerate(cast("list[object]", value)):
        where = f"{path}.{index}"
        yield object_field(item, where), where


def required(block: Mapping[str, object], name: str, path: str) -> str:
    """A text that must be there.

    Raises:
        FieldError: it is absent or no text.
    """
    value = text_field(block, name, f"{path}.")
    if value is None:
        raise FieldError(f"{path}.{name}", "Field required")
    return value


def readable(block: Mapping[str, object], path: str) -> str:
    """What a model can read of a block; empty for one that holds nothing for it.

    Raises:
        FieldError: it holds what would be lost: an image, a file, or a kind that is not known.
    """
    name = required(block, "type", path)
    if name == "text":
        return required(block, "text", path)
    if name in _SILENT:
        return ""
    if name == "document":
        return _document(block, path)
    if name == "search_result":
        return _paragraphs(
            required(block, "title", path), required(block, "source", path), _inner(block, path)
        )
    if name == "tool_reference":
        return required(block, "tool_name", path)
    if name in _SERVER_CALLS:
        return _call(block, path)
    if name.endswith("_tool_result"):
        return _paragraphs(*_texts(block.get("content")))
    return _unknown(block, name, path)


def result_text(block: Mapping[str, object], path: str) -> str:
    """What a model can read of a block in a tool's result.

    An image or a file that a tool brought stays in the conversation for good. To refuse it would
    end the session of an agent whose user never asked for it, so the model is told that it is
    there, and that it cannot be seen.

    Raises:
        FieldError: it has the wrong form, or a kind that is not known.
    """
    name, source = block.get("type"), block.get("source")
    origin = cast("dict[str, object]", source) if isinstance(source, dict) else {}
    if name == "image":
        return _unseen("an image", origin)
    if name == "document" and str(origin.get("type")) in _FILES:
        return _unseen("a document", origin)
    return readable(block, path)


def _unseen(what: str, source: Mapping[str, object]) -> str:
    media = source.get("media_type")
    named = f" ({media})" if isinstance(media, str) and _MEDIA.fullmatch(media) else ""
    return f"[The tool brought {what}{named}, which this model cannot read.]"


def _document(block: Mapping[str, object], path: str) -> str:
    where = f"{path}.source"
    source = object_field(block.get("source"), where)
    sort = required(source, "type", where)
    if sort == "text":
        body = required(source, "data", where)
    elif sort == "content":
        body = _inner(source, where)
    else:
        raise FieldError(
            f"{where}.type", f"a document of kind {sort!r} cannot be read here", hint=_ONLY_TEXT
        )
    title, context = (text_field(block, key, f"{path}.") or "" for key in ("title", "context"))
    return _paragraphs(title, context, body)


def _inner(block: Mapping[str, object], path: str) -> str:
    return _paragraphs(
        *(
            readable(inner, where)
            for inner, where in members(block.get("content"), f"{path}.content")
        )
    )


def _call(block: Mapping[str, object], path: str) -> str:
    arguments = json.dumps(
        object_field(block.get("input", {}), f"{path}.input"), ensure_ascii=False
    )
    return f"[{required(block, 'name', path)} {arguments}]"


def _texts(value: object) -> Iterator[str]:
    """Texts inside a server tool's result, whatever its form."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in cast("list[object]", value):
            yield from _texts(item)
    elif isinstance(value, dict):
        holder = cast("dict[str, object]", value)
        for key in _READABLE:
            yield from _texts(holder.get(key))


def _unknown(block: Mapping[str, object], name: str, path: str) -> str:
    if name in {"image", "container_upload"} or any(block.get(key) for key in _CARRIERS):
        raise FieldError(
            f"{path}.type", f"blocks of kind {name!r} cannot be read here", hint=_ONLY_TEXT
        )
    return ""


def _paragraphs(*texts: str) -> str:
    return "\n\n".join(text for text in texts if text.strip())
