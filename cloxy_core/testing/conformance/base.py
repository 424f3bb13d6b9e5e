"""What is asked of every record, whatever its seat."""

import dataclasses
import functools
import inspect
import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

import pytest

from cloxy_core.kernel.plugin_state import CORE
from cloxy_core.kernel.records import record_fault, record_name
from cloxy_core.testing.fakes import SettableClock
from cloxy_core.testing.harness import App, LazyContext
from cloxy_hookspecs import Network
from cloxy_hookspecs.seats import Seat

LONGEST_SUMMARY = 120
_THREAD_SECONDS = 2.0
_IMPORT_PROBE = """
import importlib, json, sys
sys.path[:] = json.loads(sys.argv[2])
import cloxy_hookspecs
before = set(sys.modules)
importlib.import_module(sys.argv[1])
print(json.dumps(sorted(set(sys.modules) - before)))
"""


class Conformance:
    """What every record has to be.

    Attributes:
        seat: the seat that the record fills.
        expected_failures: reasons by name of a test that cannot pass yet.
    """

    seat: ClassVar[Seat[Any]]
    expected_failures: ClassVar[Mapping[str, str]] = {}
    _of_the_kit: ClassVar[bool] = True

    def __init_subclass__(cls, *, of_the_kit: bool = False, **more: object) -> None:
        """Refuse a subclass that takes tests away.

        Raises:
            TypeError: a test is deleted or replaced, or a failure is expected without a reason.
        """
        super().__init_subclass__(**more)
        cls._of_the_kit = of_the_kit
        if not of_the_kit:
            _refuse_changed_tests(cls)
            _mark_expected_failures(cls)

    @pytest.fixture
    def provider(self) -> Any:  # noqa: ANN401 - the record of any seat
        """The record under test; give it in the subclass."""
        pytest.fail(f"{type(self).__name__}: give a fixture `provider` that returns the record")

    @pytest.fixture
    def plugins(self) -> Mapping[str, object]:
        """Plugins that are not installed, by name; give them to have them loaded."""
        return {}

    @pytest.fixture
    def settings(self) -> Mapping[str, str]:
        """Texts of settings by dotted name; give them to set them."""
        return {}

    @pytest.fixture
    def network(self) -> Network | None:
        """Names and addresses of the web; give one that leads to servers of the test."""
        return None

    @pytest.fixture
    def app(
        self,
        tmp_path: Path,
        plugins: Mapping[str, object],
        settings: Mapping[str, str],
        clock: SettableClock,
        network: Network | None,
    ) -> Iterator[App]:
        """Cloxy on a temporary folder, with every installed plugin; opened when first used."""
        with App(
            tmp_path / "cloxy", plugins=plugins, settings=settings, clock=clock, network=network
        ) as app:
            yield app

    @pytest.fixture
    def context(self, app: App) -> LazyContext:
        """What the record's `create` is given."""
        return app.context

    def test_record_fits_its_seat(self, provider: Any, app: App) -> None:  # noqa: ANN401 - any record
        """It has the right type, name and fields; the kernel would refuse it otherwise."""
        name, first_party = owner_of(self.seat, provider, app)
        assert record_fault(self.seat, provider, name, first_party=first_party) == ""

    def test_record_is_frozen(self, provider: Any) -> None:  # noqa: ANN401 - any record
        """Nobody can change it after it was yielded."""
        field = dataclasses.fields(provider)[0].name
        with pytest.raises((dataclasses.FrozenInstanceError, TypeError)):
            setattr(provider, field, getattr(provider, field))

    def test_summary_is_one_line(self, provider: Any) -> None:  # noqa: ANN401 - any record
        """People read it in a list."""
        summary = getattr(provider, "summary", getattr(provider, "help", None))
        if summary is None:
            return
        assert summary.strip() == summary != "", "say in one line what it is"
        assert len(summary.splitlines()) == 1, "only one line is shown"
        assert len(summary) <= LONGEST_SUMMARY, f"at most {LONGEST_SUMMARY} characters"

    def test_plugin_module_is_cheap_to_import(self, provider: Any, app: App) -> None:  # noqa: ANN401 - any record
        """It loads only the standard library and the contract: every command imports it."""
        owner = app.owner(self.seat, provider)
        assert owner is not None, (
            "no plugin yields this record: install the plugin that does, or return it "
            "by its name from a fixture `plugins`"
        )
        name, plugin = owner
        if name == CORE:
            return
        module = plugin.__name__ if inspect.ismodule(plugin) else type(plugin).__module__
        assert foreign_imports(module) == [], (
            f"import these inside the hooks of {module}, not at its top"
        )


class CreatedConformance(Conformance, of_the_kit=True):
    """What every record has to be that makes something."""

    @pytest.fixture
    def made(self, provider: Any, context: LazyContext, app: App) -> Iterator[Any]:  # noqa: ANN401 - any record
        """What the record makes, closed at the end."""
        value = provider.create(context)
        yield value
        close(value, app)

    def use(self, made: Any, app: App) -> None:  # noqa: ANN401 - what any record makes
        """Let it do a little of what it is for; a class of the kit overrides this."""
        del made, app

    def test_can_be_closed_twice_and_leaves_no_thread(
        self,
        provider: Any,  # noqa: ANN401 - any record
        app: App,
    ) -> None:
        """A server that stops does not wait for it, and does not trip over it."""
        before = set(threading.enumerate())
        made = provider.create(app.context)
        self.use(made, app)
        close(made, app)
        close(made, app)
        # The application's own threads have to be gone before others can be told apart.
        app.__exit__(None, None, None)
        assert _threads_left(before) == [], "end these threads in `close` or `aclose`"


def close(made: object, app: App) -> None:
    """Close what a record made, as the server does: by `aclose`, else by `close`."""
    closing = getattr(made, "aclose", None) or getattr(made, "close", None)
    if callable(closing):
        outcome = closing()
        if inspect.isawaitable(outcome):
            app.do(outcome)


@functools.cache
def foreign_imports(module: str) -> list[str]:
    """Top-level packages, beside its own and the standard library, that a module loads."""
    command = [sys.executable, "-c", _IMPORT_PROBE, module, json.dumps(sys.path)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own interpreter
    assert run.returncode == 0, f"{module} cannot be imported by itself:\n{run.stderr}"
    loaded = {name.partition(".")[0] for name in json.loads(run.stdout)}
    own = {module.partition(".")[0], "cloxy_hookspecs"}
    return sorted(loaded - own - sys.stdlib_module_names)


def owner_of(seat: Seat[Any], record: object, app: App) -> tuple[str, bool]:
    """Name of the record's plugin, and whether it comes with Cloxy."""
    owner = app.owner(seat, record)
    if owner is None:
        return record_name(record).partition(".")[0], False
    name, plugin = owner
    package = str(getattr(plugin, "__name__", type(plugin).__module__)).partition(".")[0]
    return name, package in {"cloxy_core", "cloxy_plugins"}


def _threads_left(before: set[threading.Thread]) -> list[str]:
    deadline = time.monotonic() + _THREAD_SECONDS
    while left := [thread for thread in threading.enumerate() if thread not in before]:
        if time.monotonic() >= deadline:
            return [thread.name for thread in left]
        time.sleep(0.01)
    return []


def _tests(cls: type[Conformance]) -> dict[str, Callable[..., None]]:
    """Tests by name that the kit's own classes of a class bring."""
    found: dict[str, Callable[..., None]] = {}
    for base in reversed(cls.__mro__):
        if base.__dict__.get("_of_the_kit"):
            found |= {name: item for name, item in vars(base).items() if name.startswith("test_")}
    return found


def _refuse_changed_tests(cls: type[Conformance]) -> None:
    for name, test in _tests(cls).items():
        current = inspect.getattr_static(cls, name)
        if current is not test and not getattr(current, "_expected_failure", False):
            raise TypeError(
                f"{cls.__name__}: {name} belongs to the conformance kit and cannot be deleted or "
                "replaced; name it in `expected_failures` with a reason if it cannot pass yet"
            )


def _mark_expected_failures(cls: type[Conformance]) -> None:
    tests = _tests(cls)
    for name, reason in cls.expected_failures.items():
        if name not in tests:
            raise TypeError(f"{cls.__name__}: expected_failures: there is no test {name!r}")
        if not reason.strip():
            raise TypeError(f"{cls.__name__}: expected_failures: say why {name} cannot pass")
        setattr(cls, name, _expected_to_fail(tests[name], reason))


def _expected_to_fail(test: Callable[..., None], reason: str) -> Callable[..., None]:
    @functools.wraps(test)
    def marked(*arguments: Any, **more: Any) -> None:  # noqa: ANN401 - as the test has them
        test(*arguments, **more)

    vars(marked)["_expected_failure"] = True
    pytest.mark.xfail(reason=reason, strict=True)(marked)
    return marked
