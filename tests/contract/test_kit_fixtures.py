"""The fixtures and fakes of the kit do what they say."""

from datetime import UTC, datetime

import pytest
from claude_logs import record, text, write

from cloxy_core.testing.fakes import START, MemorySource, raw_lines
from cloxy_core.testing.harness import App
from cloxy_hookspecs import (
    CheckProvider,
    Draft,
    Finding,
    MemoryReader,
    RawLine,
    ServiceMissingError,
    Setting,
    SettingError,
    hookimpl,
)

LOUD = Setting(name="greeter.loud", default=1, parse=int, help="How loud.")


class Greeter:
    """A plugin that is an object."""

    @hookimpl
    def cloxy_settings(self):
        yield LOUD

    @hookimpl
    def cloxy_checks(self):
        yield CheckProvider(name="greeter", summary="Says hello", create=Greeting)


class Greeting:
    def __init__(self, context):
        self.loud = context.settings[LOUD]

    async def run(self):
        return [Finding("ok", "hello" + "!" * self.loud)]


def test_clock_stands_still_until_it_is_moved(clock):
    assert clock.now() == START == clock.now()
    clock.advance(hours=2, milliseconds=5)
    assert clock.now_ms() - round(START.timestamp() * 1000) == 7_200_005
    clock.set(datetime(2020, 1, 1, tzinfo=UTC))
    assert (clock.now_ms(), clock.now().tzinfo) == (1_577_836_800_000, UTC)


def test_context_has_a_real_store_and_the_clock(context, clock):
    assert context.clock is clock
    assert context.service(MemoryReader)
    assert context.maybe(int) is None
    with pytest.raises(ServiceMissingError):
        context.service(int)
    assert context.paths.plugin("me").is_dir()
    assert context.log.name.startswith("cloxy")


def test_app_reads_logs_and_answers(cloxy_app, tmp_path):
    write(
        tmp_path / "logs" / "-srv-shop" / "s-aaa.jsonl",
        record("user", "u1", "Why does the crane overheat?"),
        record("assistant", "a1", text("Firmware 4.2 does not idle.")),
    )
    app = cloxy_app(settings={"watch.dirs": str(tmp_path / "logs")})
    assert app.do(app.engine.ingest.run()).messages_added == 2
    app.do(app.engine.memories.remember(Draft("The light is green", "note", "manual")))
    assert app.read(lambda c: c.exec_driver_sql("SELECT count(*) FROM memories").scalar()) == 2
    app.stop()
    app.start()
    assert app.do(app.engine.memories.total()) == 2


def test_app_loads_plugins_that_are_not_installed(cloxy_app):
    app = cloxy_app(plugins={"greeter": Greeter()}, settings={"greeter.loud": "3"})
    app.do(app.engine.checks.run())
    assert "hello!!!" in str(app.engine.checks.results())


def test_apps_of_one_test_are_apart(cloxy_app):
    first, second = cloxy_app(), cloxy_app()
    first.do(first.engine.memories.remember(Draft("Only here", "note", "manual")))
    assert second.do(second.engine.memories.total()) == 0


def test_unknown_setting_of_a_plugin_is_an_error(tmp_path):
    app = App(tmp_path, plugins={"greeter": Greeter()}, settings={"greeter.loud": "very"})
    with app, pytest.raises(SettingError, match=r"greeter\.loud"):
        app.start()


def test_nothing_is_opened_before_it_is_used(tmp_path):
    with App(tmp_path / "place"):
        pass
    assert not (tmp_path / "place").exists()


def test_memory_source_behaves_like_files():
    source = MemorySource()
    item = source.put("a.jsonl", b"one\ntw")
    assert list(source.read(item, 0)) == [
        RawLine(0, 4, b"one"),
        RawLine(4, 6, b"tw", finished=False),
    ]
    grown = source.append("a.jsonl", b"o\r\n")
    assert (grown.identity, grown.size) == (item.identity, 9)
    assert list(source.read(grown, 4)) == [RawLine(4, 9, b"two")]
    assert source.excerpt(grown, 1, 99) == b"ne\ntwo\r\n"
    assert list(source.discover([])) == [grown]
    assert list(source.discover([], source.roots()[0] / "b.jsonl")) == []
    other = source.put("a.jsonl", b"new")
    assert other.identity != item.identity
    with pytest.raises(OSError, match="not there any more"):
        source.read(item, 0)
    source.remove("a.jsonl")
    with pytest.raises(OSError, match="not there any more"):
        source.excerpt(other, 0, 1)


def test_lines_end_at_line_feeds_alone():
    assert raw_lines("a\u2028b\x85\rc\n\n".encode()) == [
        RawLine(0, 10, "a\u2028b\x85\rc".encode()),
        RawLine(10, 11, b""),
    ]
    assert raw_lines(b"") == []
