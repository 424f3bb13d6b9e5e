"""The model APIs: what clients of OpenAI and of Anthropic ask, answered with memory."""

from collections.abc import Iterable
from typing import Any

from cloxy_hookspecs import EndpointProvider, Setting, hookimpl


@hookimpl
def cloxy_settings() -> Iterable[Setting[Any]]:
    """Yield what its owner may choose."""
    from cloxy_plugins.model_api.settings import SETTINGS

    yield from SETTINGS


@hookimpl
def cloxy_endpoints() -> Iterable[EndpointProvider]:
    """Yield the paths of both APIs."""
    from cloxy_plugins.model_api import anthropic_endpoints, openai_endpoints

    yield from openai_endpoints.endpoints()
    yield from anthropic_endpoints.endpoints()
