"""`GET /v1/models` and `GET /v1/models/{id}`, in the form that the client speaks."""

import json
from collections.abc import Mapping, Sequence

from cloxy_hookspecs import (
    EndpointAnswer,
    EndpointRequest,
    HostContext,
    LLMRouter,
    ModelInfo,
    NotFoundError,
)
from cloxy_plugins.model_api import anthropic_models
from cloxy_plugins.model_api.errors import Endpoint
from cloxy_plugins.model_api.names import resolved
from cloxy_plugins.model_api.settings import MODEL_ALIASES

ANTHROPIC = "anthropic-version"
"""Header that only clients of Anthropic's API send."""


class UnknownModelError(NotFoundError):
    """There is no model of this name.

    Attributes:
        param: the field that names it.
    """

    code = "model_not_found"
    param = "model"


def create_models(context: HostContext) -> Endpoint:
    """Make the list of models."""
    router = context.service(LLMRouter)

    async def models(asked: EndpointRequest) -> EndpointAnswer:
        known = await router.models()
        if ANTHROPIC in asked.headers:
            return _answer(anthropic_models.page(known, asked.query))
        return _answer({"object": "list", "data": [_model(model) for model in known]})

    return models


def create_model(context: HostContext) -> Endpoint:
    """Make the look at one model."""
    router, aliases = context.service(LLMRouter), context.settings[MODEL_ALIASES]

    async def model(asked: EndpointRequest) -> EndpointAnswer:
        name = asked.path_values["id"]
        found = _find(await router.models(), name, aliases)
        if ANTHROPIC in asked.headers:
            return _answer(anthropic_models.one(found))
        return _answer(_model(found))

    return model


def _find(models: Sequence[ModelInfo], name: str, aliases: Mapping[str, str]) -> ModelInfo:
    for wanted in (name, resolved(name, aliases)):
        for model in models:
            if model.id == wanted:
                return model
    raise UnknownModelError(
        f"There is no model {name[:200]!r}.",
        hint="GET /v1/models lists the models; CLOXY_MODEL_ALIASES gives them further names.",
    )


def _model(model: ModelInfo) -> dict[str, object]:
    fields: dict[str, object] = {
        "id": model.id,
        "object": "model",
        "created": model.created or 0,
        "owned_by": model.backend,
    }
    if model.context_tokens is not None:
        fields["context_length"] = model.context_tokens
    return fields


def _answer(body: Mapping[str, object]) -> EndpointAnswer:
    return EndpointAnswer(body=json.dumps(body).encode())
