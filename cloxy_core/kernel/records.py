"""What a record must be to take its seat: type, name and the fields that the kernel uses."""

import re
from collections.abc import Callable
from typing import Any

from cloxy_core.kernel.plugin_state import CORE
from cloxy_hookspecs.providers.base import Provider
from cloxy_hookspecs.providers.llm import HostedModelProvider
from cloxy_hookspecs.providers.platform import Migration
from cloxy_hookspecs.providers.web import ExtractorProvider, SanitizerProvider
from cloxy_hookspecs.seats import Arity, Seat
from cloxy_hookspecs.types.settings import Setting

_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_TARGET = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*")
_SETTING_NAME = re.compile(r"[a-z][a-z0-9_-]*(\.[a-z][a-z0-9_-]*)+")


def short_name(seat: Seat[Any]) -> str:
    """The seat's name as people write it: the hook without `cloxy_`."""
    return seat.hook.removeprefix("cloxy_")


def record_name(record: object) -> str:
    """What a record is told apart by within its seat."""
    if isinstance(record, Migration):
        return f"{record.owner}-{record.number}"
    return str(getattr(record, "name", "?"))


def record_fault(seat: Seat[Any], record: object, plugin: str, *, first_party: bool) -> str:
    """What is wrong with a record, in words; empty when it may take the seat.

    Args:
        seat: the seat that it was yielded for.
        record: what the plugin yielded.
        plugin: the plugin's name.
        first_party: whether the plugin comes with Cloxy.
    """
    if not isinstance(record, seat.record):
        wanted = " or ".join(kind.__name__ for kind in seat.record)
        return f"yielded {type(record).__name__}; wants {wanted}"
    if isinstance(record, Migration):
        return _migration_fault(record, plugin)
    if isinstance(record, Setting):
        return _setting_fault(record, plugin, first_party=first_party)
    name = _field(record, "name")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        return f"{name!r} cannot be a name; wants small letters, digits and single hyphens"
    if isinstance(record, Provider):
        return _provider_fault(seat, record)
    return ""


def sort_key(seat: Seat[Any]) -> Callable[[Any], tuple[Any, ...]]:
    """What the records of a CHAIN are ordered by; the core's migrations come first."""
    if Migration in seat.record:
        return lambda record: (record.owner != CORE, record.owner, record.number)
    return lambda record: (record.order, record.name)


# Types promise what these fields are, but plugins need not be type-checked: a field is looked
# at as an object of any class.


def _migration_fault(record: Migration, plugin: str) -> str:
    owner, number = _field(record, "owner"), _field(record, "number")
    if owner != plugin:
        return f"owner is {owner!r}; wants the plugin's own name {plugin!r}"
    if not _is_integer(number) or record.number < 1:
        return f"number is {number!r}; wants 1, 2, 3 and so on"
    return "" if callable(_field(record, "apply")) else "apply is not callable"


def _setting_fault(record: Setting[Any], plugin: str, *, first_party: bool) -> str:
    name = _field(record, "name")
    if not isinstance(name, str) or not _SETTING_NAME.fullmatch(name):
        return f"{name!r} cannot be a setting's name; wants group.key in small letters"
    group = name.partition(".")[0]
    if not first_party and group.replace("-", "_") != plugin:
        return f"{name!r} lies outside the plugin's own group; wants {plugin}.…"
    return "" if callable(_field(record, "parse")) else f"parse of {name!r} is not callable"


def _provider_fault(seat: Seat[Any], record: Provider) -> str:
    name, requires = record.name, _field(record, "requires")
    if not isinstance(_field(record, "summary"), str):
        return f"summary of {name!r} is not text"
    if not isinstance(requires, tuple) or not all(isinstance(port, type) for port in requires):
        return f"requires of {name!r} is not a tuple of ports"
    if isinstance(record, (SanitizerProvider, ExtractorProvider)):
        fault = _page_fault(record)
        if fault:
            return fault
    elif isinstance(record, HostedModelProvider):
        fault = _hosted_fault(record)
        if fault:
            return fault
    elif not callable(_field(record, "create")):
        return f"create of {name!r} is not callable"
    if seat.arity is Arity.CHAIN and not _is_integer(_field(record, "order")):
        return f"order of {name!r} is not a whole number"
    if seat.key is not None:
        key = _field(record, seat.key)
        if not isinstance(key, str) or not key:
            return f"{seat.key} of {name!r} is not a name"
    return ""


def _target_fault(record: Provider) -> str:
    """What runs in another process is told by name, and makes nothing here."""
    target = _field(record, "target")
    if not isinstance(target, str) or not _TARGET.fullmatch(target):
        return f"target of {record.name!r} is not module:function"
    return ""


def _hosted_fault(record: HostedModelProvider) -> str:
    fault = _target_fault(record)
    if fault:
        return fault
    modules, settings = _field(record, "modules"), _field(record, "settings")
    if not isinstance(modules, tuple) or not all(isinstance(each, str) for each in modules):
        return f"modules of {record.name!r} is not a tuple of names"
    if not isinstance(settings, tuple) or not all(isinstance(each, Setting) for each in settings):
        return f"settings of {record.name!r} is not a tuple of settings"
    if _field(record, "format") not in ("gguf", "mlx"):
        return f"format of {record.name!r} is not gguf or mlx"
    return (
        ""
        if callable(_field(record, "available"))
        else f"available of {record.name!r} is not callable"
    )


def _page_fault(record: SanitizerProvider | ExtractorProvider) -> str:
    fault = _target_fault(record)
    if fault:
        return fault
    lists = ["media_types"] + ["modes"] * isinstance(record, ExtractorProvider)
    for name in lists:
        value = _field(record, name)
        texts = isinstance(value, tuple) and all(isinstance(each, str) and each for each in value)
        if not texts or not value:
            return f"{name} of {record.name!r} is not a tuple of names"
    return ""


def _field(record: object, name: str) -> object:
    return getattr(record, name, None)


def _is_integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
