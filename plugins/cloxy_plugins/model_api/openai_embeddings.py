"""`POST /v1/embeddings`: texts as vectors, with the model that the memory uses."""

import base64
import json
from collections.abc import Mapping, Sequence

from cloxy_hookspecs import (
    EndpointAnswer,
    EndpointRequest,
    Float32Matrix,
    Float32Vector,
    HostContext,
    TextEmbedder,
)
from cloxy_plugins.model_api.errors import Endpoint
from cloxy_plugins.model_api.fields import FieldError, json_object, kind, text_field, whole_field
from cloxy_plugins.model_api.memory_text import estimate

MOST_TEXTS = 2_048
MOST_CHARACTERS = 1_000_000
"""Of all texts of a request together."""
FORMATS = ("float", "base64")


def create_embeddings(context: HostContext) -> Endpoint:
    """Make the endpoint."""
    embedder = context.service(TextEmbedder)

    async def embed(asked: EndpointRequest) -> EndpointAnswer:
        body = json_object(asked.body)
        texts = _texts(body.get("input"))
        encoding = text_field(body, "encoding_format") or "float"
        if encoding not in FORMATS:
            raise FieldError("encoding_format", "must be " + " or ".join(FORMATS))
        dimensions = whole_field(body, "dimensions", 1)
        text_field(body, "model")
        vectors = await embedder.embed(texts)
        _check_dimensions(dimensions, vectors, embedder.model)
        cost = sum(estimate(text) for text in texts)
        answer: dict[str, object] = {
            "object": "list",
            "data": [_item(index, vector, encoding) for index, vector in enumerate(vectors)],
            "model": embedder.model,
            "usage": {"prompt_tokens": cost, "total_tokens": cost},
        }
        return EndpointAnswer(body=json.dumps(answer, separators=(",", ":")).encode())

    return embed


def _texts(value: object) -> Sequence[str]:
    """The texts to embed.

    Raises:
        FieldError: there is none, there are too many, or they are something else.
    """
    if value is None:
        raise FieldError("input", "is missing", hint="Send a string or a list of strings.")
    items: Sequence[object] = [value] if isinstance(value, str) else _list(value)
    if not items:
        raise FieldError("input", "must hold at least one text")
    if len(items) > MOST_TEXTS:
        raise FieldError("input", f"must hold {MOST_TEXTS} texts at most")
    texts = [_text(item, index, alone=items is not value) for index, item in enumerate(items)]
    if sum(map(len, texts)) > MOST_CHARACTERS:
        raise FieldError("input", f"must have {MOST_CHARACTERS} characters at most, all together")
    return texts


def _list(value: object) -> Sequence[object]:
    if not isinstance(value, list):
        raise FieldError("input", f"must be a string or a list of strings, not {kind(value)}")
    items: list[object] = value
    if any(isinstance(item, (int, list)) and not isinstance(item, bool) for item in items):
        raise FieldError(
            "input",
            "token ids cannot be read: they belong to the tokenizer of another model",
            hint="Send text: a string or a list of strings.",
        )
    return items


def _text(item: object, index: int, *, alone: bool) -> str:
    place = "input" if alone else f"input[{index}]"
    if not isinstance(item, str):
        raise FieldError(place, f"must be a string, not {kind(item)}")
    if not item.strip():
        raise FieldError(place, "must not be empty")
    return item


def _check_dimensions(wanted: int | None, vectors: Float32Matrix, model: str) -> None:
    dimensions = int(vectors.shape[1])
    if wanted not in (None, dimensions):
        raise FieldError(
            "dimensions",
            f"must be {dimensions}: vectors of {model} have no other length",
            hint="Leave `dimensions` out.",
        )


def _item(index: int, vector: Float32Vector, encoding: str) -> Mapping[str, object]:
    little_endian = vector.astype("<f4")
    embedding: object = little_endian.tolist()
    if encoding == "base64":
        embedding = base64.b64encode(little_endian.tobytes()).decode()
    return {"object": "embedding", "index": index, "embedding": embedding}
