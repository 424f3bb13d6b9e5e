"""What is known of each plugin, and what went wrong with it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from importlib.metadata import EntryPoint
from threading import Lock

CORE = "core"
REQUIRED = {
    "chunking": "without it no message can be made into memories",
    "fts5": "without it nothing can be found",
    "memory": "without it no command and no request is answered",
    "ranking": "without it no answer can be put in order",
}


class PluginState(Enum):
    """What became of a plugin."""

    FOUND = "found"
    DISABLED = "disabled"
    INCOMPATIBLE = "incompatible"
    DUPLICATE = "duplicate"
    MISSING_EXTRA = "missing-extra"
    FAILED = "failed"
    LOADED = "loaded"


@dataclass(frozen=True, slots=True)
class PluginChoice:
    """Which plugins are wanted.

    Attributes:
        disabled: names that are switched off.
        only: names that alone are wanted, beside the required ones; empty for all.
        pins: distribution by name, where several offer the name.
    """

    disabled: frozenset[str] = frozenset()
    only: frozenset[str] = frozenset()
    pins: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(
        cls, *, disabled: Iterable[str], only: Iterable[str], pins: Mapping[str, str]
    ) -> "PluginChoice":
        """The choice as people write it, where `-` and `_` are the same."""
        return cls(
            frozenset(map(plugin_name, disabled)),
            frozenset(map(plugin_name, only)),
            {plugin_name(name): distribution for name, distribution in pins.items()},
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginDescription:
    """A plugin as far as it is known without importing it.

    Attributes:
        name: its name, with `_` for `-`.
        target: what its entry point names, or the file of a one-file plugin.
        distribution: the package that brings it; empty for a one-file plugin.
        version: of the package; empty when unknown.
        summary: the package's summary, or the first line of a one-file plugin.
        wants: the version of Cloxy that the package asks for; empty for any.
        first_party: whether it comes with Cloxy.
        state: what became of it.
        reason: why, in words; empty for a plugin that works.
        fingerprint: sha256 of the package's RECORD; empty when there is none.
        entry_point: how it is loaded; None when it cannot be.
    """

    name: str
    target: str
    distribution: str
    version: str = ""
    summary: str = ""
    wants: str = ""
    first_party: bool = False
    state: PluginState = PluginState.FOUND
    reason: str = ""
    fingerprint: str = ""
    entry_point: EntryPoint | None = field(default=None, repr=False, compare=False)

    @property
    def required(self) -> bool:
        """Whether it cannot be switched off."""
        return self.first_party and self.name in REQUIRED

    @property
    def origin(self) -> str:
        """Where it comes from, for people."""
        return self.distribution or self.target

    def marked(self, state: PluginState, reason: str) -> "PluginDescription":
        """The same plugin in another state."""
        return replace(self, state=state, reason=reason)


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that a plugin did wrong, or that did not fit; the rest goes on.

    Attributes:
        plugin: its name.
        where: the seat, record or step concerned.
        message: in words.
        state: the state that it puts a plugin in which is otherwise loaded.
    """

    plugin: str
    where: str
    message: str
    state: PluginState = PluginState.FAILED


class Problems:
    """The problems so far; may be told from any thread."""

    def __init__(self) -> None:
        self._problems: list[Problem] = []
        self._lock = Lock()

    def add(self, problem: Problem) -> None:
        """Note a problem; the same one is noted once."""
        with self._lock:
            if problem not in self._problems:
                self._problems.append(problem)

    def all(self) -> tuple[Problem, ...]:
        """All problems, oldest first."""
        with self._lock:
            return tuple(self._problems)

    def of(self, plugin: str) -> tuple[Problem, ...]:
        """The problems of one plugin, oldest first."""
        return tuple(problem for problem in self.all() if problem.plugin == plugin)


def plugin_name(text: str) -> str:
    """A plugin's name in the one form that is used inside: `-` written as `_`."""
    return text.strip().replace("-", "_")
