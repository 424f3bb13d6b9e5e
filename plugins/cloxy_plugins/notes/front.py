"""The front matter of a note: names and values between two lines at its start.

YAML is read as far as notes use it: texts, quoted or not, and lists of them. Anything else is no
value, and harms nothing. Between lines of `+++` it is TOML.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

Value = object
"""A text, a list of texts, or what TOML has."""

_MOST_LINES = 400
_MOST_CHARACTERS = 65_536
_NAME = re.compile(r"([A-Za-z][\w .-]{0,80}?)[ \t]*:(?:[ \t]+(.*)|[ \t]*)\Z")
_ENTRY = re.compile(r"[ \t]*-[ \t]+(.*)\Z")
_BLOCK = re.compile(r"[|>][+-]?\d?\Z")
_COMMENT = re.compile(r"(?:\A|[ \t])#.*\Z")
_QUOTED = re.compile(r"'((?:[^']|'')*)'|\"((?:[^\"\\]|\\.)*)\"")
_ESCAPES = {"n": "\n", "t": "\t"}
_LISTED = re.compile(rf"\s*(?:({_QUOTED.pattern})|([^,]*))\s*(?:,|\Z)")


@dataclass(frozen=True, slots=True)
class Front:
    """The head of a note.

    Attributes:
        values: by name, in small letters.
        lines: how many lines of the note it takes.
    """

    values: Mapping[str, Value] = field(default_factory=dict[str, Value])
    lines: int = 0

    def text(self, *names: str) -> str:
        """The first of these that is a text, on one line; else empty."""
        for name in names:
            value = self.values.get(name)
            if isinstance(value, str) and value.strip():
                return " ".join(value.split())
        return ""

    def texts(self, *names: str) -> Sequence[str]:
        """The first of these as a list of texts; a text is split at commas."""
        for name in names:
            value = self.values.get(name)
            if isinstance(value, str) and value.strip():
                return [part.strip() for part in value.split(",") if part.strip()]
            if isinstance(value, list):
                return [each.strip() for each in value if isinstance(each, str) and each.strip()]
        return ()


def front_of(lines: Sequence[str]) -> Front:
    """The front matter at the start of a note; empty when it has none, or it does not end."""
    first = lines[0].rstrip() if lines else ""
    if first not in ("---", "+++"):
        return Front()
    ends = ("---", "...") if first == "---" else ("+++",)
    length = 0
    for number, line in enumerate(lines[1:_MOST_LINES], 1):
        length += len(line)
        if length > _MOST_CHARACTERS:
            break
        if line.rstrip() in ends:
            inside = lines[1:number]
            read = _toml if first == "+++" else _yaml
            return Front(dict(read(inside)), number + 1)
    return Front()


def _toml(lines: Sequence[str]) -> Iterator[tuple[str, Value]]:
    try:
        found = tomllib.loads("\n".join(lines))
    except (tomllib.TOMLDecodeError, RecursionError, ValueError):
        return
    for name, value in found.items():
        yield name.lower(), value


def _yaml(lines: Sequence[str]) -> Iterator[tuple[str, Value]]:
    number = 0
    while number < len(lines):
        found = _NAME.match(lines[number])
        number += 1
        if found is None:
            continue
        end = number
        while end < len(lines) and (not lines[end].strip() or lines[end][0] in " \t-"):
            end += 1
        yield found[1].lower(), _value((found[2] or "").strip(), lines[number:end])
        number = end


def _value(text: str, below: Sequence[str]) -> Value:
    """A value that begins behind its name, with the lines below that belong to it."""
    plain = _COMMENT.sub("", text).rstrip()
    if _BLOCK.match(plain):
        return "\n".join(line.strip() for line in below).strip()
    if not plain:
        return [_scalar(found[1]) for line in below if (found := _ENTRY.match(line))]
    if text.startswith("["):
        return list(_listed(" ".join([text, *below])))
    return _scalar(" ".join([text, *(line.strip() for line in below if line.strip())]))


def _scalar(text: str) -> str:
    text = text.strip()
    quoted = _QUOTED.match(text)
    if quoted is not None:
        return _unquoted(quoted[1], quoted[2])
    return _COMMENT.sub("", text).strip()


def _unquoted(single: str | None, double: str | None) -> str:
    if single is not None:
        return single.replace("''", "'")
    return re.sub(r"\\(.)", lambda found: _ESCAPES.get(found[1], found[1]), double or "")


def _listed(text: str) -> Iterator[str]:
    """The entries of `[one, "two"]`."""
    inside = text.partition("[")[2]
    end = inside.rfind("]")
    inside = inside[:end] if end >= 0 else inside
    place = 0
    while place < len(inside):
        found = _LISTED.match(inside, place)
        if found is None or found.end() == place:
            return
        quoted = found[1] is not None
        entry = _unquoted(found[2], found[3]) if quoted else found[4].strip()
        if entry:
            yield entry
        place = found.end()
