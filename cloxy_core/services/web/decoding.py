"""Whether a body is text, and which characters it is made of.

A type is believed only when the first bytes agree, and bytes only when the type does. Order of
what tells the encoding: byte order mark, header, `<meta>` or XML declaration, UTF-8 if the bytes
are that, a guess.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Final

from cloxy_core.services.web.charsets import codec_of, name_of
from cloxy_hookspecs import UnsupportedMediaError

HTML: Final = "text/html"
TEXT: Final = "text/plain"
_TYPES: Final = frozenset(
    {
        "application/ecmascript",
        "application/javascript",
        "application/json",
        "application/toml",
        "application/x-javascript",
        "application/jsonl",
        "application/sql",
        "application/x-ndjson",
        "application/x-sh",
        "application/x-yaml",
        "application/xml",
        "application/yaml",
    }
)
_FAMILY: Final = "text/"
_SUFFIXES: Final = ("+json", "+xml")
_OPENINGS: Final = {"application/pdf": b"%PDF-"}
"""How the bodies of types begin that are no text and that an extractor may take."""
_TYPE: Final = re.compile(r"[a-z0-9!#$&^_.+-]{1,64}/[a-z0-9!#$&^_.+-]{1,64}")
_SIGNATURES: Final = (
    (b"\xff\xfe\x00\x00", "text in UTF-32"),
    (b"\x89PNG", "a PNG image"),
    (b"GIF8", "a GIF image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"RIFF", "an image or a sound"),
    (b"%PDF-", "a PDF"),
    (b"PK\x03\x04", "a ZIP archive or an office document"),
    (b"PK\x05\x06", "a ZIP archive"),
    (b"\x1f\x8b", "packed data"),
    (b"BZh", "packed data"),
    (b"\xfd7zXZ", "packed data"),
    (b"\x28\xb5\x2f\xfd", "packed data"),
    (b"7z\xbc\xaf", "an archive"),
    (b"Rar!", "an archive"),
    (b"\x7fELF", "a program"),
    (b"MZ", "a program"),
    (b"\xca\xfe\xba\xbe", "a program"),
    (b"\xcf\xfa\xed\xfe", "a program"),
    (b"\x00asm", "a program"),
    (b"SQLite format 3", "a database"),
    (b"OggS", "a sound"),
    (b"ID3", "a sound"),
    (b"fLaC", "a sound"),
    (b"wOFF", "a font"),
    (b"wOF2", "a font"),
)
_SNIFFED: Final = 1_024
_MOST_CONTROLS: Final = 0.02
_DECLARED: Final = 4_096
_META: Final = re.compile(
    rb"<meta[^>]{0,512}?charset\s*=\s*[\"']?\s*([A-Za-z0-9_:.+-]{1,40})", re.IGNORECASE
)
_XML: Final = re.compile(rb"<\?xml[^>]{0,256}?encoding\s*=\s*[\"']([A-Za-z0-9_:.+-]{1,40})")
_MARKS: Final = (
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)
_SERVERS_DEFAULT: Final = "cp1252"
_WIDE: Final = ("utf-16-le", "utf-16-be")
_TAG: Final = re.compile(rb"<[^<>]{0,2000}>")
_GUESSED: Final = 16_384
_HTML_TAG: Final = re.compile(
    r"<(?:!doctype\s{1,32}html|(?:html|head|body|title|div|p|table|h1|meta)\b)", re.IGNORECASE
)
_HINT: Final = "only text is read: HTML, Markdown, plain text, JSON, XML, source code"


@dataclass(frozen=True, slots=True)
class Decoded:
    """A body as characters.

    Attributes:
        media_type: lower case, without parameters; found by the first characters where the
            server told none.
        charset: what it was decoded with; empty for a type that is no text.
        text: the characters; what could not be decoded is U+FFFD.
        data: the body as it came, for a type that is no text; else empty.
    """

    media_type: str
    charset: str
    text: str
    data: bytes = b""


def decoded(
    headers: Mapping[str, str], body: bytes, others: Collection[str] = frozenset()
) -> Decoded:
    """Decode a body.

    Args:
        headers: of the answer, names in lower case.
        body: unpacked.
        others: types that are no text and are taken all the same, as they come.

    Raises:
        UnsupportedMediaError: the type is none of text, or the bytes are not what it says.
    """
    media_type, label = _content_type(headers.get("content-type", ""))
    other = _other(media_type, body, others)
    if other:
        return Decoded(other, "", "", body)
    if media_type and not is_text(media_type):
        raise UnsupportedMediaError(f"the page is of type {media_type}", hint=_HINT)
    codec = _codec(body, label)
    _refuse_binary(body, media_type, codec)
    text = body.decode(codec, errors="replace").removeprefix("\ufeff")
    return Decoded(media_type or _guessed_type(text), name_of(codec), text)


def is_text(media_type: str) -> bool:
    """Whether bodies of a type are read."""
    is_structured = media_type.startswith("application/") and media_type.endswith(_SUFFIXES)
    return media_type.startswith(_FAMILY) or media_type in _TYPES or is_structured


def _other(media_type: str, body: bytes, others: Collection[str]) -> str:
    """The type of a body that is no text and is taken all the same; empty for none."""
    if not media_type:
        opening = {name: _OPENINGS[name] for name in others if name in _OPENINGS}
        return next((name for name, start in opening.items() if body.startswith(start)), "")
    return media_type if media_type in others and _OPENINGS.get(media_type, b"") in body else ""


def _content_type(value: str) -> tuple[str, str]:
    """Type and label of the encoding; empty where nothing usable is told."""
    first, _, parameters = value.partition(";")
    media_type = first.partition(",")[0].strip().lower()
    label = ""
    for parameter in parameters[:_DECLARED].split(";"):
        name, _, text = parameter.partition("=")
        if name.strip().lower() == "charset":
            label = text
            break
    return (media_type if _TYPE.fullmatch(media_type) else ""), label


def _codec(body: bytes, label: str) -> str:
    for mark, codec in _MARKS:
        if body.startswith(mark):
            return codec
    told = codec_of(label)
    head = body[:_DECLARED]
    declared = _META.search(head) or _XML.search(head)
    found = codec_of(declared[1].decode("ascii")) if declared else None
    if told == _SERVERS_DEFAULT and found == "utf-8" and _is_utf8(body):
        # Servers say this of everything; the page says otherwise, and its bytes agree.
        return found
    if told is not None and (told not in _WIDE or _looks_wide(body)):
        return told
    if found is not None and found not in _WIDE:
        return found
    return "utf-8" if _is_utf8(body) else _guessed(body)


def _looks_wide(body: bytes) -> bool:
    """Whether every second byte of the beginning could be the high one of Latin text."""
    head = body[:_SNIFFED]
    return bool(head) and max(head[::2].count(0), head[1::2].count(0)) * 4 > len(head)


def _is_utf8(body: bytes) -> bool:
    try:
        body.decode("utf-8")
    except UnicodeDecodeError as error:
        # A cut body may end in the middle of a character.
        return error.start >= len(body) - 3 and error.reason == "unexpected end of data"
    return True


def _guessed(body: bytes) -> str:
    words = _TAG.sub(b" ", body[: 4 * _GUESSED])[:_GUESSED]
    # Loaded when it is needed, which is seldom: it takes megabytes.
    best = import_module("charset_normalizer").from_bytes(words).best()
    found = None if best is None else codec_of(best.encoding.replace("_", "-"))
    found = found or (None if best is None else codec_of(best.encoding))
    return found or "cp1252"


def _refuse_binary(body: bytes, media_type: str, codec: str) -> None:
    head = body[:_SNIFFED]
    what = next((name for start, name in _SIGNATURES if head.startswith(start)), None)
    if what == "a program" and head.startswith(b"MZ") and b"\x00" not in head:
        what = None  # two letters can begin a text as well
    if what is None and codec not in _WIDE and _is_binary(head):
        what = "binary data"
    if what is not None:
        told = f", though the server calls it {media_type}" if media_type else ""
        raise UnsupportedMediaError(f"the page is {what}{told}", hint=_HINT)


def _is_binary(head: bytes) -> bool:
    controls = sum(byte < 0x20 and byte not in b"\t\n\f\r\x1b" for byte in head)
    return b"\x00" in head or controls > _MOST_CONTROLS * len(head)


def _guessed_type(text: str) -> str:
    head = text[:_DECLARED].lstrip()
    while head.startswith("<!--"):
        head = head.partition("-->")[2].lstrip()
    if _HTML_TAG.match(head):
        return HTML
    return "application/xml" if head.startswith("<?xml") else TEXT
