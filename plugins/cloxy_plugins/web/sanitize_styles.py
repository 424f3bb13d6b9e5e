"""Whether a style that an element states itself keeps its text from being seen."""

import re
from collections.abc import Mapping
from typing import Final

_DECLARATION: Final = re.compile(r"([a-z-]{2,40})\s*:\s*([^;]{1,200})")
_COMMENT: Final = re.compile(r"/\*.*?(?:\*/|$)", re.DOTALL)
_ESCAPE: Final = re.compile(r"\\(?:([0-9a-fA-F]{1,6})\s?|(.))", re.DOTALL)
_IMPORTANT: Final = re.compile(r"\s*!\s*important")
_NUMBER: Final = re.compile(r"(-?[0-9]*\.?[0-9]+)\s*(px|pt|em|rem|ex|ch|vw|vh|%|in|cm|mm)?")
_SHIFT: Final = re.compile(r"translate(?:x|y|3d)?\(\s*(-[0-9]{3,})")
_CLIPPED: Final = re.compile(r"rect\(\s*(?:0|1px)|inset\(\s*(?:50|100)%|circle\(\s*0")
_HEX: Final = re.compile(r"#([0-9a-f]{3,8})\b")
_RGB: Final = re.compile(r"rgba?\(\s*([0-9]{1,3})[\s,]+([0-9]{1,3})[\s,]+([0-9]{1,3})")
_ALPHA: Final = re.compile(r"(?:rgba|hsla)\([^)]*[,/]\s*(?:0|0?\.0+)%?\s*\)")
_NAMES: Final = {"white": "ffffff", "black": "000000", "red": "ff0000", "yellow": "ffff00"}
_HSL: Final = re.compile(r"hsla?\([^)%]*%?[\s,]+[0-9.]+%?[\s,]+(0|100)%")
_NO_FONT: Final = re.compile(r"(?:[a-z-]+\s+)*0(?:px|pt|em|rem|%)?(?:\s*/|\s)")
_NO_OPACITY: Final = re.compile(r"opacity\(\s*(?:0|0?\.0\d*)%?\s*\)")
_FAR_INSET: Final = re.compile(r"-[0-9]{3,}")
_NEAR: Final = 12
_FAR: Final = -100.0
_FAR_MOVED: Final = -1_000.0
_SMALLEST: Final = {"px": 1.0, "pt": 1.0, "em": 0.1, "rem": 0.1, "%": 10.0}


def plain(text: str) -> str:
    """A style in lower case, without comments, and with characters instead of their numbers."""
    text = _COMMENT.sub("", text)
    return (_ESCAPE.sub(_unescaped, text) if "\\" in text else text).lower()


def declarations(style: str, *, only_important: bool = False) -> Mapping[str, str]:
    """Properties and values, in lower case, without `!important`.

    Args:
        style: declarations, one after the other.
        only_important: leave those out that are not.
    """
    return {
        name: _IMPORTANT.sub("", value).strip()
        for name, value in _DECLARATION.findall(plain(style[:4_000]))
        if not only_important or _IMPORTANT.search(value)
    }


def hides(style: Mapping[str, str]) -> bool:
    """Whether nothing of the element can be seen."""
    return (
        style.get("display") == "none"
        or style.get("visibility") in {"hidden", "collapse"}
        or _is_zero(style.get("opacity"))
        or style.get("content-visibility") == "hidden"
        or _is_tiny(style.get("font-size"))
        or _is_zero(style.get("zoom"))
        or _is_zero(style.get("scale"))
        or bool(_NO_FONT.match(style.get("font", "")))
        or bool(_NO_OPACITY.search(style.get("filter", "")))
        or colour(style.get("-webkit-text-fill-color", "")) == "transparent"
        or _is_far(style)
        or _is_clipped(style)
        or bool(re.search(r"scale(?:x|y)?\(\s*0(?:\.0+)?\s*[,)]", style.get("transform", "")))
    )


def colour(text: str) -> str | None:
    """A colour as six hexadecimal digits, `transparent`, or None for one that is not told."""
    value = text.strip().lower()
    if value == "transparent" or _ALPHA.search(value):
        return "transparent"
    if found := _HEX.search(value):
        digits = found[1]
        return "".join(2 * digit for digit in digits[:3]) if len(digits) < 6 else digits[:6]
    if hsl := _HSL.search(value):
        return "ffffff" if hsl[1] == "100" else "000000"
    if rgb := _RGB.search(value):
        return "".join(f"{min(int(part), 255):02x}" for part in rgb.groups())
    first = value.partition(" ")[0]
    return _NAMES.get(first) or (first if first.isalpha() and first != "inherit" else None)


def is_near(one: str | None, other: str | None) -> bool:
    """Whether nobody can tell two colours apart."""
    if one is None or other is None or len(one) != 6 or len(other) != 6:
        return one is not None and one == other
    try:
        pairs = [(int(one[i : i + 2], 16), int(other[i : i + 2], 16)) for i in (0, 2, 4)]
    except ValueError:
        return one == other
    return all(abs(first - second) <= _NEAR for first, second in pairs)


def background(style: Mapping[str, str]) -> str | None:
    """The colour behind the text, if it is told."""
    told = style.get("background-color") or style.get("background")
    return colour(told) if told else None


def _unescaped(match: re.Match[str]) -> str:
    number = int(match[1], 16) if match[1] else 0
    if not match[1]:
        return match[2]
    return chr(number) if 0 < number <= 0x10FFFF and not 0xD800 <= number <= 0xDFFF else "\ufffd"


def _is_zero(value: str | None) -> bool:
    found = _NUMBER.match(value) if value else None
    return found is not None and float(found[1]) <= 0.01


def _is_tiny(value: str | None) -> bool:
    found = _NUMBER.match(value) if value else None
    if found is None:
        return False
    size = float(found[1])
    return size <= 0 or size <= _SMALLEST.get(found[2] or "", 0.0)


def _is_far(style: Mapping[str, str]) -> bool:
    if _length(style.get("text-indent")) <= _FAR or _SHIFT.search(style.get("transform", "")):
        return True
    if _length(style.get("translate")) <= _FAR or _FAR_INSET.search(style.get("inset", "")):
        return True
    nearest = _FAR if style.get("position") in {"absolute", "fixed"} else _FAR_MOVED
    moved = ("left", "top", "right", "bottom") if "position" in style else ()
    if any(_length(style.get(name)) <= nearest for name in moved):
        return True
    # Layouts of columns pull one over another by its whole width, or by hundreds of pixels.
    pulled = (style.get("margin-left", ""), style.get("margin-top", ""))
    return any("%" not in each and _length(each) <= _FAR_MOVED for each in pulled)


def _is_clipped(style: Mapping[str, str]) -> bool:
    if _CLIPPED.search(style.get("clip", "")) or _CLIPPED.search(style.get("clip-path", "")):
        return True
    if style.get("overflow", style.get("overflow-y", "")) not in {"hidden", "clip"}:
        return False
    sizes = ("height", "width", "max-height", "max-width")
    return any(name in style and _is_speck(style[name]) for name in sizes)


def _is_speck(value: str) -> bool:
    # One percent of a height that nobody told is as high as what is in it.
    return -1.0 <= _length(value) <= (0.0 if "%" in value else 1.0)


def _length(value: str | None) -> float:
    """A length in about pixels; far away on the safe side where none is told."""
    found = _NUMBER.match(value) if value else None
    if found is None:
        return 1_000.0
    return float(found[1]) * {"em": 16, "rem": 16, "in": 96, "cm": 38}.get(found[2] or "", 1)
