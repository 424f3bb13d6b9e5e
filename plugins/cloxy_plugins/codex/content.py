"""The words and pictures in the content of a message."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePath, PureWindowsPath

from cloxy_hookspecs.logs.pictures import NAME_LIMIT, bytes_of_address, picture_mark
from cloxy_hookspecs.logs.words import PARAGRAPH
from cloxy_plugins.codex.human import human_words, is_block, place_in

Record = Mapping[str, object]

_TEXTS = frozenset({"text", "input_text", "output_text"})
_IMAGES = frozenset({"image", "input_image", "local_image", "localimage"})
# Names of skills, files and the like that were chosen; the words stand in the text.
_WORDLESS = frozenset(
    {"skill", "mention", "audio", "local_audio", "input_file", "encrypted_content"}
)
_TYPED = (None, "plain")
_KINDS_OF_EVENTS = (*_TYPED, "user_instructions", "environment_context")
_IMAGE_TAG = re.compile(r"\s*</?image(?:\s[^<>]{0,500})?>\s*", re.I)
_DATA = re.compile(r"data:([a-z]+/[a-z0-9.+-]{1,60})?[;,]", re.I)
_PASSED_ON = "internal_chat_message_metadata_passthrough"


@dataclass(slots=True)
class Spoken:
    """What a content says.

    Attributes:
        texts: its words, part by part; those of the harness left out.
        images: what stands for its pictures.
        place: working directory that an environment block names.
        understood: whether every part of it had a known form.
    """

    texts: list[str] = field(default_factory=list[str])
    images: list[str] = field(default_factory=list[str])
    place: str | None = None
    understood: bool = True

    @property
    def words(self) -> str:
        """All words together."""
        return self.texts[0] if len(self.texts) == 1 else PARAGRAPH.join(self.texts)


def user_content(message: Record) -> Spoken:
    """What a person said in a message item of the user's role, which the harness uses, too."""
    spoken = Spoken()
    parts = _parts(message.get("content"), spoken)
    kinds = _kinds(message, len(parts))
    for part, kind in zip(parts, kinds, strict=True):
        text = _part(part, spoken)
        if text is None:
            continue
        spoken.place = spoken.place or place_in(text)
        if kind is not None and not kind.startswith("user."):
            continue
        own = kind is not None or not is_block(text)
        if own and not _IMAGE_TAG.fullmatch(text) and (words := human_words(text)):
            spoken.texts.append(words)
    return spoken


def item_content(item: Record) -> Spoken:
    """What a person said in a completed item, which holds little but a person's words."""
    spoken = Spoken()
    for part in _parts(item.get("content"), spoken):
        text = _part(part, spoken)
        if text is not None and not _IMAGE_TAG.fullmatch(text) and (words := human_words(text)):
            spoken.texts.append(words)
    return spoken


def plain_content(message: Record) -> Spoken:
    """The words of an agent, as they stand there."""
    spoken = Spoken()
    for part in _parts(message.get("content"), spoken):
        text = _part(part, spoken)
        if text is not None and text.strip():
            spoken.texts.append(text)
    return spoken


def event_content(event: Record) -> Spoken:
    """What a person said in an event."""
    spoken = Spoken()
    text, kind = event.get("message"), event.get("kind")
    spoken.understood = isinstance(text, str) and kind in _KINDS_OF_EVENTS
    if isinstance(text, str) and kind in _TYPED and (words := human_words(text)):
        spoken.texts.append(words)
    for key in ("images", "local_images"):
        values = event.get(key)
        for value in values if isinstance(values, list) else ():
            if isinstance(value, str):
                spoken.images.append(image_mark(value))
    return spoken


def image_mark(address: str) -> str:
    """What stands for a picture: its type and a digest of its data, or its name without data."""
    data = _DATA.match(address)
    if data:
        return picture_mark((data[1] or "unknown type").lower(), bytes_of_address(address))
    name = PureWindowsPath(PurePath(address.partition("?")[0]).name).name[:NAME_LIMIT]
    return f"[image: {name}]" if name.isprintable() and name else "[image: unknown]"


def with_images(words: str, images: list[str]) -> str:
    """Words followed by what stands for pictures."""
    return PARAGRAPH.join(filter(None, [words, "\n".join(images)]))


def _parts(content: object, spoken: Spoken) -> list[object]:
    if isinstance(content, list):
        return content
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    spoken.understood = False
    return []


def _part(part: object, spoken: Spoken) -> str | None:
    """The text of a part, if it is one."""
    if not isinstance(part, Mapping):
        spoken.understood = spoken.understood and part is None
        return None
    kind, text = part.get("type"), part.get("text")
    kind = kind.lower() if isinstance(kind, str) else ""
    if kind in _TEXTS and isinstance(text, str):
        return text
    if kind == "refusal" and isinstance(part.get("refusal"), str):
        return str(part["refusal"])
    if kind in _IMAGES:
        spoken.images.append(image_mark(_address(part)))
    elif kind not in _WORDLESS:
        spoken.understood = False
    return None


def _address(part: Mapping[object, object]) -> str:
    for key in ("image_url", "url", "path", "file_id"):
        value = part.get(key)
        if isinstance(value, Mapping):
            value = value.get("url")
        if isinstance(value, str) and value:
            return value
    return ""


def _kinds(message: Record, count: int) -> list[str | None]:
    """Who wrote each part, where the message says so."""
    passed_on = message.get(_PASSED_ON)
    kinds = passed_on.get("content_item_kinds") if isinstance(passed_on, Mapping) else None
    if not isinstance(kinds, list) or len(kinds) != count:
        return [None] * count
    return [kind if isinstance(kind, str) else None for kind in kinds]
