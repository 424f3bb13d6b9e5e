"""Makes back-ends of records, and a router of settings."""

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from cloxy_core.core_settings import (
    LLM_CHAT,
    LLM_EAGER,
    LLM_EXTRACT,
    LLM_FIRST_PIECE,
    LLM_IDLE,
    LLM_QUEUE,
    LLM_REFLECT,
    LLM_RERANK,
    LLM_THREADS,
    LLM_TIMEOUT,
    LLM_WAIT,
)
from cloxy_core.services.llm.choosing import Backends, ChoiceFile, Record
from cloxy_core.services.llm.hosting import HostedBackend, Hosting, usable_threads
from cloxy_core.services.llm.process import Target
from cloxy_core.services.llm.queue import Places
from cloxy_core.services.llm.router import Limits, Router
from cloxy_hookspecs import (
    LLM,
    HostedModelProvider,
    LLMProvider,
    ModelChoice,
    ModelRole,
    Setting,
    SettingsView,
)

ROLES: Final[Mapping[ModelRole, Setting[str]]] = {
    "chat": LLM_CHAT,
    "extract": LLM_EXTRACT,
    "reflect": LLM_REFLECT,
    "rerank": LLM_RERANK,
}


class Making:
    """Implements `Makes`, by the settings."""

    def __init__(self, settings: SettingsView, create: Callable[[LLMProvider], LLM]) -> None:
        """Make nothing yet.

        Args:
            settings: of the core and of plugins.
            create: makes what the record of a plugin describes.
        """
        self._settings = settings
        self._create = create

    def llm(self, record: LLMProvider) -> LLM:
        """One that reaches its models by itself.

        Raises:
            PluginError: it cannot be made.
        """
        return self._create(record)

    def hosted(
        self, record: HostedModelProvider, choice: Callable[[], ModelChoice]
    ) -> HostedBackend:
        """One that is kept in a process."""
        module, _, function = record.target.partition(":")
        file = getattr(sys.modules.get(module), "__file__", None)
        settings = self._settings
        hosting = Hosting(
            backend=record.name,
            target=Target(module, function, None if file is None else str(file)),
            threads=usable_threads(settings[LLM_THREADS]),
            settings={each.name: plain(settings[each]) for each in record.settings},
            idle_seconds=settings[LLM_IDLE],
            load_seconds=settings[LLM_FIRST_PIECE],
        )
        return HostedBackend(hosting, choice)

    def places(self, concurrent: int) -> Places:
        """Places at one."""
        return Places(concurrent, self._settings[LLM_QUEUE], self._settings[LLM_WAIT])


def make_router(
    records: Sequence[Record],
    settings: SettingsView,
    choices: ChoiceFile,
    create: Callable[[LLMProvider], LLM],
) -> Router:
    """The router of a server.

    Args:
        records: all back-ends that are enabled.
        settings: of the core and of plugins.
        choices: the model that was set up.
        create: makes what the record of a plugin describes.

    Raises:
        SettingError: a role names a back-end that there is not.
    """
    roles: dict[ModelRole, str] = {role: settings[setting] for role, setting in ROLES.items()}
    backends = Backends(records, roles, choices, Making(settings, create))
    limits = Limits(settings[LLM_TIMEOUT], settings[LLM_FIRST_PIECE])
    return Router(backends, limits, eager=settings[LLM_EAGER])


def plain(value: object) -> object:
    """The value of a setting as JSON has it."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list | frozenset | set):
        return [plain(item) for item in value]
    return str(value) if isinstance(value, Path) else repr(value)
