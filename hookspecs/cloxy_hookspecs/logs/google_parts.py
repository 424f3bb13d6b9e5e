"""Messages in the form of Google's generative API, as more than one agent keeps them.

A message is a list of parts: `{text}`, `{thought: true, text}`, `{inlineData: {mimeType, data}}`,
`{fileData: {mimeType, fileUri}}`, and calls of tools with their results, which are no words.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice

from cloxy_hookspecs.logs.json_values import is_record
from cloxy_hookspecs.logs.pictures import (
    NAME_LIMIT,
    bytes_of_base64,
    name_in_path,
    picture_mark,
)

Part = Mapping[str, object]

_MOST = 50
_FILES = ("inlineData", "fileData")
_TOOLS = frozenset(
    {
        "functionCall",
        "functionResponse",
        "toolCall",
        "toolResponse",
        "executableCode",
        "codeExecutionResult",
    }
)
_BESIDE = frozenset(
    {"thought", "thoughtSignature", "videoMetadata", "mediaResolution", "partMetadata"}
)


def spoken_parts(parts: Iterable[object]) -> Iterator[Part]:
    """The parts of a message without thoughts, and without what is no part."""
    for part in parts:
        if is_record(part) and part.get("thought") is not True:
            yield part


def is_whole(part: object) -> bool:
    """Whether a part has what its kind always has; of another one, words or a file may be lost.

    Thoughts are whole in any case, and so is a part with nothing in it.
    """
    if not is_record(part):
        return False
    if part.get("thought") is True:
        return True
    if "text" in part:
        return isinstance(part["text"], str)
    files = [part[key] for key in _FILES if key in part]
    if files:
        return all(map(is_record, files))
    return part.keys() <= _BESIDE or not part.keys().isdisjoint(_TOOLS)


def texts_in(parts: Iterable[Part]) -> list[str]:
    """The texts of parts, as they are."""
    return [text for part in parts if isinstance(text := part.get("text"), str)]


def marks_in(parts: Iterable[Part]) -> str:
    """What stands for pictures and other files in parts, a line for each, up to 50."""
    return "\n".join(islice((_mark(file) for file in map(_file, parts) if file is not None), _MOST))


def _file(part: Part) -> Part | None:
    for key in _FILES:
        file = part.get(key)
        if is_record(file):
            return file
    return None


def _mark(file: Part) -> str:
    media = file.get("mimeType")
    kind = media.lower() if isinstance(media, str) and media.isprintable() else ""
    word = "image" if kind.startswith("image/") else "file"
    data = file.get("data")
    if word == "image" and isinstance(data, str) and data:
        return picture_mark(kind[:NAME_LIMIT], bytes_of_base64(data))
    return f"[{word}: {_name(file) or kind[:NAME_LIMIT] or 'unknown'}]"


def _name(file: Part) -> str:
    for key in ("displayName", "fileUri"):
        value = file.get(key)
        if isinstance(value, str) and value.strip():
            return name_in_path(value)
    return ""
