"""Two keys of a small YAML file, without a YAML library.

Only what a program writes at the top level of such a file is understood: plain and quoted values
and block scalars (YAML 1.2, chapters 7.3 and 8.1). Anything else of it is passed over.
"""

import json
import re
from collections.abc import Collection, Mapping

_KEY = re.compile(r"([A-Za-z_][\w-]*):(?:[ \t]+(.*))?\Z")
_BLOCK = re.compile(r"[|>][+-]?[1-9]?[+-]?(?:[ \t]+#.*)?\Z")
_COMMENT = re.compile(r"[ \t]#.*\Z")
_NOTHING = ("", "~", "null", "Null", "NULL")
_OTHERS = "[{&*!%@`"


def top_level_texts(text: str, keys: Collection[str]) -> Mapping[str, str]:
    """Texts of some keys at the top level; keys without a text are left out.

    Args:
        text: the file.
        keys: which keys.
    """
    found: dict[str, str] = {}
    lines = text.replace("\r\n", "\n").lstrip("\ufeff").split("\n")
    for number, line in enumerate(lines):
        match = _KEY.match(line)
        if match is None or match[1] not in keys:
            continue
        value = (match[2] or "").strip()
        behind = _behind(lines, number + 1)
        words = _block(behind, value) if _BLOCK.match(value) else _flow(value, behind)
        if words.strip():
            found[match[1]] = words
    return found


def _behind(lines: list[str], start: int) -> list[str]:
    """Lines that belong to a key: those that are indented, and empty ones between them."""
    end = start
    while end < len(lines) and (not lines[end].strip() or lines[end][0] in " \t"):
        end += 1
    return lines[start:end]


def _block(lines: list[str], header: str) -> str:
    """A block scalar: `|` keeps line ends, `>` joins lines."""
    depth = min((_depth(line) for line in lines if line.strip()), default=0)
    words = [line[depth:] for line in lines]
    return (" " if header[0] == ">" else "\n").join(words).strip("\n")


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _flow(value: str, behind: list[str]) -> str:
    """A value that begins on the line of its key, and may go on in lines below."""
    whole = " ".join([value, *(line.strip() for line in behind if line.strip())]).strip()
    if whole[:1] == '"':
        return _double_quoted(whole)
    if whole[:1] == "'":
        return whole[1:].replace("''", "\0").partition("'")[0].replace("\0", "'")
    plain = _COMMENT.sub("", f" {value}").strip() if not behind else whole
    return "" if plain in _NOTHING or plain[:1] in _OTHERS or plain[:1] == "#" else plain


def _double_quoted(whole: str) -> str:
    end = 1
    while end < len(whole) and whole[end] != '"':
        end += 2 if whole[end] == "\\" else 1
    try:
        value = json.loads(whole[: end + 1], strict=False)
    except ValueError:
        # Escapes that YAML has and JSON has not.
        value = whole[1:end]
    if not isinstance(value, str):
        return ""
    return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
