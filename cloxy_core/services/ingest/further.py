"""What the settings say of sources: further ones, and which of them are watched."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from itertools import islice

from cloxy_core.core_settings import WATCH_DIRS
from cloxy_core.kernel.containment import Failure, contained, stdout_to_stderr
from cloxy_core.kernel.plugin_state import PluginState, Problem
from cloxy_core.kernel.registry import Registry
from cloxy_hookspecs import (
    CloxyError,
    HostContext,
    ParserProvider,
    SettingsView,
    Source,
    SourceProvider,
)
from cloxy_hookspecs.seats import PARSERS, SOURCES

OF_WATCH_DIRS = "claude-code"
"""Name of the source that reads the folders of `watch.dirs`."""

MOST = 1_000
"""Records of one source: one that never ends is cut off here."""

Further = Callable[[HostContext], Iterable[SourceProvider | ParserProvider]]


def take_further(registry: Registry, context: Callable[[str], HostContext]) -> None:
    """Put the further sources of all sources, and their parsers, into their seats.

    Each source is asked once, however often this is called. What cannot be named is noted as a
    problem of its plugin, and the others go on.

    Args:
        registry: has the sources; its settings are complete.
        context: the context of a plugin, by its name.
    """
    for record in registry.all(SOURCES):
        further = record.further
        if further is None or record.name in registry.extended:
            continue
        registry.extended.add(record.name)
        plugin = registry.owner(record)
        host = context(plugin)
        with stdout_to_stderr():
            found = contained(partial(_named, further, host))
        if isinstance(found, Failure):
            error = found.error
            words = str(error) if isinstance(error, CloxyError) else found.words
            message = f"the further sources could not be named: {words}"
            registry.problems.add(Problem(plugin, record.name, message, PluginState.FAILED))
            continue
        parsers = [each for each in found.value if isinstance(each, ParserProvider)]
        registry.extend(PARSERS, plugin, parsers)
        others = [each for each in found.value if not isinstance(each, ParserProvider)]
        registry.extend(SOURCES, plugin, others)


def watched_sources(
    records: Iterable[SourceProvider], made: Mapping[str, Source], settings: SettingsView
) -> Mapping[str, Source]:
    """The sources that are watched: all that were made, unless `watch.dirs` names folders.

    Those folders hold what the first source reads: the variable is older than the others. What
    settings of its own name is read beside them.

    Args:
        records: of all sources.
        made: the sources that could be made, by name.
        settings: what people set.
    """
    chosen = bool(settings[WATCH_DIRS])
    return {
        record.name: source
        for record in records
        if (source := made.get(record.name)) is not None
        and (
            not chosen
            or record.name == OF_WATCH_DIRS
            or (record.own_folders and bool(source.roots()))
        )
    }


def _named(further: Further, host: HostContext) -> list[SourceProvider | ParserProvider]:
    return list(islice(further(host), MOST))
