"""From what a person typed to a MATCH expression that cannot fail.

Every term becomes a quoted string, so nothing in it is an operator to FTS5: `AND`, `NEAR(` and
`column:` are words like any other. A balanced "quoted phrase" asks for exactly that phrase.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from cloxy_plugins.fts5.stopwords import STOP_WORDS
from cloxy_plugins.fts5.terms import MAX_TOKEN, humps, normal, pairs, runs, shorten, signed_names

MAX_CHOSEN = 12
"""Terms that are searched for: the rarest ones. Common words cost most and tell least."""

MIN_CHOSEN = 2
MAX_ROWS = 30_000
"""Passages that all terms together may be in, since each of them has to be scored. Only large
stores come near it; there, two terms are searched for whatever they cost."""

MAX_CONSIDERED = 64
"""Terms whose frequency is looked up; a pasted page has hundreds."""

MAX_TEXT = 20_000
"""Characters of a question that are read."""

_QUOTED = re.compile(r'"([^"]*)"|“([^“”]*)”|„([^„“”]*)[“”]')
_POSSESSIVE = re.compile(r"'s$")
_MAX_PHRASE_RUN = 12


@dataclass(frozen=True, slots=True)
class Terms:
    """What a question asks for, as quoted FTS5 strings without duplicates.

    Attributes:
        phrases: exact phrases that the asker put in quotes.
        literals: compound literals and the words of names, as phrases.
        words: single words and pieces of unspaced scripts.
    """

    phrases: tuple[str, ...]
    literals: tuple[str, ...]
    words: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.phrases or self.literals or self.words)


@dataclass(frozen=True, slots=True)
class Choice:
    """The terms of a question that are worth searching for.

    Attributes:
        phrases: required phrases.
        terms: any of these, phrases included.
    """

    phrases: tuple[str, ...]
    terms: tuple[str, ...]


def read_terms(text: str, literals: Iterable[str] = ()) -> Terms:
    """Read the terms of a question; empty when there is nothing to search for."""
    text = _clean(text)
    phrases = [inner for inner in _quoted(text) if _words(inner)]
    words, names = _split(_words(text))
    content = [word for word in words if word.lower() not in STOP_WORDS]
    spelled = [_clean(literal) for literal in literals]
    pieces: list[str] = []
    for run in runs(text):
        pieces += pairs(run)
        if 2 < len(run) <= _MAX_PHRASE_RUN:
            names.append(" ".join(pairs(run)))
    named = [literal for literal in spelled if _words(literal)]
    named += [*names, *signed_names(text), *_numbered(words)]
    if not (content or pieces or phrases or named):
        content = words
    return Terms(
        phrases=_quote_all(phrases),
        literals=_quote_all(named),
        words=_quote_all([*_longest(content), *_longest(pieces)]),
    )


def choose(terms: Terms, frequency: Callable[[str], int]) -> Choice:
    """Keep the rarest terms that occur at all, as far as the limits go; literals come first.

    Args:
        terms: what was asked.
        frequency: passages that hold a quoted string.
    """
    literals = [term for term in terms.literals if frequency(term)][:MAX_CHOSEN]
    counted = sorted(((frequency(word), word) for word in terms.words), key=lambda item: item[0])
    room = max(MAX_CHOSEN - len(literals), MAX_CHOSEN // 2)
    words: list[str] = []
    rows = sum(frequency(literal) for literal in literals)
    for count, word in counted:
        rows += count
        if len(words) == room or (rows > MAX_ROWS and len(literals) + len(words) >= MIN_CHOSEN):
            break
        if count:
            words.append(word)
    chosen = dict.fromkeys([*terms.phrases, *literals, *words])
    return Choice(phrases=terms.phrases, terms=tuple(chosen))


def expression(choice: Choice) -> str:
    """The MATCH expression: all phrases, and any of the terms; empty when none is left."""
    anything = " OR ".join(choice.terms)
    if not choice.phrases:
        return anything
    required = " AND ".join(f"{{body parts}} : {phrase}" for phrase in choice.phrases)
    return f"({required}) AND ({anything})"


def _clean(text: str) -> str:
    """Composed form, without what neither SQLite nor its tokenizer can take."""
    text = text[:MAX_TEXT].encode("utf-8", "replace").decode("utf-8")
    return shorten(normal(text.replace("\0", " ").replace("’", "'")))


def _quoted(text: str) -> list[str]:
    return [next(filter(None, groups), "") for groups in _QUOTED.findall(text)]


def _words(text: str) -> list[str]:
    """Runs of letters, digits and marks, with apostrophes inside of them."""
    kept = [
        char
        if char.isalnum() or char == "'" or (char > "\x7f" and unicodedata.category(char)[0] == "M")
        else " "
        for char in text
    ]
    words = (word.strip("'") for word in "".join(kept).split())
    return [word for word in words if word]


def _split(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Words outside of unspaced scripts, and the camel-case ones among them as phrases."""
    plain: list[str] = []
    names: list[str] = []
    for word in words:
        rest = word
        for run in runs(word):
            rest = rest.replace(run, " ")
        for piece in rest.split():
            plain.append(_POSSESSIVE.sub("", piece)[:MAX_TOKEN])
            if len(inner := humps(piece)) > 1:
                names.append(" ".join(inner))
    return plain, names


def _numbered(words: Sequence[str]) -> list[str]:
    """A word with the number that follows it, as one phrase: `HTTP 400`, `phase 2`."""
    return [
        f"{word} {number}"
        for word, number in pairwise(words)
        if number.isdigit() and not word.isdigit() and word.lower() not in STOP_WORDS
    ]


def _longest(words: Sequence[str]) -> list[str]:
    """At most `MAX_CONSIDERED` different words, the longest ones, in their order."""
    unique = {word.lower(): word for word in words}
    if len(unique) <= MAX_CONSIDERED:
        return list(unique.values())
    kept = set(sorted(unique, key=len, reverse=True)[:MAX_CONSIDERED])
    return [word for key, word in unique.items() if key in kept]


def _quote_all(terms: Iterable[str]) -> tuple[str, ...]:
    quoted = ('"' + term.replace('"', '""') + '"' for term in terms)
    return tuple(dict.fromkeys(quoted))
