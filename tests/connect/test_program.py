"""Which path of our own program stands in a client's file, and which entries count as ours."""

import pytest

from cloxy_core.connect.entry import is_ours, says_the_same
from cloxy_core.connect.errors import ConnectError
from cloxy_core.connect.machine import Machine
from cloxy_core.connect.program import program_path

LINUX = Machine("linux", {}, "/home/pat")
WINDOWS = Machine("win32", {}, "C:\\Users\\pat")


def path(machine, called, *, files, found=None, python="", folder="/srv/here"):
    return program_path(
        machine, called, python, folder, lambda name: found, lambda name: name in files
    )


def test_a_path_in_a_virtual_environment_stays_that_path():
    called = "/home/pat/.venv/bin/cloxy"
    assert path(LINUX, called, files={called, "/usr/bin/cloxy"}, found="/usr/bin/cloxy") == called


def test_a_relative_call_becomes_absolute():
    wanted = "/srv/here/.venv/bin/cloxy"
    assert path(LINUX, ".venv/bin/cloxy", files={wanted}) == wanted


def test_a_bare_name_is_looked_up():
    found = "/home/pat/.local/bin/cloxy"
    assert path(LINUX, "cloxy", files={found}, found=found) == found


def test_beside_the_python_when_it_was_not_called_by_name():
    wanted = "/home/pat/.venv/bin/cloxy"
    called = "/home/pat/src/cloxy_core/cli/main.py"
    python = "/home/pat/.venv/bin/python"
    assert path(LINUX, called, files={wanted, called}, python=python) == wanted


def test_on_windows_it_is_the_program_never_a_script():
    program = "C:\\venv\\Scripts\\cloxy.exe"
    for called in (program, "C:\\venv\\Scripts\\cloxy", "C:\\venv\\Scripts\\CLOXY.EXE"):
        found = path(WINDOWS, called, files={program, program.replace("cloxy", "CLOXY")})
        assert found.lower() == program.lower()
    shim = "C:\\tools\\cloxy.cmd"
    python = "C:\\venv\\Scripts\\python.exe"
    assert path(WINDOWS, "cloxy", files={program, shim}, found=shim, python=python) == program
    with pytest.raises(ConnectError):
        path(WINDOWS, "cloxy", files={shim}, found=shim)


def test_no_program_is_told():
    with pytest.raises(ConnectError, match="was not found") as caught:
        path(LINUX, "main.py", files=set())
    assert "whole path" in caught.value.hint


@pytest.mark.parametrize("name", ["/a\nb/cloxy", "/a\x1b/cloxy", "/a\udcff/cloxy"])
def test_a_path_that_cannot_stand_in_a_file(name):
    with pytest.raises(ConnectError, match="characters"):
        path(LINUX, name, files={name})


@pytest.mark.parametrize(
    ("values", "ours"),
    [
        ({"command": "cloxy", "args": ["mcp"]}, True),
        ({"command": "/x/cloxy", "args": ["mcp", "--more"]}, True),
        ({"command": "C:\\x\\Cloxy.exe", "args": ["mcp"]}, True),
        ({"command": "/x/cloxy", "args": ["start"]}, False),
        ({"command": "/x/cloxy"}, False),
        ({"command": "npx", "args": ["mcp"]}, False),
        ({"command": "/x/cloxy-other", "args": ["mcp"]}, False),
        ({"command": ["cloxy"], "args": ["mcp"]}, False),
        ({"url": "http://127.0.0.1:9055/mcp"}, True),
        ({"httpUrl": "http://localhost:1/mcp"}, True),
        ({"serverUrl": "http://[::1]:9/mcp/"}, True),
        ({"url": "http://127.0.0.1:9055/sse"}, False),
        ({"url": "https://example.com/mcp"}, False),
        ({"url": "https://memory.example/mcp"}, True),
        ({"url": "http://[broken"}, False),
        ({"url": 1}, False),
        ({}, False),
    ],
)
def test_which_entries_are_ours(values, ours):
    assert is_ours(values, "https://memory.example/mcp") is ours


def test_the_kind_of_connection_need_not_be_said():
    wanted = {"type": "stdio", "command": "cloxy", "args": ["mcp"]}
    assert says_the_same({"command": "cloxy", "args": ["mcp"]}, wanted)
    assert says_the_same({**wanted, "disabled": True}, wanted)
    assert not says_the_same({**wanted, "url": "x"}, wanted)
    assert not says_the_same({**wanted, "type": "sse"}, wanted)
