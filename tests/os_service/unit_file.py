"""Reads unit files by the rules of systemd's manual: quotes, C escapes, doubled percent signs."""

import re

_SIMPLE = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", '"': '"', "'": "'", "s": " "}


def words(value):
    """Words of a value: split at blanks outside quotes, unescaped, specifiers undone."""
    found, word, quote, i = [], None, "", 0
    while i < len(value):
        c = value[i]
        if c == "\\":
            text, i = _escape(value, i)
            word = (word or "") + text
            continue
        if quote:
            if c == quote:
                quote = ""
            else:
                word += c
        elif c in "\"'":
            quote, word = c, word or ""
        elif c.isspace():
            if word is not None:
                found.append(word)
            word = None
        else:
            word = (word or "") + c
        i += 1
    assert not quote, f"a quote stays open in {value!r}"
    if word is not None:
        found.append(word)
    return [_without_specifiers(word) for word in found]


def _escape(value, at):
    kind = value[at + 1]
    if kind == "x":
        return chr(int(value[at + 2 : at + 4], 16)), at + 4
    return _SIMPLE[kind], at + 2


def _without_specifiers(word):
    assert not re.search(r"%(?!%)", word.replace("%%", "")), f"{word!r} holds a specifier"
    return word.replace("%%", "%")


def read(text):
    """Sections to lists of (name, value)."""
    sections, current = {}, None
    for line in text.splitlines():
        if not line or line[0] in "#;":
            continue
        if line[0] == "[":
            current = sections.setdefault(line[1:-1], [])
            continue
        name, _, value = line.partition("=")
        current.append((name, value))
    return sections


def command(text):
    """The words that a unit runs; no variable may be left to be replaced."""
    (value,) = [value for name, value in read(text)["Service"] if name == "ExecStart"]
    literal = value.startswith(":")
    found = words(value.removeprefix(":"))
    assert literal or not any("$" in word for word in found)
    return found


def environment(text):
    """Variables of a unit."""
    given = [value for name, value in read(text)["Service"] if name == "Environment"]
    return dict(word.split("=", 1) for value in given for word in words(value))
