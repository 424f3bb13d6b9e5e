"""Who sits in each seat. One mechanism for all of them; a seat is asked when first used."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from threading import RLock
from types import MappingProxyType
from typing import Any, TypeVar, cast

import pluggy

from cloxy_core.kernel.containment import Failure, contained, stdout_to_stderr
from cloxy_core.kernel.plugin_state import CORE, PluginState, Problem, Problems
from cloxy_core.kernel.records import record_fault, record_name, short_name, sort_key
from cloxy_core.kernel.settings import Layer, Settings
from cloxy_hookspecs.errors import CloxyError, MissingExtraError, PluginError, SettingError
from cloxy_hookspecs.providers.base import Provider
from cloxy_hookspecs.seats import Arity, Seat

P = TypeVar("P")

NONE = "none"
"""What a setting says for no record of an OPTIONAL seat."""

_MOST_RECORDS = 1_000
"""Of one plugin in one seat: a hook that never ends is cut off here."""


@dataclass(frozen=True, slots=True)
class RecordSwitches:
    """What people decided about single records; each may be written with its seat.

    Attributes:
        disabled: records that are off: `name` or `seat.name`.
        preferred: record by key where several have the key: `key` or `seat.key`.
    """

    disabled: frozenset[str] = frozenset()
    preferred: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Owned:
    record: Any
    plugin: str


class Registry:
    """The records of all seats, typed by the seat."""

    def __init__(
        self,
        manager: pluggy.PluginManager,
        settings: Settings,
        *,
        switches: RecordSwitches | None = None,
        first_party: Iterable[str] = (),
        problems: Problems | None = None,
    ) -> None:
        """Ask nobody yet.

        Args:
            manager: has the plugins.
            settings: name the winners of seats.
            switches: decisions about single records.
            first_party: names of Cloxy's own plugins; the core's is known.
            problems: gets what is refused.
        """
        self.problems = problems or Problems()
        self.extended: set[str] = set()
        """Names of records that were asked for further ones."""
        self._manager = manager
        self._settings = settings
        self._switches = switches or RecordSwitches()
        self._first_party = frozenset(first_party) | {CORE}
        self._seats: dict[str, tuple[_Owned, ...]] = {}
        self._switched_off: set[str] = set()
        self._left: dict[str, list[_Owned]] = {}
        self._lock = RLock()

    def all(self, seat: Seat[P]) -> tuple[P, ...]:
        """All records that are enabled.

        A CHAIN comes in order; every other seat with the core's records first, then those of
        first-party plugins, then of others by plugin name.
        """
        return tuple(cast("P", owned.record) for owned in self._owned(seat))

    def one(self, seat: Seat[P]) -> P:
        """The record of a ONE seat that its setting names.

        Raises:
            SettingError: no enabled plugin brings the one that is named; names the choices.
            ValueError: the seat is not a ONE seat.
        """
        if seat.arity is not Arity.ONE or seat.setting is None:
            raise ValueError(f"{seat.hook} does not take exactly one record")
        records = {record_name(record): record for record in self.all(seat)}
        wanted = str(self._settings.named(seat.setting) or seat.default)
        if wanted not in records:
            place = self._settings.explain(seat.setting).place
            choices = ", ".join(sorted(records)) or "none, since no enabled plugin brings one"
            raise SettingError(
                f"{seat.setting} ({place}): there is no {wanted!r}", hint=f"choices: {choices}"
            )
        return records[wanted]

    def optional(self, seat: Seat[P], settings: Settings | None = None) -> P | None:
        """The record of an OPTIONAL seat that its setting names; None when it names none.

        A default that no enabled plugin brings is none, too: its plugin is switched off.

        Args:
            seat: the seat.
            settings: name the record; by default those that the registry was made with.

        Raises:
            SettingError: somebody named one that no enabled plugin brings; names the choices.
            ValueError: the seat is not an OPTIONAL seat.
        """
        if seat.arity is not Arity.OPTIONAL or seat.setting is None:
            raise ValueError(f"{seat.hook} does not take none or one record")
        settings = settings or self._settings
        wanted = str(settings.named(seat.setting) or NONE)
        records = {record_name(record): record for record in self.all(seat)}
        if wanted == NONE or wanted in records:
            return records.get(wanted)
        given = settings.explain(seat.setting)
        if given.layer is Layer.DEFAULT:
            return None
        raise SettingError(
            f"{seat.setting} ({given.place}): there is no {wanted!r}",
            hint="choices: " + ", ".join([*sorted(records), NONE]),
        )

    def keyed(self, seat: Seat[P]) -> Mapping[str, P]:
        """The records of a KEYED seat by key, in the order of `all`.

        Raises:
            SettingError: the record that is preferred for a key is not there.
            ValueError: the seat is not a KEYED seat.
        """
        if seat.arity is not Arity.KEYED or seat.key is None:
            raise ValueError(f"{seat.hook} does not take one record for each key")
        candidates: dict[str, list[_Owned]] = {}
        for owned in self._owned(seat):
            candidates.setdefault(getattr(owned.record, seat.key), []).append(owned)
        return MappingProxyType(
            {
                key: cast("P", self._winner(seat, key, records).record)
                for key, records in candidates.items()
            }
        )

    def owner(self, record: object) -> str:
        """Name of the plugin that a record came from.

        Raises:
            PluginError: no seat has it.
        """
        with self._lock:
            for seat in self._seats.values():
                for owned in seat:
                    if owned.record is record:
                        return owned.plugin
        raise PluginError(f"the record {record_name(record)!r} came from no plugin")

    def by_plugin(self, seat: Seat[Any]) -> Mapping[str, tuple[str, ...]]:
        """Names of the records of a seat by plugin."""
        names: dict[str, tuple[str, ...]] = {}
        for owned in self._owned(seat):
            names[owned.plugin] = (*names.get(owned.plugin, ()), record_name(owned.record))
        return names

    def unused_switches(self, seats: Iterable[Seat[Any]]) -> tuple[str, ...]:
        """Disabled names that fit no record of the seats; asks all of them."""
        for seat in seats:
            self._owned(seat)
        return tuple(sorted(self._switches.disabled - self._switched_off))

    def switched_off(self, seat: Seat[P]) -> tuple[tuple[P, str], ...]:
        """Records that somebody switched off, each with the plugin that brings it."""
        self._owned(seat)
        return tuple((owned.record, owned.plugin) for owned in self._left.get(seat.hook, ()))

    def extend(self, seat: Seat[Any], plugin: str, records: Iterable[object]) -> None:
        """Take records of a plugin that it could not name when its hook was asked.

        They come after all others, and are refused and switched off as those are.
        """
        with self._lock:
            known = self._owned(seat)
            self._seats[seat.hook] = self._chosen(seat, self._fit(seat, plugin, records), known)

    def _owned(self, seat: Seat[Any]) -> tuple[_Owned, ...]:
        with self._lock:
            if seat.hook not in self._seats:
                self._seats[seat.hook] = self._chosen(seat, self._ask_all(seat))
            return self._seats[seat.hook]

    def _chosen(
        self, seat: Seat[Any], found: Iterable[_Owned], known: Iterable[_Owned] = ()
    ) -> tuple[_Owned, ...]:
        """Those that are known and those of the found that are on, each name once."""
        chosen = {record_name(owned.record): owned for owned in known}
        for owned in found:
            name = record_name(owned.record)
            if _is_switchable(seat) and (off := _names(seat, name) & self._switches.disabled):
                self._switched_off |= off
                self._left.setdefault(seat.hook, []).append(owned)
                continue
            first = chosen.setdefault(name, owned)
            if first is not owned:
                self._refuse(seat, owned.plugin, f"{name!r} is taken by {first.plugin}")
        if seat.arity is not Arity.CHAIN:
            return tuple(chosen.values())
        key = sort_key(seat)
        return tuple(sorted(chosen.values(), key=lambda owned: key(owned.record)))

    def _ask_all(self, seat: Seat[Any]) -> list[_Owned]:
        """Every record that is fit for the seat, strongest claim to a name first."""
        caller: pluggy.HookCaller = getattr(self._manager.hook, seat.hook)
        implementations = sorted(caller.get_hookimpls(), key=self._rank)
        return [
            owned
            for implementation in implementations
            for owned in self._ask(seat, implementation.plugin_name, implementation.function)
        ]

    def _rank(self, implementation: pluggy.HookImpl) -> tuple[int, str]:
        name = implementation.plugin_name
        return (0 if name == CORE else 1 if name in self._first_party else 2), name

    def _ask(self, seat: Seat[Any], plugin: str, hook: Callable[[], Any]) -> list[_Owned]:
        with stdout_to_stderr():
            yielded = contained(lambda: list(islice(iter(hook()), _MOST_RECORDS + 1)))
        if isinstance(yielded, Failure):
            self._refuse_failure(seat, plugin, yielded)
            return []
        if len(yielded.value) > _MOST_RECORDS:
            self._refuse(seat, plugin, f"yielded more than {_MOST_RECORDS} records")
            return []
        return self._fit(seat, plugin, yielded.value)

    def _fit(self, seat: Seat[Any], plugin: str, records: Iterable[object]) -> list[_Owned]:
        fit: list[_Owned] = []
        for record in records:
            fault = self._fault(seat, record, plugin)
            if fault:
                self._refuse(seat, plugin, fault)
            else:
                fit.append(_Owned(record, plugin))
        return fit

    def _fault(self, seat: Seat[Any], record: object, plugin: str) -> str:
        first_party = plugin in self._first_party
        checked = contained(lambda: record_fault(seat, record, plugin, first_party=first_party))
        return checked.words if isinstance(checked, Failure) else checked.value

    def _winner(self, seat: Seat[Any], key: str, candidates: list[_Owned]) -> _Owned:
        preferred = self._switches.preferred
        name = preferred.get(f"{short_name(seat)}.{key}") or preferred.get(key)
        winner = candidates[0]
        if name is not None:
            by_name = {record_name(owned.record): owned for owned in candidates}
            if name not in by_name:
                raise SettingError(
                    f"providers.prefer: there is no {name!r} for {seat.key} {key!r}",
                    hint="choices: " + ", ".join(sorted(by_name)),
                )
            winner = by_name[name]
        for owned in candidates:
            if owned is not winner:
                loser = record_name(owned.record)
                self._refuse(
                    seat,
                    owned.plugin,
                    f"{loser!r} is not used: {record_name(winner.record)!r} of {winner.plugin} "
                    f"has the {seat.key} {key!r}",
                )
        return winner

    def _refuse_failure(self, seat: Seat[Any], plugin: str, failure: Failure) -> None:
        error = failure.error
        words = str(error) if isinstance(error, CloxyError) else f"raised {failure.words}"
        is_extra = isinstance(error, MissingExtraError)
        state = PluginState.MISSING_EXTRA if is_extra else PluginState.FAILED
        self.problems.add(Problem(plugin, short_name(seat), words, state))

    def _refuse(self, seat: Seat[Any], plugin: str, message: str) -> None:
        # The plugin goes on with its other records.
        self.problems.add(Problem(plugin, short_name(seat), message, PluginState.LOADED))


def _is_switchable(seat: Seat[Any]) -> bool:
    return all(issubclass(kind, Provider) for kind in seat.record)


def _names(seat: Seat[Any], name: str) -> frozenset[str]:
    return frozenset((name, f"{short_name(seat)}.{name}"))
