"""A small site on this machine, behind a public name: a server in a thread, with or without TLS."""

import contextlib
import socketserver
import ssl
import threading
from http.server import BaseHTTPRequestHandler

from web.world import PUBLIC, Names


class Site:
    """Answers GET by path; `asked` holds (host, path, headers) of each request."""

    def __init__(self, pages, context=None):
        self.pages = dict(pages)
        self.asked = []
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.site = self
        self._server.context = context

    @property
    def port(self):
        return self._server.server_address[1]

    def network(self, *hosts):
        """A network in which these names have a public address, and it leads here."""
        return Names(dict.fromkeys(hosts, (PUBLIC,)), routes={"any": self.port})

    @contextlib.contextmanager
    def running(self):
        thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield self
        finally:
            self._server.shutdown()
            thread.join()
            self._server.server_close()


def html(body, title="A page"):
    """Type and bytes of a page."""
    return "text/html; charset=utf-8", (
        f"<!doctype html><html><head><title>{title}</title></head><body>{body}</body></html>"
    ).encode()


def plain(text):
    """Type and bytes of a text."""
    return "text/plain; charset=utf-8", text.encode()


class _Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    context: ssl.SSLContext | None = None

    def finish_request(self, request, client_address):
        # In the thread of the request: a handshake that fails ends only that one.
        if self.context is not None:
            try:
                request = self.context.wrap_socket(request, server_side=True)
            except OSError:
                return
        super().finish_request(request, client_address)
        if self.context is not None:
            with contextlib.suppress(OSError):
                request.unwrap()
            request.close()

    def handle_error(self, request, client_address):
        """A client that leaves is no news."""


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        site = self.server.site
        site.asked.append((self.headers["Host"], self.path, dict(self.headers)))
        found = site.pages.get(self.path)
        if isinstance(found, str):
            self.answer(302, "text/plain", b"", Location=found)
        elif found is None:
            self.answer(404, "text/plain", b"no such page")
        else:
            self.answer(200, *found)

    def answer(self, status, media_type, data, **headers):
        self.send_response(status)
        for name, value in {"Content-Type": media_type, **headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_arguments):
        pass
