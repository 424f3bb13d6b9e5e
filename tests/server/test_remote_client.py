"""A client of a server on another machine, by the steps of docs/how-to/remote.md.

The other machine is another address of this one; the tunnel is a forwarder, as ssh makes one.
"""

import contextlib
import json
import os
import socket
import socketserver
import threading

import pytest
from held_ports import held_port
from process.cli_runner import run_cloxy
from server.live_server import LiveServer, line, write_session

from cloxy_core import identity

KEY = "Xk3-9fQpLm27vTzR"
pytestmark = pytest.mark.process


@pytest.fixture
def remote(tmp_path):
    """A server on a machine of its own, which names it memory.lan and localhost.lan."""
    with LiveServer(tmp_path / "other", CLOXY_API_KEY=KEY) as server:
        write_session(server.logs, "s-one", line("u1", "the deploy runs on Mondays"))
        assert server.ask("POST", "/ingest_convos", {}, {"X-API-Key": KEY})[0] == 200
        yield server


def client_env(folder, **values):
    """The file that a client is given, in a data directory of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "client.env"
    file.write_text("".join(f"{name}={value}\n" for name, value in values.items()))
    file.chmod(0o600)


@contextlib.contextmanager
def tunnel_to(url, port=0):
    """Forwards a port of this machine, as `ssh -L` does."""
    target = url.removeprefix("http://").rsplit(":", 1)

    class Forwarding(socketserver.BaseRequestHandler):
        def handle(self):
            with socket.create_connection((target[0], int(target[1]))) as other:
                back = threading.Thread(target=pump, args=(other, self.request))
                back.start()
                pump(self.request, other)
                back.join()

    class Forwarder(socketserver.ThreadingTCPServer):
        allow_reuse_address = True  # the port may be a held one

    with Forwarder(("127.0.0.1", port), Forwarding) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


def pump(source, target):
    with contextlib.suppress(OSError):
        while piece := source.recv(65_536):
            target.sendall(piece)
        target.shutdown(socket.SHUT_WR)


def test_a_tunnel_needs_the_check_switched_off_and_then_works(isolated, remote):
    with tunnel_to(remote.url) as url:
        here = isolated / ".cloxy"
        client_env(here, CLOXY_URL=url, CLOXY_API_KEY=KEY)
        refused = run_cloxy("recall", "deploy Mondays")
        assert refused.returncode != 0
        assert b"CLOXY_VERIFY_SERVER=0" in refused.stderr
        client_env(here, CLOXY_URL=url, CLOXY_API_KEY=KEY, CLOXY_VERIFY_SERVER="0")
        # The port of the tunnel is another, and so is the name the server is called by.
        misdirected = run_cloxy("recall", "deploy Mondays")
        assert misdirected.returncode == 1
        assert b"CLOXY_ALLOWED_HOSTS" in misdirected.stderr


@pytest.fixture
def held():
    with held_port() as port:
        yield port


def test_the_name_of_the_tunnel_is_allowed_at_the_server(isolated, tmp_path, held):
    settings = {"CLOXY_API_KEY": KEY, "CLOXY_ALLOWED_HOSTS": f"127.0.0.1:{held}"}
    with LiveServer(tmp_path / "other", **settings) as server:
        write_session(server.logs, "s-one", line("u1", "the deploy runs on Mondays"))
        with tunnel_to(server.url, held) as url:
            client_env(
                isolated / ".cloxy", CLOXY_URL=url, CLOXY_API_KEY=KEY, CLOXY_VERIFY_SERVER="0"
            )
            assert run_cloxy("ingest").returncode == 0
            found = run_cloxy("recall", "deploy Mondays")
            assert (found.returncode, b"Mondays" in found.stdout) == (0, True)
            status = run_cloxy("status", "--json")
            report = json.loads(status.stdout)
            assert (status.returncode, report["url"]) == (0, url)
            # What is installed here says nothing about the server there.
            assert report["service"] is None


def test_the_environment_is_above_the_file(isolated, remote):
    client_env(isolated / ".cloxy", CLOXY_URL="http://127.0.0.1:9", CLOXY_API_KEY="wrong")
    found = run_cloxy(
        *("recall", "deploy Mondays"),
        url=remote.url,
        CLOXY_API_KEY=KEY,
        CLOXY_VERIFY_SERVER="0",
    )
    assert found.returncode == 0, found.stderr
    assert b"Mondays" in found.stdout


@pytest.mark.parametrize(
    "headers", [{"X-API-Key": KEY}, {"Authorization": f"Bearer {KEY}"}], ids=["key", "bearer"]
)
def test_both_ways_to_bring_the_key(remote, headers):
    status, found = remote.ask("POST", "/recall", {"query": "deploy Mondays"}, headers)
    assert status == 200
    assert "Mondays" in json.dumps(found)
    status, _refusal = remote.ask("POST", "/recall", {"query": "deploy"}, {})
    assert status == 401


def test_a_key_of_the_data_directory_never_goes_to_an_unchecked_server(isolated):
    """A file server.key is for the server of this machine, not for what a tunnel leads to."""
    (isolated / ".cloxy").mkdir(mode=0o700)
    identity.write_private(isolated / ".cloxy" / identity.KEY_FILE, KEY + "\n")
    heard = []

    class Listening(socketserver.StreamRequestHandler):
        def handle(self):
            while (text := self.rfile.readline()) not in (b"\r\n", b""):
                heard.append(text)
            self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Listening) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            url = f"http://127.0.0.1:{server.server_address[1]}"
            run_cloxy("status", url=url, CLOXY_VERIFY_SERVER="0")
        finally:
            server.shutdown()
            thread.join()
    assert any(text.startswith(b"GET /health") for text in heard)
    assert not any(KEY.encode() in text for text in heard)
    assert os.environ.get("CLOXY_API_KEY") is None
