"""What a person's message says: its words, and what stands for what was attached."""

from collections.abc import Mapping
from pathlib import PurePath, PureWindowsPath

from cloxy_hookspecs.logs.pictures import NAME_LIMIT, bytes_of_base64, picture_mark
from cloxy_hookspecs.logs.words import PARAGRAPH

Record = Mapping[str, object]

_MOST = 50
_PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".tif", ".tiff", ".svg", ".heic")
_KINDS = {"directory": "folder", "selection": "selection", "file": "file"}
_NAMES = ("displayName", "title", "name", "path", "filePath", "url", "mimeType")


def words_of(data: Record) -> str:
    """The words of a message as they were typed, and marks of what was attached to it."""
    content = data.get("content")
    words = content if isinstance(content, str) and content.strip() else ""
    return PARAGRAPH.join(filter(None, [words, "\n".join(marks_of(data))]))


def is_whole(data: Record) -> bool:
    """Whether a message has what every one has: words, or attachments instead."""
    content, attachments = data.get("content"), data.get("attachments")
    if not isinstance(content, str):
        return False
    if attachments is None:
        return bool(content.strip())
    return isinstance(attachments, list) and all(isinstance(each, Mapping) for each in attachments)


def marks_of(data: Record) -> list[str]:
    """What stands for the attachments of a message."""
    attachments = data.get("attachments")
    given = attachments if isinstance(attachments, list) else []
    return [mark_of(each) for each in given[:_MOST] if isinstance(each, Mapping)]


def mark_of(attachment: Record) -> str:
    """What stands for one attachment: its kind and name, or type and digest of a picture."""
    kind, media = attachment.get("type"), attachment.get("mimeType")
    name = _name_of(attachment)
    picture = str(media).lower().startswith("image/") or (
        kind in ("file", "blob") and name.lower().endswith(_PICTURES)
    )
    if not picture:
        word = _KINDS.get(str(kind), "file" if kind == "blob" else "attachment")
        return f"[{word}: {name}]"
    data = attachment.get("data")
    if isinstance(data, str) and data:
        shown = str(media).lower() if isinstance(media, str) and media.isprintable() else name
        return picture_mark(shown[:NAME_LIMIT], bytes_of_base64(data))
    return f"[image: {name}]"


def _name_of(attachment: Record) -> str:
    for key in _NAMES:
        value = attachment.get(key)
        if isinstance(value, str) and value.strip():
            line = " ".join(value[: 20 * NAME_LIMIT].split())
            if key in ("path", "filePath") or "\\" in line or line.startswith("/"):
                line = PureWindowsPath(PurePath(line).name).name
            line = "".join(character for character in line if character.isprintable())
            if line:
                return line[:NAME_LIMIT]
    return "unknown"
