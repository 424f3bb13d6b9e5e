"""Fixtures for authors of plugins, found by pytest through the entry point `cloxy`.

This module is imported by every run of pytest in an environment that has Cloxy, so it imports
nothing of ours: what a fixture needs is brought in when the fixture is first used.
"""

import importlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from cloxy_core.testing.fakes import SettableClock
    from cloxy_core.testing.harness import App, LazyContext

_FIXTURES = "cloxy_core.testing.fixtures"

# Only by name: an author whose conformance test fails is to see the values, not a bare assert.
pytest.register_assert_rewrite("cloxy_core.testing.conformance")


@pytest.fixture
def clock() -> "SettableClock":
    """A clock that stands still until it is told otherwise."""
    made: SettableClock = _fixtures().settable_clock()
    return made


@pytest.fixture
def cloxy_app(tmp_path: Path, clock: "SettableClock") -> "Iterator[Callable[..., App]]":
    """Makes running servers without HTTP: `cloxy_app(plugins={...}, settings={...})`."""
    yield from _fixtures().app_factory(tmp_path, clock)


@pytest.fixture
def context(tmp_path: Path, clock: "SettableClock") -> "Iterator[LazyContext]":
    """What a record's `create` is given: settings, a real store, `clock`, folders, services."""
    yield from _fixtures().opened_context(tmp_path / "cloxy", clock)


def _fixtures() -> Any:  # noqa: ANN401 - a module that is not imported yet has no type
    return importlib.import_module(_FIXTURES)
