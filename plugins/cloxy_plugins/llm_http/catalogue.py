"""The models of a server, and what servers tell of them in their own ways.

Read where each kind of server has it: vLLM in `/v1/models` (`max_model_len`); llama.cpp there
(`meta`) and in `/props`; Ollama in `/api/tags`, `/api/show` and `/api/ps`; LM Studio in
`/api/v0/models`.
"""

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Protocol

from cloxy_hookspecs import CloxyError, ModelError
from cloxy_plugins.llm_http.refusals import Refusal, read_refusal

MOST_ASKED: Final = 16
"""Models of Ollama that are asked about one by one."""
OK: Final = 200
NOT_TOLD: Final = frozenset({429, 500, 502, 503, 504})
"""Answers of a server that may tell later; every other but 200 is one that is no Ollama."""
_EMBEDDING = re.compile(r"embed|\bbge\b|\be5\b|rerank", re.IGNORECASE)
_CONTEXT_FIELDS: Final = ("max_model_len", "context_length", "context_window", "max_context_length")
_NUM_CTX = re.compile(r"^num_ctx\s+(\d+)", re.MULTILINE)

Fetch = Callable[[str, str, bytes | None], Awaitable[tuple[int, bytes]]]
"""Method, path and body; status and body."""


@dataclass(frozen=True, slots=True)
class Listed:
    """A model that a server lists.

    Attributes:
        id: its name.
        created: seconds since the epoch; None when that is not told.
        owner: who made it, or which server it is.
        context_tokens: what it holds; None when that is not told.
        tools: whether it takes tools; None when that is not told.
        cloud: whether the server only passes on to another machine.
        loaded: whether it is in memory.
        chats: whether it answers in words.
    """

    id: str
    created: int | None = None
    owner: str = ""
    context_tokens: int | None = None
    tools: bool | None = None
    cloud: bool = False
    loaded: bool = False
    chats: bool = True


def has_cloud_name(model: str) -> bool:
    """Whether Ollama passes a model of this name on: tag `cloud`, or a tag that ends so."""
    tag = model.strip().rpartition(":")[2].strip().lower()
    return tag == "cloud" or tag.endswith("-cloud")


async def read_list(fetch: Fetch, path: str) -> list[Listed]:
    """The models as the OpenAI API lists them.

    Args:
        fetch: asks the server.
        path: the API's path, `/v1`.

    Raises:
        Refusal: the server refuses.
        ModelError: it answers with something else.
    """
    status, body = await fetch("GET", f"{path}/models", None)
    if status != OK:
        raise read_refusal(status, body)
    found = _json(body)
    entries = found.get("data") if isinstance(found, dict) else found
    if not isinstance(entries, list):
        raise ModelError(
            "the server of models does not list its models in the OpenAI form",
            hint="check CLOXY_LLM_BASE_URL; for most servers it ends in /v1",
        )
    return [_listed(e) for e in entries if isinstance(e, dict) and isinstance(e.get("id"), str)]


def _listed(entry: Mapping[str, Any]) -> Listed:
    meta = entry.get("meta")
    meta = meta if isinstance(meta, dict) else {}
    sizes = [entry.get(field) for field in _CONTEXT_FIELDS]
    sizes += [meta.get("n_ctx"), meta.get("n_ctx_train")]
    owner, name = entry.get("owned_by"), entry["id"]
    return Listed(
        name,
        created=_number(entry.get("created")),
        owner=owner if isinstance(owner, str) else "",
        context_tokens=next((size for found in sizes if (size := _number(found))), None),
        cloud=has_cloud_name(name) or bool(entry.get("remote_host")),
        chats=not _EMBEDDING.search(name),
    )


class Kind(Protocol):
    """How one kind of server tells more."""

    async def __call__(self, fetch: Fetch, root: str, listed: list[Listed]) -> list[Listed] | None:
        """The models with what is told beside; None when it is no such server."""
        ...


async def with_details(fetch: Fetch, root: str, listed: list[Listed]) -> list[Listed]:
    """The models with what the server tells beside; as they are when it tells nothing."""
    owners = {model.owner for model in listed}
    if "vllm" in owners or not listed:
        return listed
    kinds: Iterable[Kind] = (_ollama, _lm_studio)
    if "llamacpp" in owners:
        kinds = (_llama_cpp,)
    for kind in kinds:
        found = await kind(fetch, root, listed)
        if found is not None:
            return found
    return listed


async def _llama_cpp(fetch: Fetch, root: str, listed: list[Listed]) -> list[Listed] | None:
    """What a conversation gets is its slot's context, not the one of the training."""
    props = await _quiet(fetch, "GET", f"{root}/props")
    settings = props.get("default_generation_settings")
    size = _number(settings.get("n_ctx")) if isinstance(settings, dict) else None
    if size is None or len(listed) != 1:
        return None
    return [replace(listed[0], context_tokens=size, loaded=True)]


async def _lm_studio(fetch: Fetch, root: str, listed: list[Listed]) -> list[Listed] | None:
    found = (await _quiet(fetch, "GET", f"{root}/api/v0/models")).get("data")
    if not isinstance(found, list):
        return None
    told = {entry["id"]: entry for entry in found if isinstance(entry, dict) and "id" in entry}
    return [_with_lm_studio(model, told.get(model.id, {})) for model in listed]


def _with_lm_studio(model: Listed, entry: Mapping[str, Any]) -> Listed:
    sizes = (_number(entry.get(f"{kind}_context_length")) for kind in ("loaded", "max"))
    able = entry.get("capabilities")
    return replace(
        model,
        context_tokens=next(filter(None, sizes), model.context_tokens),
        tools="tool_use" in able if isinstance(able, list) else model.tools,
        loaded=entry.get("state") == "loaded",
        chats=entry.get("type") in {"llm", "vlm"} if "type" in entry else model.chats,
    )


async def _ollama(fetch: Fetch, root: str, listed: list[Listed]) -> list[Listed] | None:
    found = (await _quiet(fetch, "GET", f"{root}/api/tags")).get("models")
    if not isinstance(found, list):
        return None
    entries = [entry for entry in found if isinstance(entry, dict)]
    cloud = {entry.get("name") for entry in entries if _passes_on(entry)}
    running = (await _quiet(fetch, "GET", f"{root}/api/ps")).get("models")
    loaded = {
        entry.get("name"): _number(entry.get("context_length"))
        for entry in (running if isinstance(running, list) else ())
        if isinstance(entry, dict)
    }
    limit = asyncio.Semaphore(4)

    async def shown(model: Listed) -> Listed:
        async with limit:
            told = await _quiet(fetch, "POST", f"{root}/api/show", {"model": model.id})
        model = replace(model, cloud=model.cloud or model.id in cloud, loaded=model.id in loaded)
        return _with_ollama(model, told, loaded.get(model.id))

    asked = await asyncio.gather(*map(shown, listed[:MOST_ASKED]))
    rest = [replace(model, cloud=model.cloud or model.id in cloud) for model in listed[MOST_ASKED:]]
    return [*asked, *rest]


def _with_ollama(model: Listed, told: Mapping[str, Any], running: int | None) -> Listed:
    info, able = told.get("model_info"), told.get("capabilities")
    trained = next(
        (
            size
            for name, value in (info if isinstance(info, dict) else {}).items()
            if name.endswith(".context_length") and (size := _number(value))
        ),
        None,
    )
    parameters = told.get("parameters")
    set_to = _NUM_CTX.search(parameters) if isinstance(parameters, str) else None
    return replace(
        model,
        context_tokens=running or (int(set_to[1]) if set_to else None) or trained,
        tools="tools" in able if isinstance(able, list) else model.tools,
        chats="completion" in able if isinstance(able, list) and able else model.chats,
        cloud=model.cloud or _passes_on(told),
    )


async def passes_on(fetch: Fetch, root: str, model: str) -> bool:
    """Whether the server is Ollama and only passes a model on to another machine.

    Raises:
        Refusal: the server is too busy to tell.
        ModelError: nobody answers.
    """
    if has_cloud_name(model):
        return True
    body = json.dumps({"model": model}).encode()
    status, answer = await fetch("POST", f"{root}/api/show", body)
    if status in NOT_TOLD:
        raise read_refusal(status, answer)
    found = _json(answer)
    return isinstance(found, dict) and _passes_on(found)


def _passes_on(entry: Mapping[str, Any]) -> bool:
    return bool(entry.get("remote_host") or entry.get("remote_model"))


async def _quiet(
    fetch: Fetch, method: str, path: str, body: Mapping[str, Any] | None = None
) -> Mapping[str, Any]:
    """An object that a server may have; empty when it has none."""
    try:
        status, answer = await fetch(
            method, path, None if body is None else json.dumps(body).encode()
        )
    except (CloxyError, Refusal):
        return {}
    found = _json(answer) if status == OK else None
    return found if isinstance(found, dict) else {}


def _json(body: bytes) -> object:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _number(found: object) -> int | None:
    return found if isinstance(found, int) and not isinstance(found, bool) and found > 0 else None
