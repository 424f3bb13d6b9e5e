"""One exchange with a server of models, over a connection to an address that was judged.

Loaded with the first request: its libraries are large, and many servers ask none.
"""

import ssl
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import lru_cache
from typing import Final

import httpcore2
import httpx2

from cloxy_hookspecs import CloxyError, ModelError, ModelTimeoutError, Network
from cloxy_plugins.llm_http.address import Address
from cloxy_plugins.llm_http.dialler import Dialler

REDIRECTS: Final = range(300, 400)


class Answer:
    """A response whose body is still to come.

    Attributes:
        status: HTTP status.
        headers: names in lower case.
    """

    def __init__(self, response: httpcore2.Response) -> None:
        """Read the head of a response."""
        self._response = response
        self.status = response.status
        self.headers: Mapping[str, str] = {
            name.decode("latin-1").lower(): value.decode("latin-1")
            for name, value in response.headers
        }

    def pieces(self) -> AsyncIterator[bytes]:
        """The body as it comes."""
        return self._response.aiter_stream()

    async def body(self, limit: int) -> bytes:
        """The body, its first `limit` bytes."""
        found = bytearray()
        async for piece in self.pieces():
            found += piece
            if len(found) >= limit:
                break
        return bytes(found[:limit])


@asynccontextmanager
async def exchange(
    network: Network,
    addresses: Sequence[str],
    address: Address,
    asked: tuple[str, str, bytes | None, str],
    timing: tuple[float, float],
) -> AsyncIterator[Answer]:
    """One request; its answer is read inside.

    Args:
        network: where a connection is really made.
        addresses: judged ones, dialled in order.
        address: the server.
        asked: method, path, body or None, and key or nothing.
        timing: seconds for a connection, and between two signs of life.

    Raises:
        ModelTimeoutError: nothing came for too long.
        ModelError: nobody answers, it breaks off, or it sends elsewhere.
    """
    method, path, body, key = asked
    connect, seconds = timing
    limits = {"connect": connect, "read": seconds, "write": seconds, "pool": seconds}
    url = httpcore2.URL(
        scheme=address.scheme, host=address.host, port=address.port, target=path.encode()
    )
    try:
        async with (
            httpcore2.AsyncConnectionPool(
                ssl_context=_trusted() if address.scheme == "https" else None,
                network_backend=Dialler(network, addresses),
                max_connections=1,
                max_keepalive_connections=0,
                retries=0,
                http1=True,
                http2=False,
            ) as pool,
            pool.stream(
                method,
                url,
                headers=_headers(address, body, key),
                content=body,
                extensions={"timeout": limits},
            ) as response,
        ):
            answer = Answer(response)
            _refuse_redirect(address, answer)
            yield answer
    except (httpcore2.TimeoutException, httpcore2.NetworkError, httpcore2.ProtocolError) as e:
        raise _trouble(address, e, seconds) from e


def _headers(address: Address, body: bytes | None, key: str) -> list[tuple[bytes, bytes]]:
    headers = {
        "host": address.place,
        "accept": "text/event-stream, application/json",
        "accept-encoding": "identity",
        "user-agent": "cloxy",
        "connection": "close",
    }
    if body is not None:
        headers |= {"content-type": "application/json", "content-length": str(len(body))}
    if key:
        headers["authorization"] = f"Bearer {key}"
    return [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]


def _refuse_redirect(address: Address, answer: Answer) -> None:
    if answer.status in REDIRECTS:
        where = answer.headers.get("location", "nowhere")[:200]
        raise ModelError(
            f"the server of models {address.origin} sends elsewhere, to {where!r}; that is not "
            "followed",
            hint="set CLOXY_LLM_BASE_URL to where the API really is",
        )


def _trouble(address: Address, error: Exception, seconds: float) -> CloxyError:
    """What went wrong, in words."""
    where = f"the server of models {address.origin}"
    started = "start it, or check CLOXY_LLM_BASE_URL"
    match error:
        case httpcore2.ConnectTimeout():
            return ModelTimeoutError(f"{where} takes no connection", hint=started)
        case httpcore2.TimeoutException():
            return ModelTimeoutError(
                f"{where} was silent for {seconds:g} seconds",
                hint="raise CLOXY_LLM_HTTP_SILENT_SECONDS when the model needs longer",
            )
        case httpcore2.ConnectError():
            if isinstance(error.__cause__ or error.__context__, ssl.SSLError):
                return ModelError(f"{where} has no certificate that is trusted: {_reason(error)}")
            return ModelError(f"{where} does not answer", hint=started)
        case _:
            return ModelError(f"{where} broke off: {_reason(error)}", hint="ask again")


def _reason(error: Exception) -> str:
    return str(error).partition("\n")[0][:200] or type(error).__name__


@lru_cache(maxsize=1)
def _trusted() -> ssl.SSLContext:
    """Certificates as the operating system trusts them; no variable changes that."""
    return httpx2.create_ssl_context(trust_env=False)
