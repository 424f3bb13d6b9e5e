"""Models in GGUF files."""

from collections.abc import Iterable
from typing import Any

from cloxy_hookspecs import HostedModelProvider, Setting, hookimpl


@hookimpl
def cloxy_settings() -> Iterable[Setting[Any]]:
    """Yield what of the machine a model may use."""
    from cloxy_plugins.llm_llama_cpp.settings import SETTINGS

    yield from SETTINGS


@hookimpl
def cloxy_llms() -> Iterable[HostedModelProvider]:
    """Yield the back-end."""
    from cloxy_plugins.llm_llama_cpp.settings import SETTINGS

    yield HostedModelProvider(
        name="llama-cpp",
        summary="GGUF files, run by llama.cpp in a process of their own",
        extra="llama",
        format="gguf",
        target="cloxy_plugins.llm_llama_cpp.loading:load",
        modules=("llama_cpp",),
        settings=SETTINGS,
    )
