"""What there is to say of every plugin, for people and for programs."""

from collections.abc import Iterable
from dataclasses import dataclass

from cloxy_core.kernel.host import PluginHost
from cloxy_core.kernel.plugin_state import PluginDescription, PluginState, Problem
from cloxy_core.kernel.records import short_name
from cloxy_core.kernel.source_text import locate, summary_of
from cloxy_hookspecs.seats import SEATS


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginReport:
    """One plugin.

    Attributes:
        name: its name.
        version: of its package; empty when unknown.
        distribution: its package; empty for a one-file plugin.
        summary: one line; empty when the package has none.
        state: what became of it.
        reason: why, in words; empty when it works.
        required: whether it cannot be switched off.
        first_party: whether it comes with Cloxy.
        wants: the version of Cloxy that its package asks for; empty for any.
        file: its code; empty when that cannot be told without running code.
        fingerprint: sha256 of its package's RECORD; empty when there is none.
        seats: names of its records by seat; empty unless it is loaded.
        problems: what did not work or did not fit, in words.
    """

    name: str
    version: str
    distribution: str
    summary: str
    state: PluginState
    reason: str
    required: bool
    first_party: bool
    wants: str
    file: str
    fingerprint: str
    seats: dict[str, tuple[str, ...]]
    problems: tuple[str, ...]

    def as_json(self) -> dict[str, object]:
        """The report as JSON-ready values."""
        return {
            "name": self.name,
            "version": self.version,
            "distribution": self.distribution,
            "summary": self.summary,
            "state": self.state.value,
            "reason": self.reason,
            "required": self.required,
            "first_party": self.first_party,
            "wants": self.wants,
            "file": self.file,
            "record_sha256": self.fingerprint,
            "seats": {seat: list(names) for seat, names in self.seats.items()},
            "problems": list(self.problems),
        }


def plugin_reports(host: PluginHost) -> tuple[PluginReport, ...]:
    """Report every plugin, by name.

    Asks every seat, so that the hooks of loaded plugins run; what is not loaded stays so.

    Args:
        host: the plugins.
    """
    seats = {short_name(seat): host.registry.by_plugin(seat) for seat in SEATS}
    return tuple(
        _report(
            plugin,
            {
                seat: names[plugin.name]
                for seat, names in seats.items()
                if plugin.state is PluginState.LOADED and plugin.name in names
            },
            host.registry.problems.of(plugin.name),
        )
        for plugin in host.plugins
    )


def _report(
    plugin: PluginDescription, seats: dict[str, tuple[str, ...]], problems: Iterable[Problem]
) -> PluginReport:
    told = tuple(problems) if plugin.state is PluginState.LOADED else ()
    worst = next((each for each in told if each.state is not PluginState.LOADED), None)
    file = locate(plugin.target)
    return PluginReport(
        name=plugin.name,
        version=plugin.version,
        distribution=plugin.distribution,
        # The package's summary tells nothing about one of many plugins in it.
        summary=(plugin.first_party and summary_of(file)) or plugin.summary,
        state=worst.state if worst else plugin.state,
        reason=_told(worst or told[0]) if told else plugin.reason,
        required=plugin.required,
        first_party=plugin.first_party,
        wants=plugin.wants,
        file=file,
        fingerprint=plugin.fingerprint,
        seats=seats,
        problems=tuple(map(_told, told)),
    )


def _told(problem: Problem) -> str:
    return f"{problem.where}: {problem.message}"
