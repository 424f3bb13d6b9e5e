"""Replacing secrets by markers that name their kind."""

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from cloxy_core.services.redaction.private import strip_private_blocks
from cloxy_core.services.redaction.rule import Rule, Span, spans_of
from cloxy_core.services.redaction.triggers import RunTriggerIndex, TriggerIndex, long_runs

MARKER = re.compile(r"\[REDACTED:[a-z0-9_]+\]")
_MARKER_START = "[REDACTED:"
_MOST_NESTED = 24
_NOTHING: Mapping[str, int] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Redaction:
    """A text without its secrets.

    Attributes:
        text: The text with every secret replaced by `[REDACTED:kind]`.
        counts: How many secrets of each kind were replaced; empty when the text is untouched.
    """

    text: str
    counts: Mapping[str, int]


class Redactor:
    """Applies a list of rules; where secrets overlap, the earlier rule names the kind."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._rules = tuple(rules)
        numbered = tuple(enumerate(self._rules))
        self._plain = _RuleIndex((n, r) for n, r in numbered if not (r.ignore_case or r.in_run))
        self._folded = _RuleIndex((n, r) for n, r in numbered if r.ignore_case and not r.in_run)
        self._in_run = _RuleIndex((n, r) for n, r in numbered if r.in_run)
        self._plain_triggers = TriggerIndex(self._plain.triggers)
        self._folded_triggers = TriggerIndex(self._folded.triggers)
        self._run_triggers = RunTriggerIndex(self._in_run.triggers)

    def redact(self, text: str) -> Redaction:
        """Replace every secret; the same string object comes back when there is none.

        Redacting a second time changes nothing: passes repeat until one finds no secret, and
        markers are walls that no secret crosses.
        """
        spans = self._merged(text)
        if not spans:
            return Redaction(text, _NOTHING)
        counts: Counter[str] = Counter()
        while spans:
            counts.update(span.kind for span in spans)
            text = _replace(text, spans)
            spans = self._merged(text)
        return Redaction(text, dict(counts))

    def clean(self, text: str) -> Redaction:
        """Prepare a text for storage: characters no store can hold, private blocks, secrets."""
        stripped, blocks = strip_private_blocks(storable(text))
        redaction = self.redact(stripped)
        if not blocks:
            return redaction
        return Redaction(redaction.text, {**redaction.counts, "private": blocks})

    def _merged(self, text: str) -> list[Span]:
        """Return the secrets of a text in order, overlapping ones joined."""
        walls = [m.span() for m in MARKER.finditer(text)] if _MARKER_START in text else []
        found = sorted(self._found(text, walls))
        merged: list[tuple[int, int, int]] = []
        for start, end, number in found:
            if merged and start < merged[-1][1]:
                last_start, last_end, last_number = merged[-1]
                merged[-1] = (last_start, max(end, last_end), min(number, last_number))
            else:
                merged.append((start, end, number))
        return [Span(start, end, self._rules[number].kind) for start, end, number in merged]

    def _found(self, text: str, walls: list[tuple[int, int]]) -> Iterator[tuple[int, int, int]]:
        """Yield (start, end, rule number) of every secret that touches no marker."""
        for number, match in self._matches(text):
            if _touches(walls, match.start(), match.start() + 1):
                continue
            for span in spans_of(self._rules[number], match):
                if not _touches(walls, span.start, span.end):
                    yield span.start, span.end, number

    def _matches(self, text: str) -> Iterator[tuple[int, re.Match[str]]]:
        """Yield every match of every rule whose trigger occurs."""
        if (places := self._plain_triggers.occurrences(text)) or self._plain.untriggered:
            yield from self._plain.matches(text, places)
        if places := self._folded_triggers.occurrences(fold(text)):
            yield from self._folded.matches(text, places)
        if runs := long_runs(text):
            places = self._run_triggers.occurrences(text, runs)
            if places or any(r.pattern.search(runs) for r in self._in_run.untriggered.values()):
                yield from self._in_run.matches(text, places)


class _Progress:
    """How far one rule has come for one trigger, to keep the work linear."""

    __slots__ = ("crowd", "done", "last_end")

    def __init__(self) -> None:
        self.done = self.last_end = self.crowd = 0

    def note(self, rule: Rule, match: re.Match[str]) -> None:
        """Take note of a match: where the next occurrence is worth a look."""
        # A value may hold another name, so triggers inside it are tried, but not without end.
        self.crowd = self.crowd + 1 if match.start() < self.last_end else 0
        self.last_end = max(self.last_end, match.end())
        if rule.group == 0 or rule.within is not None or self.crowd > _MOST_NESTED:
            self.done = self.last_end
            self.crowd = 0


class _RuleIndex:
    """Rules of one way of looking for triggers, by trigger."""

    def __init__(self, numbered: Iterable[tuple[int, Rule]]) -> None:
        self._by_trigger: dict[str, list[tuple[int, Rule]]] = defaultdict(list)
        self.untriggered: dict[int, Rule] = {}
        for number, rule in numbered:
            for trigger in rule.triggers:
                self._by_trigger[trigger].append((number, rule))
            if not rule.triggers:
                self.untriggered[number] = rule
        self.triggers = tuple(self._by_trigger)

    def matches(
        self, text: str, occurrences: Iterable[tuple[str, int]]
    ) -> Iterator[tuple[int, re.Match[str]]]:
        """Try anchored rules where their triggers occur and search once for the others."""
        searched = dict(self.untriggered)
        progress: dict[tuple[str, int], _Progress] = defaultdict(_Progress)
        for trigger, offset in occurrences:
            for number, rule in self._by_trigger[trigger]:
                if not rule.anchored:
                    searched[number] = rule
                    continue
                seen = progress[trigger, number]
                if offset >= seen.done and (match := rule.pattern.match(text, offset)):
                    seen.note(rule, match)
                    yield number, match
        for number, rule in searched.items():
            for match in rule.pattern.finditer(text):
                yield number, match


def fold(text: str) -> str:
    """Lower the case of a text without moving any character."""
    # The dotted capital I is the one character whose lower-case form is longer.
    lowered = text.lower()
    return lowered if len(lowered) == len(text) else text.replace("İ", "i").lower()


def storable(text: str) -> str:
    """Join surrogate pairs, replace lone surrogates by U+FFFD, and remove NUL."""
    if "\0" in text:
        text = text.replace("\0", "")
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def _touches(walls: list[tuple[int, int]], start: int, end: int) -> bool:
    """Tell whether a stretch overlaps one of the walls, which are in order and apart."""
    if not walls:
        return False
    before = bisect_left(walls, (end, 0))
    return before > 0 and walls[before - 1][1] > start


def _replace(text: str, spans: list[Span]) -> str:
    parts: list[str] = []
    position = 0
    for span in spans:
        parts += text[position : span.start], f"{_MARKER_START}{span.kind}]"
        position = span.end
    parts.append(text[position:])
    return "".join(parts)
