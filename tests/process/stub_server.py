"""A tiny HTTP server on loopback that answers as it is told, and remembers what it was asked."""

import contextlib
import json
import socketserver
import threading
from http.server import BaseHTTPRequestHandler


class StubServer:
    """Answers by method and path; `asked` holds (method, path, headers, body) of each request."""

    def __init__(self):
        self.asked = []
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
        stub.asked.append((self.command, self.path, dict(self.headers), body))
        behaviour = stub.answers.get((self.command, self.path))
        if behaviour is None:
            self.reply(404, json.dumps({"detail": "Not Found"}).encode())
        else:
            with contextlib.suppress(ConnectionError):
                behaviour(self)

    do_GET = do_POST = do_DELETE = handle_any

    def reply(self, status, payload, content_type="application/json"):
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)

    def log_message(self, *arguments):
        """Say nothing."""
