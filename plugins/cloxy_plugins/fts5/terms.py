"""Text as the index sees it.

FTS5's tokenizer splits at everything but letters, digits and marks, folds case and accents and
stems. What it cannot do is done here, into a column of its own: the words inside `camelCase`,
pieces of scripts that are written without spaces, Latin words inside of those, and names such as
`C++`, whose signs it drops.
"""

import re
import unicodedata

MAX_TOKEN = 128
"""Characters of one token that count; longer ones (encoded data) are cut, for the index only."""

UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
    "\u1100-\u11ff\u3130-\u318f\uac00-\ud7af"  # Hangul, where particles cling to the word
    "\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9f"  # Kana
    "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"  # Han
)

_RUN = re.compile(f"[{UNSPACED}]+")
_INNER_BORDER = re.compile(r"[A-Z](?:(?<=[a-z0-9].)|(?<=[A-Z].)[a-z]{2})")
_NAME = re.compile(r"[A-Za-z0-9]+")
_HUMPS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_BESIDE_RUN = re.compile(f"(?<=[{UNSPACED}])[A-Za-z0-9]+|[A-Za-z0-9]+(?=[{UNSPACED}])")
_SIGNED = (
    ("plusplus", re.compile(r"\+\+(?<=(?<!\w)[A-Za-z]\+\+)(?!\w)")),
    ("sharp", re.compile(r"#(?<=(?<!\w)[A-Za-z]#)(?!\w)")),
)
_LONG_TOKEN = re.compile(rf"([^\W_]{{{MAX_TOKEN}}})[^\W_]+")


def normal(text: str) -> str:
    """The text in composed form, so that `é` is one thing however it was typed."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def shorten(text: str) -> str:
    """The text with each very long token cut to its first `MAX_TOKEN` characters."""
    if len(text) <= MAX_TOKEN or max(map(len, text.split()), default=0) <= MAX_TOKEN:
        return text
    return _LONG_TOKEN.sub(r"\1", text)


def humps(name: str) -> list[str]:
    """The words of a camel-case name, in lower case; none when it has no inner border.

    `HttpRetryPolicy` gives http, retry, policy; `utf8` gives utf, 8; `NASA` gives nothing.
    """
    words = _HUMPS.findall(name)
    return [word.lower() for word in words] if len(words) > 1 else []


def runs(text: str) -> list[str]:
    """Runs of characters of scripts that are written without spaces, in order."""
    return [] if text.isascii() else _RUN.findall(text)


def pairs(run: str) -> list[str]:
    """Overlapping pairs of characters of a run; the character itself when it is alone."""
    if len(run) < 2:
        return [run]
    return [run[index : index + 2] for index in range(len(run) - 1)]


def camel_names(text: str) -> list[str]:
    """Names of Latin letters and digits with a border inside, each once.

    Every message passes here on its way in: looking for the border, and then for the name
    around it, costs a fifth of matching whole names.
    """
    names: dict[str, None] = {}
    end = 0
    for border in _INNER_BORDER.finditer(text):
        start = border.start()
        if start < end:
            continue
        while start and text[start - 1].isalnum() and text[start - 1].isascii():
            start -= 1
        name = _NAME.match(text, start)
        if name:
            names[name.group()] = None
            end = name.end()
    return list(names)


def signed_names(text: str) -> list[str]:
    """Names that end in signs, spelled out: `C++` gives cplusplus, `F#` gives fsharp."""
    if "#" not in text and "++" not in text:
        return []
    return [
        text[found.start() - 1].lower() + spelled
        for spelled, sign in _SIGNED
        for found in sign.finditer(text)
    ]


def index_parts(text: str) -> str:
    """What the tokenizer cannot see of a text, as words separated by spaces.

    Pairs of a run stand together and in order, so that a phrase of pairs finds a longer word;
    its single characters follow, which also keeps phrases from reaching into the next run.
    """
    parts: list[str] = []
    for name in camel_names(text):
        parts += humps(name)
    parts += signed_names(text)
    if not text.isascii() and _RUN.search(text):
        parts += _BESIDE_RUN.findall(text)
        for run in runs(text):
            parts += pairs(run)
            if len(run) > 1:
                parts += run
    return " ".join(parts)
