"""The endpoints of OpenAI's API."""

from collections.abc import Iterable

from cloxy_hookspecs import DateReader, EndpointProvider, Fence, LLMRouter, Recaller, TextEmbedder
from cloxy_plugins.model_api.openai_chat import create_completions
from cloxy_plugins.model_api.openai_embeddings import create_embeddings
from cloxy_plugins.model_api.openai_models import create_model, create_models


def endpoints() -> Iterable[EndpointProvider]:
    """Yield them."""
    yield EndpointProvider(
        name="openai-chat-completions",
        summary="Answer a conversation as OpenAI's API does, with memory where it is wanted",
        requires=(LLMRouter, Recaller, DateReader, Fence),
        method="POST",
        path="/v1/chat/completions",
        effect="write",
        large_body=True,
        create=create_completions,
    )
    yield EndpointProvider(
        name="openai-models",
        summary="List the models that can be asked",
        requires=(LLMRouter,),
        method="GET",
        path="/v1/models",
        effect="read",
        create=create_models,
    )
    yield EndpointProvider(
        name="openai-model",
        summary="Tell of one model that can be asked",
        requires=(LLMRouter,),
        method="GET",
        path="/v1/models/{id:path}",
        effect="read",
        create=create_model,
    )
    yield EndpointProvider(
        name="openai-embeddings",
        summary="Turn texts into vectors, with the model that the memory uses",
        requires=(TextEmbedder,),
        method="POST",
        path="/v1/embeddings",
        effect="read",
        large_body=True,
        create=create_embeddings,
    )
