"""The guard in a server as people run it."""

import http.server
import threading

import pytest
from server.live_server import LiveServer

pytestmark = pytest.mark.process


@pytest.fixture
def neighbour():
    """A server of somebody else on this machine; gives its address, and what it was asked."""
    asked = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_response(200)
            self.send_header("Content-Type", "text/plain")
            self.end_headers()
            self.wfile.write(b"The neighbour's page.")

        def log_message(self, *_arguments):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/page", asked
    server.shutdown()
    server.server_close()
    thread.join()


def fetch(server, url, **more):
    return server.ask("POST", "/fetch", {"url": url, "mode": "raw", **more})


def test_closed_as_it_comes(tmp_path, neighbour):
    url, asked = neighbour
    with LiveServer(tmp_path) as server:
        for mine in (url, f"{server.url}/health", url.replace("127.0.0.1", "localhost")):
            status, answer = fetch(server, mine)
            assert status == 400, answer
            assert "may not be read" in answer["error"]["message"]
        assert "CLOXY_ALLOW_PRIVATE_URLS" not in server.errors.read_text()
    assert asked == []


def test_opened_by_its_owner(tmp_path, neighbour):
    """Its own port stays closed under every name, and everybody is told that it is open."""
    url, asked = neighbour
    with LiveServer(tmp_path, CLOXY_ALLOW_PRIVATE_URLS="1") as server:
        status, answer = fetch(server, url)
        assert (status, answer["content"]) == (200, "The neighbour's page.")
        own = server.url.rpartition(":")[2]
        for mine in (
            f"{server.url}/health",
            f"http://localhost:{own}/health",
            f"http://0.0.0.0:{own}/",
            f"http://[::ffff:127.0.0.1]:{own}/",
            "http://169.254.169.254/latest/meta-data/",
        ):
            assert fetch(server, mine)[0] == 400, mine
        assert "CLOXY_ALLOW_PRIVATE_URLS is on" in server.errors.read_text()
        assert "CLOXY_ALLOW_PRIVATE_URLS is on" in str(server.ask("GET", "/health")[1])
    assert asked == ["/page"]


def test_one_server_is_opened(tmp_path, neighbour):
    url, asked = neighbour
    pair = url.partition("://")[2].partition("/")[0]
    with LiveServer(tmp_path, CLOXY_ALLOWED_PRIVATE_HOSTS=pair) as server:
        assert fetch(server, url)[0] == 200
        assert fetch(server, "http://127.0.0.1:1/")[0] == 400
        assert pair in server.errors.read_text()
    assert asked == ["/page"]
