"""Finding many trigger literals in a text in as few passes as possible."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator

# Nearly every provider ends its prefix in one of these, and they are rare enough in ordinary
# text that one scan for them, with a look behind, beats one scan per literal.
_TAIL_CHARACTERS = "_-."
_RUN_CHARACTERS = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-"
_CLASSES = bytes(ord("a") if code in _RUN_CHARACTERS else 32 for code in range(256))
_RUN = b"a" * 20
_RARE_CHARACTERS = '~*jQKGZVLBxPS"/A'
_DIGIT = re.compile(rb"[0-9]")


class TriggerIndex:
    """Tells where each of a fixed set of literals occurs in a text."""

    def __init__(self, triggers: Iterable[str]) -> None:
        literals = sorted(set(triggers))
        # What ends in an underscore is a prefix of a token: one scan serves them all.
        self._tails = _TailScanner(t for t in literals if t[-1] == "_")
        plain = tuple(t for t in literals if t[-1] != "_")
        self._plain = tuple(t for t in plain if t.isascii() and not _rarest(t))
        self._gated = tuple((_rarest(t), t) for t in plain if t.isascii() and _rarest(t))
        foreign: dict[str, list[str]] = defaultdict(list)
        for literal in plain:
            if not literal.isascii():
                foreign[max(literal)].append(literal)
        self._foreign = tuple(foreign.items())

    def occurrences(self, text: str) -> list[tuple[str, int]]:
        """Return (trigger, offset) of every occurrence; ascending offsets per trigger."""
        present = [literal for literal in self._plain if literal in text]
        # Looking for one character is many times faster than looking for several.
        present += [t for character, t in self._gated if character in text and t in text]
        if self._foreign and not text.isascii():
            for character, literals in self._foreign:
                if character in text:
                    present += [literal for literal in literals if literal in text]
        present += sorted(self._tails.present(text))
        return [(literal, offset) for literal in present for offset in _offsets(literal, text)]


class RunTriggerIndex:
    """The same for literals that stand in a long run of token characters."""

    def __init__(self, triggers: Iterable[str]) -> None:
        literals = sorted(set(triggers))
        self._tails = _TailScanner(t for t in literals if t[-1] in _TAIL_CHARACTERS)
        self._plain = tuple(t for t in literals if t[-1] not in _TAIL_CHARACTERS)

    def occurrences(self, text: str, runs: str) -> list[tuple[str, int]]:
        """Return the occurrences in a text of the literals that its runs hold."""
        present = self._tails.present(runs)
        present.update(literal for literal in self._plain if literal in runs)
        return [(t, offset) for t in sorted(present) for offset in _offsets(t, text)]


class _TailScanner:
    """Finds which of many literals occur by one scan for their last characters."""

    def __init__(self, literals: Iterable[str]) -> None:
        self._literals = frozenset(literals)
        self._lengths = tuple(sorted({len(literal) for literal in self._literals}))
        self._scanner = _scanner(self._literals)

    def present(self, text: str) -> set[str]:
        """Return the literals that occur in a text."""
        present: set[str] = set()
        if self._scanner is not None:
            for hit in self._scanner.finditer(text):
                end = hit.end()
                tails = (text[max(0, end - length) : end] for length in self._lengths)
                present.update(tail for tail in tails if tail in self._literals)
        return present


def long_runs(text: str) -> str:
    """Return the runs of 20 or more of `A-Za-z0-9_.-`, separated by spaces.

    Drawn tokens are long runs and words are short ones, so this keeps little of a text. Runs
    of lower-case letters only, such as identifiers with underscores, are left out as well.
    """
    octets = text.encode("utf-8", "replace")
    classes = octets.translate(_CLASSES)
    runs: list[bytes] = []
    end = 0
    while (start := classes.find(_RUN, end)) >= 0:
        end = classes.find(b" ", start)
        if end < 0:
            end = len(classes)
        run = octets[start:end]
        if not run.islower() or _DIGIT.search(run) is not None:
            # With the character in front, by which a pattern may recognise an escape.
            runs.append(octets[max(0, start - 1) : end])
    return b" ".join(runs).decode("latin-1")


def _rarest(literal: str) -> str:
    """Return the character of a literal that ordinary text lacks most often, or nothing."""
    return next((character for character in _RARE_CHARACTERS if character in literal), "")


def _offsets(literal: str, text: str) -> Iterator[int]:
    offset = text.find(literal)
    while offset >= 0:
        yield offset
        offset = text.find(literal, offset + 1)


def _scanner(tailed: frozenset[str]) -> re.Pattern[str] | None:
    """Compile one pattern that matches the last character of every literal."""
    by_length: dict[int, list[str]] = defaultdict(list)
    for literal in sorted(tailed):
        by_length[len(literal)].append(re.escape(literal))
    if not by_length:
        return None
    # The class in front lets the engine skip to the next candidate without trying branches.
    branches = "|".join(f"(?<={'|'.join(literals)})" for literals in by_length.values())
    last = "".join(sorted({literals[-1] for literals in tailed}))
    return re.compile(f"[{re.escape(last)}](?:{branches})")
