"""Plugins that installed packages announce; reads metadata, imports nothing."""

import hashlib
import re
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from importlib.metadata import Distribution, EntryPoint

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

from cloxy_core.kernel.containment import Failure, contained
from cloxy_core.kernel.plugin_state import PluginDescription, PluginState, plugin_name

GROUP = "cloxy.plugins"
HOST = "cloxy"


def installed_plugins(path: Sequence[str] | None = None) -> Iterator[PluginDescription]:
    """Describe what the group of entry points holds.

    A package whose metadata cannot be read is described as failed, under its folder's name.

    Args:
        path: folders to look in; None for `sys.path`.
    """
    seen: set[str] = set()
    for distribution in _discover(path):
        text = contained(partial(distribution.read_text, "entry_points.txt"))
        if isinstance(text, Failure):
            yield _unreadable(distribution, text)
            continue
        if not text.value or GROUP not in text.value:
            continue
        described = contained(partial(_describe, distribution, path))
        if isinstance(described, Failure):
            yield _unreadable(distribution, described)
            continue
        name = canonicalize_name(described.value[0].distribution) if described.value else ""
        if name not in seen:
            yield from described.value
        seen.add(name)


def host_fits(wants: str, host_version: str) -> bool:
    """Tell whether this version of Cloxy is one that a package asks for.

    A development version counts as the release that it will become, so that plugins for that
    release can be tried with it.

    Args:
        wants: comma-separated version specifiers; empty for any.
        host_version: version of Cloxy.
    """
    version = Version(host_version)
    specifiers = SpecifierSet(wants)
    return any(
        specifiers.contains(candidate, prereleases=True)
        for candidate in (version, Version(version.base_version))
    )


def _discover(path: Sequence[str] | None, name: str | None = None) -> Iterator[Distribution]:
    yield from Distribution.discover(name=name, path=list(sys.path if path is None else path))


def _describe(
    distribution: Distribution, path: Sequence[str] | None
) -> tuple[PluginDescription, ...]:
    name = _header(distribution, "Name")
    if not name:
        raise ValueError("its METADATA names no package")
    first = next(_discover(path, name), distribution)
    if str(first.locate_file("")) != str(distribution.locate_file("")):
        return ()  # hidden by a package of the same name earlier on the path, as for imports
    record = distribution.read_text("RECORD")
    wants = _wanted_host(distribution.requires or [])
    return tuple(
        PluginDescription(
            name=plugin_name(entry_point.name),
            target=entry_point.value,
            distribution=name,
            version=distribution.version or "",
            summary=_header(distribution, "Summary"),
            wants=wants,
            first_party=canonicalize_name(name) == HOST,
            fingerprint=hashlib.sha256(record.encode()).hexdigest() if record else "",
            entry_point=entry_point,
        )
        for entry_point in distribution.entry_points
        if entry_point.group == GROUP and _is_whole(entry_point)
    )


def _header(distribution: Distribution, name: str) -> str:
    metadata = distribution.metadata
    return str(metadata[name]) if name in metadata else ""


def _is_whole(entry_point: EntryPoint) -> bool:
    return bool(entry_point.name.strip() and entry_point.value.strip())


def _wanted_host(requirements: Sequence[str]) -> str:
    """The version specifiers of all requirements on Cloxy that apply here."""
    found: list[str] = []
    for text in requirements:
        try:
            requirement = Requirement(text)
        except InvalidRequirement:
            if re.match(rf"\s*{HOST}\b", text, re.IGNORECASE):
                raise
            continue
        applies = requirement.marker is None or requirement.marker.evaluate({"extra": ""})
        if canonicalize_name(requirement.name) == HOST and applies:
            found.append(str(requirement.specifier))
    return ",".join(part for part in found if part)


def _unreadable(distribution: Distribution, failure: Failure) -> PluginDescription:
    # The folder is all that can be told of a package without readable metadata.
    folder = getattr(distribution, "_path", None)
    place = str(folder or distribution.locate_file(""))
    return PluginDescription(
        name=plugin_name(re.split(r"[/\\]", place)[-1].partition("-")[0]) or "unknown",
        target=place,
        distribution=place,
        state=PluginState.FAILED,
        reason=f"its package cannot be read: {failure.words}",
    )
