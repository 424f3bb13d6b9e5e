"""A plugin whose endpoints do what a test wants, in one file for a real server."""

import asyncio
import json
from pathlib import Path

from cloxy_hookspecs import (
    Caller,
    EndpointAnswer,
    EndpointProvider,
    ModelBusyError,
    UnsupportedModelError,
    hookimpl,
)


class Places:
    def __init__(self, context):
        self.notes = Path(str(context.paths.data)) / "notes.txt"
        self.caller = context.service(Caller)

    def note(self, text):
        with self.notes.open("a") as notes:
            notes.write(f"{text}\n")

    async def echo(self, request):
        told = {
            "path_values": dict(request.path_values),
            "query": dict(request.query),
            "headers": dict(request.headers),
            "length": len(request.body),
            "owner": request.owner,
            "caller": self.caller.is_owner(),
        }
        headers = {"X-Mine": "1", "Content-Length": "3", "Transfer-Encoding": "chunked"}
        return EndpointAnswer(body=json.dumps(told).encode(), status=201, headers=headers)

    async def wait(self, _request):
        self.note("began")
        try:
            await asyncio.sleep(600)
        except asyncio.CancelledError:
            self.note("cancelled")
            raise
        return EndpointAnswer(body=b"{}")

    async def stream(self, request):
        return EndpointAnswer(
            body=Pieces(self, request.query.get("how", "")), media_type="text/event-stream"
        )

    async def fail(self, request):
        kind = request.query.get("kind")
        if kind == "busy":
            error = ModelBusyError("the model is busy", hint="wait")
            error.retry_seconds = 7
            raise error
        if kind == "unsupported":
            raise UnsupportedModelError("no tools", hint="leave them out")
        if kind == "header":
            return EndpointAnswer(body=Pieces(self, ""), headers={"x-a": "b\r\nx-c: d"})
        raise RuntimeError("a secret heron")


class Pieces:
    """An iterator that is no generator, so that nothing but the host closes it."""

    def __init__(self, places, how):
        self.places, self.how, self.count = places, how, 0

    def __aiter__(self):
        return self

    async def __anext__(self):
        self.count += 1
        if self.how == "few" and self.count == 4:
            raise StopAsyncIteration
        if self.how == "break" and self.count == 3:
            raise RuntimeError("a secret heron")
        if self.how == "fat":
            return b"x" * 1_000_000
        await asyncio.sleep(0.01)
        return f"data: {self.count}\n\n".encode()

    async def aclose(self):
        self.places.note("closed")


@hookimpl
def cloxy_endpoints():
    def endpoint(name, method, path, **more):
        return EndpointProvider(
            name=f"places-{name}",
            summary="For a test",
            method=method,
            path=path,
            effect="read",
            create=lambda context: getattr(Places(context), name),
            **more,
        )

    yield endpoint("echo", "POST", "/v9/echo", large_body=True)
    yield EndpointProvider(
        name="places-small",
        summary="For a test",
        method="POST",
        path="/v9/small",
        effect="read",
        create=lambda context: Places(context).echo,
    )
    yield EndpointProvider(
        name="places-below",
        summary="For a test",
        method="GET",
        path="/v9/below/{name:path}",
        effect="read",
        create=lambda context: Places(context).echo,
    )
    yield endpoint("wait", "POST", "/v9/wait")
    yield endpoint("stream", "GET", "/v9/stream")
    yield endpoint("fail", "GET", "/v9/fail")
