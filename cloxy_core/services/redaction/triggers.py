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
_DIGIT = re.compile(rb"[0-9]")


class TriggerIndex:
    """Tells where each of a fixed set of literals occurs in a text."""

    def __init__(self, triggers: Iterable[str]) -> None:
        self._literals = tuple(sorted(set(triggers)))

    def occurrences(self, text: str) -> list[tuple[str, int]]:
        """Return (trigger, offset) of every occurrence; ascending offsets per trigger."""
        present = [literal for literal in self._literals if literal in text]
        return [(literal, offset) for literal in present for offset in _offsets(literal, text)]


class RunTriggerIndex:
    """The same for literals that stand in a long run of token characters."""

    def __init__(self, triggers: Iterable[str]) -> None:
        literals = sorted(set(triggers))
        self._tailed = frozenset(t for t in literals if t[-1] in _TAIL_CHARACTERS)
        self._plain = tuple(t for t in literals if t not in self._tailed)
        self._lengths = tuple(sorted({len(t) for t in self._tailed}))
        self._scanner = _scanner(self._tailed)

    def occurrences(self, text: str, runs: str) -> list[tuple[str, int]]:
        """Return the occurrences in a text of the literals that its runs hold."""
        present = {literal for literal in self._plain if literal in runs}
        if self._scanner is not None:
            for hit in self._scanner.finditer(runs):
                end = hit.end()
                tails = (runs[max(0, end - length) : end] for length in self._lengths)
                present.update(tail for tail in tails if tail in self._tailed)
        return [(t, offset) for t in sorted(present) for offset in _offsets(t, text)]


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


def _offsets(literal: str, text: str) -> Iterator[int]:
    offset = text.find(literal)
    while offset >= 0:
        yield offset
        offset = text.find(literal, offset + 1)


def _scanner(tailed: Iterable[str]) -> re.Pattern[str] | None:
    """Compile one pattern that matches the last character of every literal."""
    by_length: dict[int, list[str]] = defaultdict(list)
    for literal in sorted(tailed):
        by_length[len(literal)].append(re.escape(literal))
    if not by_length:
        return None
    # The class in front lets the engine skip to the next candidate without trying branches.
    branches = "|".join(f"(?<={'|'.join(literals)})" for literals in by_length.values())
    return re.compile(f"[{re.escape(_TAIL_CHARACTERS)}](?:{branches})")
