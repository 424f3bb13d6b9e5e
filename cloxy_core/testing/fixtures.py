"""The bodies of the fixtures in `pytest_plugin`."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

from cloxy_core.testing.fakes import SettableClock
from cloxy_core.testing.harness import App, LazyContext


def settable_clock() -> SettableClock:
    """A clock for one test."""
    return SettableClock()


def opened_context(folder: Path, clock: SettableClock) -> Iterator[LazyContext]:
    """The context of an application for one test, closed at its end."""
    with App(folder, clock=clock) as app:
        yield app.context


def app_factory(folder: Path, clock: SettableClock) -> Iterator[Callable[..., App]]:
    """Makes running applications, each on a folder of its own, closed at the test's end."""
    with ExitStack() as stack:
        made: list[App] = []

        def make(
            *,
            plugins: Mapping[str, object] | None = None,
            settings: Mapping[str, str] | None = None,
        ) -> App:
            place = folder / f"cloxy-{len(made) + 1}"
            app = App(place, plugins=plugins, settings=settings, clock=clock)
            made.append(stack.enter_context(app))
            app.start()
            return app

        yield make
