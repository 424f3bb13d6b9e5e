"""The part that loads slowly is loaded before a client asks, where clients have come before."""

import asyncio
import os
import re
import stat
import time

import pytest
from server.live_server import PATIENCE, LiveServer
from server.mcp_wire import Wire

from cloxy_core.launching.mcp_use import MARK, is_used, note_use
from cloxy_core.surfaces.mcp import endpoint
from cloxy_core.surfaces.mcp.endpoint import McpEndpoint

LISTING = {"PYTHONPROFILEIMPORTTIME": "1"}


def mode(path):
    return stat.S_IMODE(path.lstat().st_mode)


def has_loaded(server):
    """Whether a server has loaded the library, by its list of what it imported."""
    return "| mcp.server" in re.sub(r"\| +", "| ", server.errors.read_text())


def wait_until(condition):
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


class Module:
    """In place of the module that loads the library."""

    def __init__(self):
        self.started = 0

    def RunningServer(self, _calls, _max_body):
        return self

    async def start(self):
        self.started += 1

    async def close(self):
        pass


@pytest.fixture
def module(monkeypatch):
    fake = Module()
    monkeypatch.setattr(endpoint.importlib, "import_module", lambda _name: fake)
    return fake


def test_a_first_use_is_noted_in_a_file_of_the_owner(tmp_path, module):
    before = os.umask(0)
    try:
        mcp = McpEndpoint([], 1000, tmp_path)
        asyncio.run(mcp._running())
    finally:
        os.umask(before)
    assert module.started == 1
    assert is_used(tmp_path)
    assert mode(tmp_path / MARK) == 0o600


def test_it_is_loaded_without_a_request_where_clients_came_before(tmp_path, module):
    note_use(tmp_path)

    async def run():
        mcp = McpEndpoint([], 1000, tmp_path)
        await mcp.warm()
        assert mcp.loaded
        await mcp._running()
        await mcp.close()

    asyncio.run(run())
    assert module.started == 1


@pytest.mark.parametrize("has_folder", [True, False])
def test_it_is_not_loaded_for_somebody_without_such_clients(tmp_path, module, has_folder):
    mcp = McpEndpoint([], 1000, tmp_path if has_folder else None)
    asyncio.run(mcp.warm())
    assert not mcp.loaded
    assert module.started == 0
    assert not is_used(tmp_path)


def test_a_load_that_fails_is_no_use_and_ends_nothing(tmp_path, monkeypatch):
    def broken(_name):
        raise ImportError

    monkeypatch.setattr(endpoint.importlib, "import_module", broken)
    note_use(tmp_path)
    mcp = McpEndpoint([], 1000, tmp_path)
    asyncio.run(mcp.warm())
    assert not mcp.loaded
    (tmp_path / MARK).unlink()
    asyncio.run(mcp._running())
    assert not is_used(tmp_path)


def test_the_mark_is_made_before_there_is_a_data_directory(tmp_path):
    folder = tmp_path / "not" / "yet"
    note_use(folder)
    assert is_used(folder)
    assert mode(folder) == 0o700


def test_a_link_in_its_place_is_not_followed(tmp_path):
    victim = tmp_path / "victim"
    (tmp_path / MARK).symlink_to(victim)
    note_use(tmp_path)
    assert not victim.exists()


def test_a_server_loads_it_at_its_next_start(tmp_path):
    with LiveServer(tmp_path, **LISTING) as server:
        assert server.ask("POST", "/recall", {"query": "x"})[0] == 200
        assert not has_loaded(server)
        assert not is_used(server.data)
        assert Wire(server).modern("tools/list").status == 200
        assert has_loaded(server)
        wait_until(lambda: is_used(server.data))
        assert mode(server.data / MARK) == 0o600
        assert server.stop() == 0
        server.start()
        wait_until(lambda: has_loaded(server))


def test_a_server_without_such_clients_never_loads_it(tmp_path):
    with LiveServer(tmp_path, **LISTING) as server:
        assert server.ask("GET", "/health")[0] == 200
        assert server.stop() == 0
        server.start()
        assert server.ask("POST", "/recall", {"query": "x"})[0] == 200
        assert not has_loaded(server)
        assert server.stop() == 0
    assert not is_used(server.data)
