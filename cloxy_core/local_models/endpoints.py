"""Servers with an OpenAI-style API: those that usually run on this machine, and any other."""

import http.client
import json
import socket
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final
from urllib.parse import SplitResult, urlsplit

from cloxy_hookspecs.errors import InputError

USUAL: Final = (
    ("Ollama", "http://127.0.0.1:11434/v1"),
    ("LM Studio", "http://127.0.0.1:1234/v1"),
    ("llama.cpp server", "http://127.0.0.1:8080/v1"),
)
PROBE_SECONDS: Final = 1.5
_MAX_ANSWER: Final = 1024 * 1024
_MAX_MODELS: Final = 500
_MAX_NAME: Final = 300


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A server.

    Attributes:
        name: which program it is, for people.
        base_url: its address, with `/v1`.
        models: its models, without those that it passes on to another machine.
        cloud: its models that another machine computes.
    """

    name: str
    base_url: str
    models: tuple[str, ...]
    cloud: tuple[str, ...] = ()


def find_endpoints(
    usual: Sequence[tuple[str, str]] = USUAL, seconds: float = PROBE_SECONDS
) -> tuple[Endpoint, ...]:
    """Those of the usual servers that answer, asked all at the same time."""
    with ThreadPoolExecutor(max_workers=max(1, len(usual))) as pool:
        found = pool.map(lambda one: ask_endpoint(*one, seconds=seconds), usual)
        return tuple(each for each in found if each is not None)


def ask_endpoint(
    name: str, base_url: str, *, seconds: float = PROBE_SECONDS, api_key: str = ""
) -> Endpoint | None:
    """A server and its models; None when it does not answer as such servers do.

    No proxy is asked and no redirect followed.

    Args:
        name: for people.
        base_url: address with `/v1`.
        seconds: time limit of the whole answer.
        api_key: key to send; empty for none.
    """
    try:
        names = _names(_get(f"{base_url}/models", seconds, api_key))
    except (OSError, http.client.HTTPException, ValueError, RecursionError):
        return None
    if names is None:
        return None
    cloud = tuple(each for each in names if _is_cloud(each))
    return Endpoint(name, base_url, tuple(each for each in names if each not in cloud), cloud)


def base_url_of(text: str) -> str:
    """An address as it is kept: with scheme, without a slash at its end, with `/v1`.

    Raises:
        InputError: it is no address of a server.
    """
    given = text.strip()
    full = given if "://" in given else f"http://{given}"
    parts = _parts(full)
    if parts is None or any(character <= " " or character == "\x7f" for character in given):
        raise InputError(
            f"{text!r} is no address of a server", hint="such as http://127.0.0.1:11434/v1"
        )
    if parts.username or parts.query or parts.fragment:
        raise InputError(
            "the address of a server holds no user, query or fragment",
            hint="a key goes into CLOXY_LLM_API_KEY",
        )
    path = parts.path.rstrip("/").removesuffix("/chat/completions").removesuffix("/models")
    return f"{parts.scheme}://{parts.netloc}{path or '/v1'}"


def _parts(address: str) -> SplitResult | None:
    """An address taken apart; None when it is none of a server."""
    try:
        parts = urlsplit(address)
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return None
    return parts if usable else None


def _is_cloud(name: str) -> bool:
    """Whether Ollama passes a model on to its makers' machines, which its name tells."""
    tag = name.rpartition(":")[2].casefold()
    return tag == "cloud" or tag.endswith("-cloud")


def _names(data: bytes) -> tuple[str, ...] | None:
    """Names in the list of models; None when it is no such list."""
    found = json.loads(data)
    entries = found.get("data") if isinstance(found, dict) else None
    if not isinstance(entries, list):
        return None
    ids = [entry.get("id") for entry in entries[:_MAX_MODELS] if isinstance(entry, dict)]
    return tuple(each for each in ids if isinstance(each, str) and 0 < len(each) <= _MAX_NAME)


def _get(url: str, seconds: float, api_key: str) -> bytes:
    """The body of an answer with status 200.

    Raises:
        OSError: nobody answers in time.
        http.client.HTTPException: it is no HTTP.
        ValueError: another status, or too long.
    """
    parts = urlsplit(url)
    deadline = time.monotonic() + seconds
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = kind(parts.hostname or "", parts.port, timeout=seconds)
    headers = {"Accept": "application/json"}
    if api_key:
        headers["Authorization"] = f"Bearer {api_key}"
    try:
        connection.request("GET", parts.path, headers=headers)
        sock: socket.socket = connection.sock
        response = connection.getresponse()
        if response.status != 200:
            raise ValueError(f"status {response.status}")
        data = bytearray()
        while piece := response.read1(65_536):
            data += piece
            left = deadline - time.monotonic()
            if len(data) > _MAX_ANSWER or left <= 0:
                raise ValueError("too long")
            sock.settimeout(left)
        return bytes(data)
    finally:
        connection.close()
