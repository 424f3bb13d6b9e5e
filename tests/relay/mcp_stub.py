"""A stand-in for the server's MCP endpoint, strict about headers, sessions and eras.

What the tool does is told by its name; `faults` holds what a client did against the rules.
"""

import base64
import json
import select
import socket
import threading

from process.stub_server import StubServer

HANDSHAKE = {"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"}
MODERN = "2026-07-28"
NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
PATIENCE = 60


class McpStub(StubServer):
    """Serves `/mcp`; `calls` holds each message that got through, as (method, id, headers)."""

    def __init__(self, data_dir, target="/mcp", **more):
        super().__init__(data_dir, **more)
        self.sessions = {}
        self.faults = []
        self.calls = []
        self.deleted = []
        self.left = []
        self.streams = 0
        self.to_say = []
        self.changed = threading.Condition()
        self.behave("POST", target, self.post)
        self.behave("GET", target, self.get)
        self.behave("DELETE", target, self.delete)

    def wait_for(self, condition):
        with self.changed:
            assert self.changed.wait_for(condition, PATIENCE)

    def note(self, change):
        with self.changed:
            change()
            self.changed.notify_all()

    def forget_sessions(self):
        """What a restart of the server does."""
        self.note(self.sessions.clear)

    def fault(self, handler, words, status=400, code=-32600):
        self.faults.append(words)
        self.say(handler, {"code": code, "message": words}, None, status=status, member="error")

    def say(self, handler, content, message_id, *, status=200, member="result", headers=()):
        body = json.dumps({"jsonrpc": "2.0", "id": message_id, member: content}).encode()
        self.plain(handler, body, status, headers)

    def plain(self, handler, body, status=200, headers=(), kind="application/json"):
        handler.send_response(status)
        for name, value in headers:
            handler.send_header(name, value)
        handler.send_header("Content-Type", kind)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    def post(self, handler):
        head = handler.headers
        if set(head["Accept"].split(", ")) != {"application/json", "text/event-stream"}:
            return self.fault(handler, "accept", 406)
        if head["Content-Type"] != "application/json":
            return self.fault(handler, "content type", 415)
        message = json.loads(handler.body)
        if not isinstance(message, dict):
            return self.fault(handler, "not one message")
        version = head["MCP-Protocol-Version"]
        if version is not None and version not in HANDSHAKE:
            return self.post_modern(handler, message)
        return self.post_legacy(handler, message)

    def post_modern(self, handler, message):
        head, params = handler.headers, message.get("params") or {}
        version = (params.get("_meta") or {}).get(VERSION_KEY)
        named = params.get(NAMED.get(message["method"]))
        if "id" in message:
            if (head["MCP-Protocol-Version"], head["Mcp-Method"]) != (version, message["method"]):
                return self.fault(handler, "header mismatch", code=-32020)
            if named is not None and decoded(head["Mcp-Name"]) != named:
                return self.fault(handler, "name mismatch", code=-32020)
            if version != MODERN:
                error = {"code": -32022, "message": "version", "data": {"supported": [MODERN]}}
                return self.say(handler, error, message["id"], status=400, member="error")
        if "Mcp-Session-Id" in head:
            return self.fault(handler, "session in the era without")
        return self.serve(handler, message)

    def post_legacy(self, handler, message):
        head = handler.headers
        if message.get("method") == "initialize":
            if "Mcp-Session-Id" in head:
                return self.fault(handler, "session in initialize")
            name = f"session-{len(self.deleted) + len(self.calls)}"
            asked = message["params"]["protocolVersion"]
            agreed = asked if asked in HANDSHAKE else "2025-11-25"
            self.note(lambda: self.sessions.update({name: agreed}))
            self.note(lambda: self.calls.append(("initialize", message["id"], dict(head))))
            result = {"protocolVersion": agreed, "capabilities": {}, "serverInfo": {}}
            return self.say(handler, result, message["id"], headers=[("Mcp-Session-Id", name)])
        name = head["Mcp-Session-Id"]
        if name is None:
            return self.fault(handler, "no session")
        if name not in self.sessions:
            return self.say(
                handler, {"code": -32600, "message": "gone"}, None, status=404, member="error"
            )
        if head["MCP-Protocol-Version"] != self.sessions[name]:
            return self.fault(handler, "version of the session")
        return self.serve(handler, message)

    def serve(self, handler, message):
        call = (message.get("method"), message.get("id"), dict(handler.headers))
        self.note(lambda: self.calls.append(call))
        if "method" not in message or "id" not in message:
            if message.get("method") == "notifications/cancelled":
                self.note(lambda: self.left.append(("told", message["params"]["requestId"])))
            return self.plain(handler, b"", 202)
        tool = (message.get("params") or {}).get("name", "echo")
        getattr(self, "do_" + tool, self.do_echo)(handler, message)
        return None

    def do_echo(self, handler, message):
        """Progress first, then an answer, as a stream of events."""
        stream = Events(handler)
        stream.send({"jsonrpc": "2.0", "method": "notifications/progress", "params": {}})
        stream.comment()
        stream.answer(message)

    def do_plain(self, handler, message):
        self.say(handler, {"params": message.get("params")}, message["id"])

    def do_slow(self, handler, message):
        """Answers when it is released; notes when the client leaves before."""
        try:
            stream = Events(handler)
            stream.comment()
            has_left = self.gone(handler)
        except ConnectionError:
            has_left = True
        if has_left:
            self.note(lambda: self.left.append(("closed", message["id"])))
        else:
            stream.answer(message)

    def do_cut(self, handler, message):
        """Ends in the middle."""
        handler.wfile.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
            b"Content-Length: 900\r\n\r\ndata: {"
        )
        handler.close_connection = True

    def do_ends(self, handler, message):
        """A stream that ends without an answer."""
        Events(handler).end()

    def do_rubbish(self, handler, message):
        self.plain(handler, b"<html>", 200, kind="text/html")

    def do_nojson(self, handler, message):
        self.plain(handler, b"{", 200)

    def do_accepted(self, handler, message):
        self.plain(handler, b"", 202)

    def do_other(self, handler, message):
        self.say(handler, {"for": "somebody else"}, "another id")

    def do_refused(self, handler, message):
        error = {"code": -32602, "message": "wrong", "data": [1]}
        self.say(handler, error, None, status=400, member="error")

    def do_busy(self, handler, message):
        error = {"error": {"code": "busy", "message": "Too busy.", "hint": "Wait."}}
        self.plain(handler, json.dumps(error).encode(), 503)

    def do_hidden(self, handler, message):
        error = {"error": {"message": "a\x1b[31m\u202e\nb", "hint": "c\U000e0041"}}
        self.plain(handler, json.dumps(error).encode(), 503)

    def do_unauthorized(self, handler, message):
        error = {"error": {"code": "unauthorized", "message": "A key is needed.", "hint": "x"}}
        self.plain(handler, json.dumps(error).encode(), 401)

    def do_bare(self, handler, message):
        self.plain(handler, b"no", 500, kind="text/plain")

    def gone(self, handler):
        """Whether the client closed before the stub was released."""
        while not self.released.is_set():
            readable, _, _ = select.select([handler.connection], [], [], 0.02)
            if readable and not handler.connection.recv(1, socket.MSG_PEEK):
                handler.close_connection = True
                return True
        return False

    def get(self, handler):
        if handler.headers["Mcp-Session-Id"] not in self.sessions:
            self.say(handler, {"code": -32600, "message": "gone"}, None, status=404, member="error")
            return
        self.note(lambda: setattr(self, "streams", self.streams + 1))
        stream = Events(handler)
        for message in self.to_say:
            stream.send(message)
        self.gone(handler)
        stream.end()

    def delete(self, handler):
        name = handler.headers["Mcp-Session-Id"]
        self.note(lambda: self.deleted.append(name))
        self.sessions.pop(name, None)
        self.plain(handler, b"")


class Events:
    """A chunked stream of events."""

    def __init__(self, handler):
        self.handler = handler
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream; charset=utf-8")
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()

    def write(self, text):
        data = text.encode()
        self.handler.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.handler.wfile.flush()

    def comment(self):
        self.write(": ping\r\n\r\n")

    def send(self, message):
        text = json.dumps(message, ensure_ascii=False)
        self.write(f"event: message\r\ndata: {text[:5]}")
        self.write(f"{text[5:]}\r\n\r\n")

    def answer(self, message):
        result = {"params": message.get("params")}
        self.send({"jsonrpc": "2.0", "id": message["id"], "result": result})
        self.end()

    def end(self):
        self.handler.wfile.write(b"0\r\n\r\n")


def decoded(value):
    if value is None or not value.startswith("=?base64?"):
        return value
    return base64.b64decode(value[9:-2], validate=True).decode()
