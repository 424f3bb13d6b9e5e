"""MCP over HTTP by hand: what no client library would send, and what it would hide."""

import json

MODERN = "2026-07-28"
META = "io.modelcontextprotocol/"
ACCEPT = "application/json, text/event-stream"
NAMES = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}


def envelope(version=MODERN, **more):
    """The `_meta` of a request of the modern era."""
    return {
        META + "protocolVersion": version,
        META + "clientInfo": {"name": "by-hand", "version": "1"},
        META + "clientCapabilities": {},
        **more,
    }


def modern_headers(message, version=MODERN):
    """The headers that have to agree with the body."""
    method = message["method"]
    headers = {"Mcp-Protocol-Version": version, "Mcp-Method": method}
    if method in NAMES:
        headers["Mcp-Name"] = message["params"][NAMES[method]]
    return headers


class Reply:
    """One answer: its status, headers, and the messages in it, whatever its form."""

    def __init__(self, status, headers, data):
        self.status = status
        self.headers = {name.lower(): value for name, value in headers}
        self.data = data
        kind = self.headers.get("content-type", "")
        if kind.startswith("text/event-stream"):
            self.messages = events(data)
        else:
            self.messages = [json.loads(data)] if data else []

    @property
    def message(self):
        return self.messages[-1]

    @property
    def result(self):
        assert "result" in self.message, self.message
        return self.message["result"]

    @property
    def error(self):
        assert "error" in self.message, self.message
        return self.message["error"]


def events(data):
    """The messages of an event stream."""
    lines = data.decode().replace("\r\n", "\n").split("\n")
    found = [line.removeprefix("data:").strip() for line in lines if line.startswith("data:")]
    return [json.loads(text) for text in found if text]


class Wire:
    """Posts to `/mcp` of a live server."""

    def __init__(self, live, path="/mcp", headers=None):
        self.live = live
        self.path = path
        self.headers = headers or {}
        self.session = None
        self._id = 0

    def send(self, method, message=None, headers=None):
        """One request, as it is."""
        connection = self.live.connection()
        try:
            body = None if message is None else json.dumps(message).encode()
            sent = {"Accept": ACCEPT, **self.headers}
            if body is not None:
                sent["Content-Type"] = "application/json"
            sent.update(headers or {})
            connection.request(method, self.path, body, sent)
            answer = connection.getresponse()
            return Reply(answer.status, answer.getheaders(), answer.read())
        finally:
            connection.close()

    def request(self, method, params=None):
        """A message with the next id."""
        self._id += 1
        message = {"jsonrpc": "2.0", "id": self._id, "method": method}
        return message if params is None else {**message, "params": params}

    def modern(self, method, /, meta=None, **params):
        """A request of the modern era, with the headers that belong to it."""
        message = self.request(method, {**params, "_meta": envelope(**(meta or {}))})
        return self.send("POST", message, modern_headers(message))

    def initialize(self, version="2025-11-25"):
        """Open a session of the older era."""
        params = {
            "protocolVersion": version,
            "capabilities": {},
            "clientInfo": {"name": "by-hand", "version": "1"},
        }
        reply = self.send("POST", self.request("initialize", params))
        self.session = {
            "Mcp-Session-Id": reply.headers["mcp-session-id"],
            "Mcp-Protocol-Version": reply.result["protocolVersion"],
        }
        done = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        accepted = self.send("POST", done, self.session)
        assert (accepted.status, accepted.data) == (202, b"")
        return reply

    def legacy(self, method, /, **params):
        """A request in that session."""
        return self.send("POST", self.request(method, params), self.session)

    def call(self, name, /, **arguments):
        """What a tool answers, in the modern era."""
        return self.modern("tools/call", name=name, arguments=arguments).result
