"""Ports, contexts, and the objects behind records from first use to close."""

import asyncio
import functools
import threading
from typing import Protocol

import pytest

from cloxy_core.core_settings import CORE_SETTINGS, PORT
from cloxy_core.kernel.context import HostParts
from cloxy_core.kernel.lifespan import Lifespan
from cloxy_core.kernel.plugin_state import PluginState, Problems
from cloxy_core.kernel.services import Services
from cloxy_core.kernel.settings import Settings
from cloxy_core.runtime.clock import SystemClock
from cloxy_core.runtime.paths import DataDirectory
from cloxy_core.runtime.workers import Workers
from cloxy_hookspecs import (
    CheckProvider,
    DuplicateNameError,
    MissingExtraError,
    PluginError,
    ServiceMissingError,
    SettingError,
)


def on_a_loop(test):
    @functools.wraps(test)
    def run(**fixtures):
        asyncio.run(test(**fixtures))

    return run


class Bell(Protocol):
    def ring(self) -> str: ...


class Tower(Protocol):
    def bell(self) -> Bell: ...


class RealBell:
    def ring(self):
        return "dong"


def test_service_is_made_once_on_first_request():
    services, made = Services(), []
    services.offer(Bell, lambda: made.append(1) or RealBell())
    assert services.has(Bell)
    assert made == []
    got = []
    threads = [threading.Thread(target=lambda: got.append(services.service(Bell))) for _ in "1234"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1
    assert len(set(map(id, got))) == 1


def test_missing_service():
    services = Services()
    assert services.maybe(Bell) is None
    with pytest.raises(ServiceMissingError, match="provides Bell"):
        services.service(Bell)


def test_port_is_offered_once():
    services = Services()
    services.offer(Bell, RealBell)
    with pytest.raises(DuplicateNameError, match="Bell"):
        services.offer(Bell, RealBell)


def test_circle_is_refused_and_leaves_the_rest_usable():
    services = Services()
    services.offer(Bell, lambda: services.service(Tower))
    services.offer(Tower, lambda: services.service(Bell))
    for _ in range(2):
        with pytest.raises(ServiceMissingError, match="Bell needs Tower needs Bell"):
            services.service(Bell)


def test_failed_making_is_tried_again():
    services, tries = Services(), []

    def make():
        tries.append(1)
        if len(tries) == 1:
            raise OSError("not yet")
        return RealBell()

    services.offer(Bell, make)
    with pytest.raises(OSError, match="not yet"):
        services.service(Bell)
    assert services.service(Bell).ring() == "dong"


@pytest.fixture
def parts(tmp_path):
    workers = Workers()
    yield HostParts(
        settings=Settings(CORE_SETTINGS, command_line={"server.port": "1"}),
        store=object(),
        clock=SystemClock(),
        paths=DataDirectory.open(tmp_path / "data"),
        workers=workers,
        services=Services(),
    )
    workers.close_blocking()


@on_a_loop
async def test_context_gives_what_it_promises(parts):
    context = parts.context("mine")
    parts.services.offer(Bell, RealBell)
    assert context.settings[PORT] == 1
    assert context.service(Bell).ring() == "dong"
    assert context.maybe(Tower) is None
    assert context.log.name == "cloxy.plugins.mine"
    assert context.clock.now().tzinfo is not None
    assert context.paths.data.is_dir()
    assert context.store is parts.store
    assert (await context.blocking(threading.current_thread)).name.startswith("cloxy-io")


class Span:
    """A lifespan with its problems and records by plugin."""

    def __init__(self):
        self.problems, self.services, self.contexts = Problems(), Services(), []
        self.lifespan = Lifespan(
            lambda record: f"plugin_of_{record.name}",
            lambda plugin: self.contexts.append(plugin) or plugin,
            self.services,
            self.problems,
        )

    def messages(self):
        return [problem.message for problem in self.problems.all()]


def record(name, create, **more):
    return CheckProvider(name=name, summary="", create=create, **more)


def raising(error):
    def create(context):
        raise error

    return create


def test_record_is_made_once_with_the_context_of_its_plugin():
    span = Span()
    one = record("a", lambda context: [context])
    assert span.lifespan.create(one) == ["plugin_of_a"]
    assert span.lifespan.create(one) is span.lifespan.create(one)
    assert span.contexts == ["plugin_of_a"]


@pytest.mark.parametrize(
    "error", [RuntimeError("boom"), SystemExit(1), SettingError("bad value"), PluginError("mine")]
)
def test_what_cannot_be_made_is_a_plugin_error_noted_once(error):
    span, tries = Span(), []

    def create(context):
        tries.append(1)
        raise error

    bad = record("bad", create)
    raised = []
    for _ in range(2):
        with pytest.raises(PluginError) as caught:
            span.lifespan.create(bad)
        raised.append(caught.value)
    assert raised[0] is raised[1]
    assert raised[0] is error or raised[0].__cause__ is error
    assert len(tries) == 1
    (problem,) = span.problems.all()
    assert (problem.plugin, problem.where) == ("plugin_of_bad", "bad")
    assert str(error) in problem.message


def test_missing_module_of_an_extra_names_the_pip_command():
    span = Span()
    bad = record("bad", raising(ModuleNotFoundError("no", name="chromadb")), extra="chroma")
    with pytest.raises(MissingExtraError, match=r"pip install 'cloxy\[chroma\]'"):
        span.lifespan.create(bad)
    assert span.problems.all()[0].state is PluginState.MISSING_EXTRA


def test_required_port_must_be_there():
    span = Span()
    needs = record("needs", lambda context: "made", requires=(Bell,))
    with pytest.raises(ServiceMissingError, match="Bell"):
        span.lifespan.create(needs)
    other = Span()
    other.services.offer(Bell, RealBell)
    assert other.lifespan.create(needs) == "made"


def test_create_all_goes_on_past_failures():
    span = Span()
    records = [record("a", lambda _: 1), record("b", raising(OSError())), record("c", lambda _: 3)]
    assert span.lifespan.create_all(records) == (("a", 1), ("c", 3))
    assert len(span.problems.all()) == 1


class Closing:
    def __init__(self, name, log, error=None):
        self.name, self.log, self.error = name, log, error

    def close(self):
        self.log.append(self.name)
        if self.error:
            raise self.error


class ClosingLater(Closing):
    close = None

    async def aclose(self):
        await asyncio.sleep(0)
        Closing.close(self)


@on_a_loop
async def test_closed_in_reverse_with_every_error_contained():
    span, log = Span(), []
    for name, kind, error in (
        ("a", Closing, None),
        ("b", ClosingLater, None),
        ("c", Closing, OSError("stuck")),
        ("d", ClosingLater, SystemExit(2)),
        ("e", ClosingLater, asyncio.CancelledError()),
    ):
        made = kind(name, log, error)
        span.lifespan.create(record(name, lambda _, made=made: made))
    span.lifespan.create(record("plain", lambda _: object()))
    await span.lifespan.aclose()
    assert log == ["e", "d", "c", "b", "a"]
    assert [problem.plugin for problem in span.problems.all()] == [
        "plugin_of_e",
        "plugin_of_d",
        "plugin_of_c",
    ]
    await span.lifespan.aclose()
    assert log == ["e", "d", "c", "b", "a"]
    with pytest.raises(RuntimeError, match="shutting down"):
        span.lifespan.create(record("late", lambda _: 1))


@on_a_loop
async def test_one_that_hangs_is_given_up(monkeypatch):
    monkeypatch.setattr("cloxy_core.kernel.lifespan.CLOSE_SECONDS", 0.01)

    class Hanging:
        async def aclose(self):
            await asyncio.Event().wait()

    span, log = Span(), []
    span.lifespan.create(record("a", lambda _: Closing("a", log)))
    span.lifespan.create(record("b", lambda _: Hanging()))
    await span.lifespan.aclose()
    assert log == ["a"]
    assert "TimeoutError" in span.messages()[0]


@on_a_loop
async def test_cancelling_still_closes_the_rest():
    span, log, begun = Span(), [], asyncio.Event()

    class Slow:
        async def aclose(self):
            begun.set()
            await asyncio.Event().wait()

    span.lifespan.create(record("a", lambda _: Closing("a", log)))
    span.lifespan.create(record("b", lambda _: Slow()))
    task = asyncio.create_task(span.lifespan.aclose())
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert log == ["a"]
