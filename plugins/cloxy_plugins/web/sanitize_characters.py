"""Takes out characters that nobody sees: of no width, for direction, and tags."""

import json
import re
from collections import Counter
from dataclasses import replace
from typing import Final

from cloxy_hookspecs import PageSource, Sanitized

_WIDTHLESS: Final = (
    "\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b"
    "\u2060-\u2065\u206a-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\U0001d173-\U0001d17a"
)
_BIDI: Final = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_CONTROL: Final = "\x00-\x08\x0b\x0e-\x1f\x7f"
_KINDS: Final = (
    ("zero_width", re.compile(f"[{_WIDTHLESS}]")),
    # Joiners shape letters and pictures of other scripts; between Latin letters they only hide.
    (
        "zero_width",
        re.compile("(?<![^\x00-\u024f])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\u024f])"),
    ),
    ("bidi", re.compile(f"[{_BIDI}]")),
    # Tags spell the flags of regions after a black flag, and nothing else.
    ("tag", re.compile("(?<![\U0001f3f4\U000e0020-\U000e007e])[\U000e0000-\U000e007f]+")),
    ("variation", re.compile("(?<=[\ufe00-\ufe0f])[\ufe00-\ufe0f]+|[\U000e0100-\U000e01ef]{2,}")),
    ("variation", re.compile("(?<=[\x00-\x7f])(?<![0-9#*])[\ufe00-\ufe0f\U000e0100-\U000e01ef]+")),
    ("control", re.compile(f"[{_CONTROL}]")),
)
_REFERENCE: Final = re.compile(r"&#(?:[xX]([0-9a-fA-F]{1,6})|([0-9]{1,7}));?")
_JSON: Final = re.compile(r"application/(?:.+\+)?json")


def without_unseen_characters(source: PageSource) -> Sanitized:
    """A source without characters that nobody sees; written out or by number."""
    text = source.text
    if _JSON.fullmatch(source.media_type):
        text = text if "\\u" not in text else _without_escapes(text)
    elif "&#" in text and source.media_type != "text/plain":
        text = _REFERENCE.sub(_resolved, text)
    text, removed = without(text)
    return Sanitized(replace(source, text=text), removed)


def without(text: str) -> tuple[str, Counter[str]]:
    """The text without them, and how many of each kind there were."""
    removed: Counter[str] = Counter()
    if text.isascii() and text.isprintable():
        return text, removed
    for kind, pattern in _KINDS:
        shorter = pattern.sub("", text)
        if len(shorter) != len(text):
            removed[kind] += len(text) - len(shorter)
            text = shorter
    return text, removed


def _without_escapes(text: str) -> str:
    """JSON with its characters written out; as it is where it is no JSON."""
    try:
        return json.dumps(json.loads(text), ensure_ascii=False)
    except (ValueError, RecursionError):
        return text


def _resolved(match: re.Match[str]) -> str:
    """An unseen character itself for its number; other references stay."""
    number = int(match[1], 16) if match[1] else int(match[2])
    if number > 0x10FFFF or 0xD800 <= number <= 0xDFFF:
        return match[0]
    character = chr(number)
    unseen = any(pattern.search(character) for _kind, pattern in _KINDS)
    return character if unseen else match[0]
