"""The boundary stands before every route the application has, today's and tomorrow's."""

import json

import pytest
from server.live_server import LiveServer

from cloxy_core.app import open_host
from cloxy_core.core_settings import load_settings
from cloxy_hookspecs.seats import OPERATIONS

KEY = "a-Key-of-32-Characters-0123456789"


def routes():
    """All doors of all operations, and the two of the core."""
    host = open_host(load_settings({}))
    doors = [door for record in host.registry.all(OPERATIONS) for door in record.doors]
    return [("GET", "/"), ("GET", "/health")] + [
        (door.method, door.path.replace("{id}", "1")) for door in doors
    ]


@pytest.fixture(scope="module")
def keyed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("keyed")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(folder))
        with LiveServer(folder, CLOXY_API_KEY=KEY) as server:
            yield server


@pytest.mark.parametrize(("method", "path"), routes())
def test_foreign_hosts_origins_and_sites_are_refused(keyed, method, path):
    body = {} if method == "POST" else None
    for headers, expected in (
        ({"Host": "attacker.example"}, 421),
        ({"Origin": "http://attacker.example"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
    ):
        status, answer = keyed.ask(method, path, body, {"X-API-Key": KEY, **headers})
        assert status == expected
        assert "error" in answer


@pytest.mark.parametrize(("method", "path"), routes())
def test_without_the_key_nothing_is_told(keyed, method, path):
    status, _headers, data = keyed.raw(method, path, {} if method == "POST" else None)
    if path == "/health":
        assert status == 200
        assert sorted(json.loads(data)) == ["service", "status", "version"]
    elif path == "/":
        assert status == 200
        assert b"Memories" not in data
    else:
        assert status == 401


def test_either_header_carries_the_key(keyed):
    for headers in ({"X-API-Key": KEY}, {"Authorization": f"Bearer {KEY}"}):
        status, body = keyed.ask("GET", "/health", headers=headers)
        assert status == 200
        assert body["auth"] == "enabled"


def test_a_key_beyond_ascii_is_just_wrong(keyed):
    assert keyed.raw("GET", "/projects", headers={"X-API-Key": "schl\u00fcssel"})[0] == 401


def test_the_key_is_in_no_log(keyed):
    keyed.ask("GET", "/projects", headers={"X-API-Key": KEY})
    for file in keyed.folder.rglob("*"):
        if file.is_file():
            assert KEY.encode() not in file.read_bytes(), file
