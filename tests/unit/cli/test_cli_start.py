"""`cloxy start`: what it hands to the engine, and how refusals are told."""

import sys
from types import ModuleType

import pytest

from cloxy_core.cli.main import main
from cloxy_hookspecs import DataDirectoryInUseError, ExposureError


@pytest.fixture
def start(monkeypatch):
    """Runs the command with an engine that only notes what it is asked."""
    monkeypatch.setenv("PYDANTIC_DISABLE_PLUGINS", "__all__")

    def run(*arguments, serve):
        engine = ModuleType("cloxy_core.app")
        engine.serve = serve
        monkeypatch.setitem(sys.modules, "cloxy_core.app", engine)
        with pytest.raises(SystemExit) as ended:
            main(["start", *arguments])
        return ended.value.code

    return run


@pytest.mark.parametrize(
    ("arguments", "asked"),
    [
        ([], {"host": None, "port": None}),
        (["--host", "::1", "--port", "9100"], {"host": "::1", "port": 9100}),
        (["--port=0"], {"host": None, "port": 0}),
    ],
)
def test_options_reach_the_engine(start, arguments, asked):
    seen = []
    assert start(*arguments, serve=lambda **given: seen.append(given) or 0) == 0
    assert seen == [asked]


def test_exit_code_of_the_engine_is_kept(start):
    assert start(serve=lambda **given: 1) == 1


@pytest.mark.parametrize("kind", [ExposureError, DataDirectoryInUseError])
def test_refusal_is_exit_code_1_with_the_reason(start, capsys, kind):
    def serve(**given):
        raise kind("it will not", hint="do this")

    assert start(serve=serve) == 1
    assert capsys.readouterr().err == "cloxy: it will not; do this\n"


@pytest.mark.parametrize("port", ["-1", "65536", "http"])
def test_wrong_port_is_wrong_usage(start, port):
    assert start("--port", port, serve=lambda **given: pytest.fail("started")) == 2
