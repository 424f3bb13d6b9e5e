"""A server of models: Ollama, LM Studio, llama.cpp, vLLM, or any other that speaks the API."""

from collections.abc import Iterable
from typing import Any

from cloxy_hookspecs import LLM, HostContext, LLMProvider, Network, Setting, hookimpl


@hookimpl
def cloxy_settings() -> Iterable[Setting[Any]]:
    """Yield where the server is, and what may leave this machine."""
    from cloxy_plugins.llm_http.settings import SETTINGS

    yield from SETTINGS


@hookimpl
def cloxy_llms() -> Iterable[LLMProvider]:
    """Yield the back-end."""

    def create(context: HostContext) -> LLM:
        from cloxy_plugins.llm_http.model import create_model

        return create_model(context)

    yield LLMProvider(
        name="llm-http",
        summary="Ollama, LM Studio, llama.cpp, vLLM: any address that speaks the OpenAI API",
        requires=(Network,),
        create=create,
    )
