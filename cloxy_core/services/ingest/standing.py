"""How each source stands: what is told of it besides its files."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from cloxy_hookspecs import SourceFailure


@dataclass(slots=True)
class Standing:
    """One source since start.

    Attributes:
        unknown: record types that are not understood.
        failures: what could not be looked at, and why, by address.
        passed_over: what is left out by rule, and why, by address.
        last_success: when a look at it last ended without a failure, milliseconds UTC.
    """

    unknown: Counter[str] = field(default_factory=Counter)
    failures: dict[str, str] = field(default_factory=dict)
    passed_over: dict[str, str] = field(default_factory=dict)
    last_success: int | None = None

    def note(self, failures: Sequence[SourceFailure], *, whole: bool) -> Sequence[SourceFailure]:
        """Take in what a look could not look at; those that are new.

        Args:
            failures: of the look.
            whole: whether everything was looked at, so that others are over.
        """
        known = {**self.failures, **self.passed_over}
        if whole:
            self.failures, self.passed_over = {}, {}
        for failure in failures:
            told = self.passed_over if failure.deliberate else self.failures
            told[failure.uri] = failure.reason
        return [failure for failure in failures if failure.uri not in known]


@dataclass(slots=True)
class Standings:
    """All sources, by name."""

    of: dict[str, Standing] = field(default_factory=dict)

    def __getitem__(self, plugin: str) -> Standing:
        """How a source stands."""
        return self.of.setdefault(plugin, Standing())

    @property
    def unknown(self) -> Counter[str]:
        """Record types that are not understood, of all sources."""
        total: Counter[str] = Counter()
        for standing in self.of.values():
            total.update(standing.unknown)
        return total

    @property
    def failures(self) -> dict[str, str]:
        """What could not be looked at, by address."""
        return {
            uri: reason
            for standing in self.of.values()
            for uri, reason in standing.failures.items()
        }
