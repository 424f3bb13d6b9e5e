"""Endpoints: paths whose form others prescribe."""

import re
from collections.abc import Awaitable, Callable

from cloxy_core.testing.conformance.base import CreatedConformance
from cloxy_core.testing.conformance.surface import EFFECTS, METHODS
from cloxy_core.testing.harness import App
from cloxy_hookspecs import CloxyError, EndpointAnswer, EndpointProvider, EndpointRequest
from cloxy_hookspecs.seats import ENDPOINTS

_SEGMENT = re.compile(r"[A-Za-z0-9._~-]+|\{[a-z][a-z0-9_]*\}")
_REST = re.compile(r"\{[a-z][a-z0-9_]*:path\}")
_FIELD = re.compile(r"\{([a-z][a-z0-9_]*)(?::path)?\}")
GARBAGE = (
    b"",
    b"{",
    b"[]",
    b"null",
    b'"text"',
    b"\xff\xfe",
    b'{"messages": 7, "input": 7, "model": 7}',
    b'{"messages": [7], "input": [[]], "model": "x", "max_tokens": "many"}',
    b"[" * 100_000,
)

Call = Callable[[EndpointRequest], Awaitable[EndpointAnswer]]


class EndpointConformance(CreatedConformance, of_the_kit=True):
    """An endpoint."""

    seat = ENDPOINTS

    def test_its_place_is_sound(self, provider: EndpointProvider) -> None:
        """A known method, plain segments, and placeholders with names of their own."""
        assert provider.method in METHODS
        assert provider.effect in EFFECTS
        assert provider.path.startswith("/")
        *segments, last = provider.path.removeprefix("/").split("/")
        assert all(_SEGMENT.fullmatch(segment) for segment in segments), provider.path
        assert _SEGMENT.fullmatch(last) or _REST.fullmatch(last), provider.path
        names = _FIELD.findall(provider.path)
        assert len(names) == len(set(names)), provider.path
        if provider.large_body:
            assert not names, "only bodies of a fixed path may be large"

    def test_what_can_be_got_only_reads(self, provider: EndpointProvider) -> None:
        """Browsers and proxies repeat a GET as they like."""
        if provider.method == "GET":
            assert provider.effect == "read"

    def test_garbage_is_refused_in_words(
        self, provider: EndpointProvider, made: Call, app: App
    ) -> None:
        """Whatever is sent, the client learns what is wrong, and nothing breaks."""
        if provider.method in {"GET", "DELETE"}:
            return
        values = dict.fromkeys(_FIELD.findall(provider.path), "x")
        for body in GARBAGE:
            request = EndpointRequest(path_values=values, body=body)
            try:
                answer = app.do(made(request))
            except CloxyError:
                continue
            assert isinstance(answer, EndpointAnswer)
            assert answer.status >= 400, f"it took {body[:40]!r}"
