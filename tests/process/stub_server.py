"""A tiny HTTP server on loopback that answers as it is told, and remembers what it was asked."""

import contextlib
import json
import socketserver
import threading
from http.server import BaseHTTPRequestHandler
from urllib.parse import parse_qs, urlsplit

from cloxy_core import identity


class StubServer:
    """Answers by method and path; `asked` holds (method, path, headers, body) of each request.

    Who it is it tells as the server does, with the token of its data directory, and without
    counting that as a request; `challenges` holds the headers of those questions.
    """

    def __init__(self, data_dir=None, version="6.0.0.dev0"):
        self.asked = []
        self.challenges = []
        self.version = version
        self.token = identity.ensure_token(data_dir) if data_dir is not None else None
        self.answers = {}
        self.released = threading.Event()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.stub = self

    @property
    def port(self):
        return self._server.server_address[1]

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def answer(self, method, path, body, *, status=200):
        """Answer with JSON, or with the given bytes as they are."""
        payload = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.answers[method, path] = lambda handler: handler.reply(status, payload)

    def behave(self, method, path, behaviour):
        """Let a function of the request handler answer."""
        self.answers[method, path] = behaviour

    def bodies(self, path):
        """JSON bodies that were sent to a path."""
        return [json.loads(body) for _, asked, _, body in self.asked if asked == path]

    @contextlib.contextmanager
    def running(self):
        thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield self
        finally:
            self.released.set()
            self._server.shutdown()
            thread.join()
            self._server.server_close()


class _Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = False
    request_queue_size = 20


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def handle_any(self):
        stub = self.server.stub
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if urlsplit(self.path).path.endswith("/identity") and stub.token is not None:
            stub.challenges.append(dict(self.headers))
            self.identify(stub)
            return
        self.body = body
        stub.asked.append((self.command, self.path, dict(self.headers), body))
        behaviour = stub.answers.get((self.command, self.path))
        if behaviour is None:
            self.reply(404, json.dumps({"detail": "Not Found"}).encode())
        else:
            with contextlib.suppress(ConnectionError):
                behaviour(self)

    def identify(self, stub):
        nonce = parse_qs(urlsplit(self.path).query)["nonce"][0]
        shown = identity.proof(stub.token, nonce, self.connection.getsockname()[:2])
        answer = {"service": "cloxy", "version": stub.version, "proof": shown}
        self.reply(200, json.dumps(answer).encode())

    do_GET = do_POST = do_DELETE = handle_any

    def reply(self, status, payload, content_type="application/json"):
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)

    def log_message(self, *arguments):
        """Say nothing."""
