"""What a redaction rule is, and how one rule finds its secrets in a text."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple


class Span(NamedTuple):
    """A stretch of text that holds a secret: half-open character offsets and its kind."""

    start: int
    end: int
    kind: str


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind of secret, as data, so that a list of rules can be extended.

    Attributes:
        kind: Name shown in the marker: lower-case letters, digits and underscores.
        triggers: Literals of which at least one occurs in every text the rule can match; the
            pattern is tried only where one was seen. Empty means "try on every text", which
            is right only for patterns that begin with a small character class.
        pattern: What to match. An anchored pattern starts exactly at its trigger (it may look
            behind); repeats must be bounded or possessive, because `re` has no time limit.
        group: Which group of the pattern is the secret; 0 is the whole match.
        anchored: False when the secret begins before the trigger; the pattern is then searched
            for in the whole text.
        ignore_case: The triggers are compared without regard to case and must be lower case.
        in_run: Every match begins with at least 20 characters of `A-Za-z0-9_.-` in a row, the
            trigger among them. Such rules cost nothing on text that has no run of that length.
        accept: Last word on a match, for example a shape check; None accepts every match.
        within: Searched for inside `group`; every hit is a secret of its own (its group 1).
    """

    kind: str
    triggers: tuple[str, ...]
    pattern: re.Pattern[str]
    group: int | str = 0
    anchored: bool = True
    ignore_case: bool = False
    in_run: bool = False
    accept: Callable[[re.Match[str]], bool] | None = None
    within: re.Pattern[str] | None = None

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[a-z0-9_]+", self.kind):
            raise ValueError(
                f"rule kind {self.kind!r}: use lower-case letters, digits and underscores only"
            )
        if self.ignore_case and any(trigger != trigger.lower() for trigger in self.triggers):
            raise ValueError(f"rule {self.kind!r}: triggers that ignore case must be lower case")
        if "" in self.triggers:
            raise ValueError(f"rule {self.kind!r}: a trigger must not be empty")
        if self.anchored and not self.triggers:
            raise ValueError(f"rule {self.kind!r}: without triggers set anchored=False")


def spans_of(rule: Rule, match: re.Match[str]) -> Iterator[Span]:
    """Yield the secrets of one match, nothing when the rule does not accept it."""
    start, end = match.span(rule.group)
    if start < 0 or start == end or (rule.accept is not None and not rule.accept(match)):
        return
    if rule.within is None:
        yield Span(start, end, rule.kind)
        return
    for inner in rule.within.finditer(match.string, start, end):
        yield Span(*inner.span(1), rule.kind)
