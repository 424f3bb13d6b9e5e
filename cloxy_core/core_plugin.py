"""What the core itself brings to the seats: it fills them as every plugin does."""

from collections.abc import Iterable
from typing import Any

from cloxy_core.core_settings import CORE_SETTINGS
from cloxy_core.store.checks import CORE_CHECKS
from cloxy_core.store.core_migrations import CORE_MIGRATIONS
from cloxy_hookspecs import CheckProvider, Migration, Setting, hookimpl


@hookimpl
def cloxy_settings() -> Iterable[Setting[Any]]:
    """The core's own settings."""
    return CORE_SETTINGS


@hookimpl
def cloxy_migrations() -> Iterable[Migration]:
    """The core tables."""
    return CORE_MIGRATIONS


@hookimpl
def cloxy_checks() -> Iterable[CheckProvider]:
    """Whether the database is sound."""
    return CORE_CHECKS
