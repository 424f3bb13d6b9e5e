"""A real HTTP server on loopback that speaks the OpenAI API as local model servers do.

    with StubModelServer(models=("tiny",)) as server:
        server.say("hello", Answer(calls=(Call("recall", '{"q": "x"}'),)))
        server.misbehave(Fail(429))          # the next chat request
        ... ask server.base_url ...
        assert server.chats[0]["messages"][-1]["content"] == "hi"

Without a script it says the last user's text again. Each chat request takes the next of what
`misbehave` queued, else the next of what `say` queued, else it echoes.
"""

import contextlib
import itertools
import json
import select
import socket
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ALTERNATE = "Conversation roles must alternate user/assistant/user/assistant/..."


@dataclass(frozen=True)
class Call:
    """A tool call of an answer."""

    name: str
    arguments: str = "{}"
    id: str = ""


@dataclass(frozen=True)
class Answer:
    """A proper answer.

    Attributes:
        text: what is said; sent word by word.
        pieces: what is said, in these pieces instead.
        calls: tool calls; their arguments come in pieces of 4 characters.
        finish: finish_reason; by default `tool_calls` with calls, else `stop`.
        usage: sent as it is; by default words are counted. False sends none.
        delay: seconds before each piece.
        hold_head: waits for `release()` before the first byte of the answer.
        hold_after: waits for `release()` after so many pieces of a stream.
        hold_end: waits for `release()` once the stream has said that it ended.
        done: whether a stream ends with `[DONE]`.
        reasoning: sent ahead as `reasoning_content`.
    """

    text: str = ""
    pieces: tuple = ()
    calls: tuple = ()
    finish: str | None = None
    usage: dict | bool | None = None
    delay: float = 0.0
    hold_head: bool = False
    hold_after: int | None = None
    hold_end: bool = False
    done: bool = True
    reasoning: str = ""


@dataclass(frozen=True)
class Fail:
    """An HTTP error; `body` None is an OpenAI-shaped one, a text or bytes are sent as they are."""

    status: int
    message: str = "the stub fails"
    code: str | None = None
    body: object = None
    headers: tuple = ()


@dataclass(frozen=True)
class Redirect:
    """Sends elsewhere."""

    location: str
    status: int = 307


@dataclass(frozen=True)
class Hang:
    """Not one byte until `release()`, then an echo."""


@dataclass(frozen=True)
class HangMidStream:
    """An echo that stops after so many pieces until `release()`."""

    after: int = 1


@dataclass(frozen=True)
class CloseEarly:
    """An echo whose connection ends after so many pieces; None: before the first byte."""

    after: int | None = 1


@dataclass(frozen=True)
class Raw:
    """These bytes as the body of a 200, in these portions."""

    portions: tuple
    content_type: str = "text/event-stream"
    close: bool = False


@dataclass(frozen=True)
class Reset:
    """The connection is reset at once."""


@dataclass
class Recorded:
    """A request that came: names of headers in lower case."""

    method: str
    path: str
    headers: dict
    body: bytes

    @property
    def json(self):
        return json.loads(self.body)


@dataclass
class Model:
    """A model of the server; `details` goes into its entries as it is."""

    id: str
    context_tokens: int | None = None
    created: int = 1_700_000_000
    details: dict = field(default_factory=dict)


class StubModelServer:
    """Serves while its `with` block runs.

    Attributes:
        requests: all that came.
        left: set when a client went away before its answer was complete.
    """

    def __init__(
        self,
        models=("stub-model",),
        *,
        kind="openai",
        key=None,
        alternates=False,
        refuse_tools=False,
        refuse_format=False,
        strict_model=False,
        host="127.0.0.1",
        tls=None,
    ):
        """Make it.

        Args:
            models: names or `Model`s.
            kind: `openai`, `ollama`, `lmstudio`, `llamacpp` or `vllm`: where more is told about
                the models.
            key: bearer that is wanted; everything else gets 401.
            alternates: whether two turns of one role after each other are refused.
            refuse_tools: whether tools are refused, as Ollama does for models without.
            refuse_format: whether a response_format is refused.
            strict_model: whether an unknown model gets 404.
            host: loopback address to listen at.
            tls: an `ssl.SSLContext` of a server; None for plain http. Holds cannot be used with it.
        """
        self.models = [m if isinstance(m, Model) else Model(m) for m in models]
        self.kind = kind
        self.key = key
        self.alternates = alternates
        self.refuse_tools = refuse_tools
        self.refuse_format = refuse_format
        self.strict_model = strict_model
        self.requests = []
        self.left = threading.Event()
        self.holding = threading.Event()
        self._released = threading.Event()
        self._script = []
        self._trouble = []
        self._elsewhere = {}
        self._always = None
        self._lock = threading.Lock()
        self._server = _Server((host, 0), _Handler)
        self._server.stub = self
        self._scheme = "http"
        if tls is not None:
            self._scheme = "https"
            self._server.socket = tls.wrap_socket(self._server.socket, server_side=True)

    @property
    def port(self):
        return self._server.server_address[1]

    @property
    def url(self):
        return f"{self._scheme}://{self._server.server_address[0]}:{self.port}"

    @property
    def base_url(self):
        return f"{self.url}/v1"

    @property
    def chats(self):
        """JSON bodies of the chat requests."""
        return [r.json for r in self.requests if r.path == "/v1/chat/completions"]

    def say(self, *answers):
        """Answer the next requests so: texts or `Answer`s."""
        self._script += [Answer(a) if isinstance(a, str) else a for a in answers]

    def misbehave(self, *behaviours):
        """Treat the next chat requests so; None lets one through."""
        self._trouble += behaviours

    def always(self, behaviour):
        """Treat every further chat request so."""
        self._always = behaviour

    def at(self, path, behaviour):
        """Treat every request of another path so: `Fail`, `Redirect`, `Hang`, `Raw`, …"""
        self._elsewhere[path] = behaviour

    def release(self):
        """Let everything go on that hangs."""
        self._released.set()

    def next_answer(self):
        with self._lock:
            if self._trouble:
                behaviour = self._trouble.pop(0)
                if behaviour is not None:
                    return behaviour
            elif self._always is not None:
                return self._always
            return self._script.pop(0) if self._script else None

    def __enter__(self):
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._released.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def wait_released(self, handler, seconds=None):
        """Wait for `release()` or the seconds; False when the client went away meanwhile."""
        self.holding.set()
        end = None if seconds is None else time.monotonic() + seconds
        while not self._released.wait(0.01):
            if handler.client_left():
                self.left.set()
                return False
            if end is not None and time.monotonic() >= end:
                break
        return True


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        """A client that goes away is no failure of the test."""


class _Gone(Exception):
    """The client went away, or the connection is to end here."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    stub: StubModelServer

    def log_message(self, *_):
        pass

    def do_GET(self):
        self._handle()

    def do_POST(self):
        self._handle()

    def _handle(self):
        self.stub = self.server.stub
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        path = self.path.partition("?")[0]
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.stub.requests.append(Recorded(self.command, path, headers, body))
        try:
            self._route(path, headers, body)
        except (_Gone, BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def _route(self, path, headers, body):
        stub = self.stub
        if stub.key is not None and headers.get("authorization") != f"Bearer {stub.key}":
            return self._error(401, "Incorrect API key provided", code="invalid_api_key")
        if path in stub._elsewhere:
            behaviour = stub._elsewhere[path]
            return self._trouble(behaviour, {}) if behaviour is not None else None
        if (self.command, path) == ("POST", "/v1/chat/completions"):
            return self._chat(json.loads(body))
        if (self.command, path) == ("GET", "/v1/models"):
            data = [self._entry(model) for model in stub.models]
            return self._json(200, {"object": "list", "data": data})
        if stub.kind == "ollama" and (self.command, path) == ("GET", "/api/tags"):
            return self._json(
                200, {"models": [{"name": m.id, "model": m.id, **m.details} for m in stub.models]}
            )
        if stub.kind == "ollama" and (self.command, path) == ("POST", "/api/show"):
            return self._ollama_show(json.loads(body))
        if stub.kind == "lmstudio" and (self.command, path) == ("GET", "/api/v0/models"):
            return self._json(200, {"object": "list", "data": [self._lm(m) for m in stub.models]})
        return self._send(404, b"404 page not found", "text/plain")

    def _entry(self, model):
        entry = {
            "id": model.id,
            "object": "model",
            "created": model.created,
            "owned_by": "library",
        }
        if self.stub.kind == "vllm":
            entry |= {"owned_by": "vllm", "root": model.id, "max_model_len": model.context_tokens}
        if self.stub.kind == "llamacpp":
            meta = {"vocab_type": 2, "n_vocab": 49152, "n_ctx_train": model.context_tokens}
            entry |= {"owned_by": "llamacpp", "meta": meta}
        if self.stub.kind == "openai":
            entry |= model.details
        return entry

    def _lm(self, model):
        return {
            "id": model.id,
            "object": "model",
            "type": "llm",
            "state": "not-loaded",
            "max_context_length": model.context_tokens,
            **model.details,
        }

    def _ollama_show(self, asked):
        for model in self.stub.models:
            if model.id == (asked.get("model") or asked.get("name")):
                info = {"general.architecture": "llama"}
                if model.context_tokens is not None:
                    info["llama.context_length"] = model.context_tokens
                shown = {"capabilities": ["completion"], "model_info": info, **model.details}
                return self._json(200, shown)
        return self._json(404, {"error": "model not found"})

    def _chat(self, asked):
        behaviour = self.stub.next_answer()
        if behaviour is None or isinstance(behaviour, Answer):
            refusal = self._refusal(asked)
            if refusal is not None:
                return self._trouble(refusal, asked)
            return self._answer(behaviour or _echo(asked), asked)
        return self._trouble(behaviour, asked)

    def _refusal(self, asked):
        stub = self.stub
        names = [model.id for model in stub.models]
        if stub.strict_model and asked.get("model") not in names:
            return Fail(404, f"model '{asked.get('model')}' not found", code="model_not_found")
        if stub.refuse_tools and asked.get("tools"):
            return Fail(400, f"{asked.get('model')} does not support tools")
        if stub.refuse_format and asked.get("response_format"):
            return Fail(400, "response_format is not supported")
        roles = [m["role"] for m in asked["messages"] if m["role"] != "system"]
        if stub.alternates and any(a == b for a, b in itertools.pairwise(roles)):
            return Fail(500, ALTERNATE)
        return None

    def _trouble(self, behaviour, asked):
        match behaviour:
            case Fail(status, message, code, None, headers):
                self._error(status, message, code=code, headers=headers)
            case Fail(status, _, _, body, headers):
                if isinstance(body, dict | list):
                    self._send(status, json.dumps(body).encode(), headers=headers)
                else:
                    data = body.encode() if isinstance(body, str) else body
                    self._send(status, data, "text/plain", headers)
            case Redirect(location, status):
                self._send(status, b"", headers=(("location", location),))
            case Hang():
                self._hold()
                self._answer(_echo(asked), asked)
            case HangMidStream(after):
                text = _echo(asked).text
                self._answer(Answer(text, hold_after=after), asked)
            case CloseEarly(after):
                self._close_early(after, asked)
            case Raw(portions, content_type, close):
                self._raw(portions, content_type, close)
            case Reset():
                linger = b"\x01\x00\x00\x00\x00\x00\x00\x00"
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                self.connection.close()
                raise _Gone
            case _:
                raise TypeError(behaviour)

    def _answer(self, answer, asked):
        if answer.hold_head:
            self._hold()
        finish = answer.finish or ("tool_calls" if answer.calls else "stop")
        usage = _usage(answer, asked)
        if not asked.get("stream"):
            if answer.delay and not self.stub.wait_released(self, answer.delay):
                raise _Gone
            return self._json(200, _whole(answer, asked, finish, usage))
        self._head("text/event-stream")
        deltas = _deltas(answer)
        for number, delta in enumerate(deltas):
            if answer.hold_after == number:
                self._hold()
            if answer.delay and not self.stub.wait_released(self, answer.delay):
                raise _Gone
            self._event(_chunk(asked, delta))
        if answer.hold_after is not None and answer.hold_after >= len(deltas):
            self._hold()
        self._event(_chunk(asked, {}, finish))
        if answer.hold_end:
            self._hold()
        if usage and (asked.get("stream_options") or {}).get("include_usage"):
            self._event({**_chunk(asked, {}), "choices": [], "usage": usage})
        if answer.done:
            self._part(b"data: [DONE]\n\n")
        self._part(b"")
        return None

    def _close_early(self, after, asked):
        self.close_connection = True
        if after is None:
            raise _Gone
        self._head("text/event-stream")
        for delta in _deltas(_echo(asked))[:after]:
            self._event(_chunk(asked, delta))
        raise _Gone

    def _raw(self, portions, content_type, close):
        if not close:
            self._head(content_type)
            for portion in portions:
                self._part(portion)
                time.sleep(0.005)
            return self._part(b"")
        self.close_connection = True
        self.send_response(200)
        self.send_header("content-type", content_type)
        self.send_header("connection", "close")
        self.end_headers()
        for portion in portions:
            self.wfile.write(portion)
            time.sleep(0.005)
        return None

    def _hold(self):
        if not self.stub.wait_released(self):
            raise _Gone

    def client_left(self):
        readable, _, _ = select.select([self.connection], [], [], 0)
        with contextlib.suppress(OSError):
            return bool(readable) and not self.connection.recv(1, socket.MSG_PEEK)
        return True

    def _head(self, content_type):
        self.send_response(200)
        self.send_header("content-type", content_type)
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()

    def _event(self, value):
        self._part(f"data: {json.dumps(value, ensure_ascii=False)}\n\n".encode())

    def _part(self, data):
        try:
            self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))
        except OSError:
            self.stub.left.set()
            raise

    def _json(self, status, value):
        self._send(status, json.dumps(value).encode())

    def _error(self, status, message, *, code=None, headers=()):
        error = {"message": message, "type": "stub_error", "param": None, "code": code}
        self._send(status, json.dumps({"error": error}).encode(), headers=headers)

    def _send(self, status, data, content_type="application/json", headers=()):
        self.send_response(status)
        self.send_header("content-type", content_type)
        self.send_header("content-length", str(len(data)))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)


def _text(content):
    if isinstance(content, list):
        return "".join(part.get("text", "") for part in content)
    return content or ""


def _echo(asked):
    said = [_text(m.get("content")) for m in asked.get("messages", ()) if m["role"] == "user"]
    return Answer(said[-1] if said else "nothing was said")


def _words(text):
    """Pieces that together are the text."""
    words = text.split(" ")
    return [word + " " for word in words[:-1]] + words[-1:]


def _deltas(answer):
    deltas = [{"role": "assistant", "content": ""}]
    if answer.reasoning:
        deltas.append({"reasoning_content": answer.reasoning})
    text = answer.text
    deltas += [{"content": piece} for piece in answer.pieces or (_words(text) if text else ())]
    for index, call in enumerate(answer.calls):
        function = {"name": call.name, "arguments": ""}
        first = {"index": index, "id": call.id or f"call_{index}", "type": "function"}
        deltas.append({"tool_calls": [{**first, "function": function}]})
        for start in range(0, len(call.arguments), 4):
            piece = {"arguments": call.arguments[start : start + 4]}
            deltas.append({"tool_calls": [{"index": index, "function": piece}]})
    return deltas


def _chunk(asked, delta, finish=None):
    return {
        "id": "chatcmpl-stub",
        "object": "chat.completion.chunk",
        "created": 1_700_000_000,
        "model": asked.get("model"),
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    }


def _whole(answer, asked, finish, usage):
    text = "".join(answer.pieces) or answer.text
    message = {"role": "assistant", "content": text if text or not answer.calls else None}
    if answer.calls:
        message["tool_calls"] = [
            {
                "id": call.id or f"call_{index}",
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for index, call in enumerate(answer.calls)
        ]
    whole = {
        "id": "chatcmpl-stub",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": asked.get("model"),
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
    }
    return whole | ({"usage": usage} if usage else {})


def _usage(answer, asked):
    if answer.usage is False:
        return None
    if isinstance(answer.usage, dict):
        return answer.usage
    prompt = sum(len(_text(m.get("content")).split()) for m in asked.get("messages", ()))
    said = len(("".join(answer.pieces) or answer.text).split())
    return {"prompt_tokens": prompt, "completion_tokens": said, "total_tokens": prompt + said}
