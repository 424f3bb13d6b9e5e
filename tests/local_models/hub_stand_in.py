"""A stand-in of the hub's file API: two real HTTP servers, the hub and the host of large files.

It speaks as the hub does: a description with the commit, a listing in pages (`Link`), `resolve`
with a redirect to another host for large files, ranges there, `X-Error-Code` on refusals.
"""

import contextlib
import hashlib
import json
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit

COMMIT = "a" * 40
TOKEN = "hf_sesame"


class HubStandIn:
    """`repos`: {id: {path: bytes}}; what it was asked is in `asked` and `asked_cdn`."""

    def __init__(self):
        self.repos = {}
        self.large = set()
        self.gated = set()
        self.private = set()
        self.renamed = {}
        self.page_size = 100
        self.commit = COMMIT
        self.listed = {}  # path: changes of its entry in listings
        self.extra = []  # further entries of listings
        self.etag = None
        self.cuts = []  # bytes after which each next large answer is cut off
        self.no_ranges = False
        self.wrong_range = False
        self.pause_at = None  # bytes after which a large answer pauses
        self.paused = threading.Event()
        self.go_on = threading.Event()
        self.busy = 0  # so many next requests are answered 503
        self.tamper = None
        self.loop = False
        self.asked = []
        self.asked_cdn = []
        self._hub = _server(_Hub, self)
        self._cdn = _server(_Cdn, self)

    url = property(lambda self: f"http://127.0.0.1:{self._hub.server_address[1]}")
    cdn = property(lambda self: f"http://127.0.0.1:{self._cdn.server_address[1]}")

    def add(self, repo, files, large=()):
        self.repos[repo] = dict(files)
        self.large |= {(repo, name) for name in large or files if name.endswith(BIG)}

    @contextlib.contextmanager
    def running(self):
        threads = [
            threading.Thread(target=each.serve_forever, args=(0.02,))
            for each in (self._hub, self._cdn)
        ]
        for thread in threads:
            thread.start()
        try:
            yield self
        finally:
            self.go_on.set()
            for each in (self._hub, self._cdn):
                each.shutdown()
            for thread in threads:
                thread.join()
            for each in (self._hub, self._cdn):
                each.server_close()


BIG = (".gguf", ".safetensors")


class _Server(ThreadingHTTPServer):
    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], OSError):  # clients go away, as they are made to
            super().handle_error(request, client_address)


def _server(handler, stand_in):
    server = _Server(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    server.stand_in = stand_in
    return server


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    @property
    def hub(self):
        return self.server.stand_in

    def reply(self, status, body=b"", **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def send_file(self, data):
        """The file or the rest of it, with whatever goes wrong."""
        hub = self.hub
        headers = {"Accept-Ranges": "bytes", "ETag": hub.etag or '"anything"'}
        begin = 0
        asked = self.headers.get("Range")
        status = 200
        if asked and hub.no_ranges:
            headers["Content-Range"] = f"{asked.replace('=', ' ')}{len(data) - 1}/{len(data)}"
        elif asked:
            begin = int(asked.removeprefix("bytes=").removesuffix("-"))
            begin -= hub.wrong_range
            if begin >= len(data):
                self.reply(416, Content_Range=f"bytes */{len(data)}")
                return
            status = 206
            headers["Content-Range"] = f"bytes {begin}-{len(data) - 1}/{len(data)}"
        body = data[begin:]
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        cut = hub.cuts.pop(0) if hub.cuts else None
        if cut is not None:
            self.wfile.write(body[:cut])
            self.wfile.flush()
            self.close_connection = True
            self.connection.shutdown(2)
            return
        if hub.pause_at is not None:
            self.wfile.write(body[: hub.pause_at])
            self.wfile.flush()
            hub.paused.set()
            hub.go_on.wait(120)
            body = body[hub.pause_at :]
        with contextlib.suppress(OSError):
            self.wfile.write(body)


class _Hub(_Handler):
    def do_GET(self):
        parts = urlsplit(self.path)
        path = unquote(parts.path)
        self.hub.asked.append((path, dict(self.headers)))
        if self.hub.busy:
            self.hub.busy -= 1
            self.reply(503, b"busy")
        elif self.hub.loop:
            self.reply(302, Location=self.path)
        elif path.startswith("/api/models/"):
            self.api(path.removeprefix("/api/models/"), parse_qs(parts.query))
        else:
            self.resolve(path.removeprefix("/"))

    def api(self, path, query):
        repo = "/".join(path.split("/")[:2])
        what, _, rest = path.removeprefix(repo + "/").partition("/")
        if repo in self.hub.renamed:
            self.reply(307, Location=f"/api/models/{self.hub.renamed[repo]}/{what}/{rest}")
            return
        if self.refuses(repo):
            return
        if what == "revision":
            about = {"id": repo, "sha": self.hub.commit, "cardData": {"license": "apache-2.0"}}
            self.reply(200, json.dumps(about).encode())
            return
        assert (what, rest) == ("tree", self.hub.commit)
        assert query["recursive"] == ["true"]
        entries = [*self.hub.extra, {"type": "directory", "path": "sub", "size": 0, "oid": "0"}]
        entries += [self.entry(repo, name) for name in self.hub.repos[repo]]
        begin = int(query.get("cursor", ["0"])[0])
        page = entries[begin : begin + self.hub.page_size]
        headers = {}
        if begin + self.hub.page_size < len(entries):
            following = f"{self.hub.url}/api/models/{path}?recursive=true"
            headers["Link"] = f'<{following}&cursor={begin + self.hub.page_size}>; rel="next"'
        self.reply(200, json.dumps(page).encode(), **headers)

    def entry(self, repo, name):
        data = self.hub.repos[repo][name]
        blob = hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()
        entry = {"type": "file", "path": name, "size": len(data), "oid": blob}
        if (repo, name) in self.hub.large:
            digest = hashlib.sha256(data).hexdigest()
            entry["lfs"] = {"oid": digest, "size": len(data), "pointerSize": 135}
        return entry | self.hub.listed.get(name, {})

    def resolve(self, path):
        repo = "/".join(path.split("/")[:2])
        what, commit, name = path.removeprefix(repo + "/").split("/", 2)
        assert (what, commit) == ("resolve", self.hub.commit)
        if self.refuses(repo):
            return
        data = self.hub.repos[repo].get(name)
        if data is None:
            self.reply(404, X_Error_Code="EntryNotFound")
        elif (repo, name) in self.hub.large:
            self.reply(302, Location=f"{self.hub.cdn}/{repo}/{name}?signature=abc")
        else:
            self.send_file(data)

    def refuses(self, repo):
        bearer = self.headers.get("Authorization")
        if repo in self.hub.gated and bearer != f"Bearer {TOKEN}":
            self.reply(401 if bearer is None else 403, X_Error_Code="GatedRepo")
            return True
        if repo not in self.hub.repos or (repo in self.hub.private and bearer is None):
            # The hub says the same of both to who has no token.
            self.reply(401 if bearer is None else 404, X_Error_Code="RepoNotFound")
            return True
        return False


class _Cdn(_Handler):
    def do_GET(self):
        path = unquote(urlsplit(self.path).path).removeprefix("/")
        self.hub.asked_cdn.append((path, dict(self.headers)))
        repo = "/".join(path.split("/")[:2])
        data = self.hub.repos[repo][path.removeprefix(repo + "/")]
        self.send_file(self.hub.tamper(data) if self.hub.tamper else data)


def wait_until(true, seconds=120.0):
    """Wait for something that another process or thread does."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.01)
