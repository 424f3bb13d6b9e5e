"""What answers as a language model."""

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from cloxy_hookspecs.context import HostContext
from cloxy_hookspecs.providers.base import Provider
from cloxy_hookspecs.types.llm import ChatDelta, ChatRequest, ModelInfo
from cloxy_hookspecs.types.settings import Setting


class LLM(Protocol):
    """A language model behind an address, asked from the event loop."""

    @property
    def place(self) -> str:
        """Where it runs, for people."""
        ...

    @property
    def remote(self) -> bool:
        """Whether a conversation leaves this machine; told before anything is sent."""
        ...

    @property
    def configured(self) -> bool:
        """Whether its owner set it up; when not, it is never chosen by itself."""
        ...

    async def models(self) -> Sequence[ModelInfo]:
        """The models that can be asked, the one that is set first; without loading any.

        Raises:
            ModelError: nobody answers, or it may not be asked.
        """
        ...

    def stream(self, request: ChatRequest) -> AsyncIterator[ChatDelta]:
        """Answer, piece by piece; closing the iterator ends the work on it.

        Raises:
            UnsupportedModelError: it cannot do what is asked (tools, a form for the answer).
            ContextTooLongError: the conversation does not fit.
            ModelTimeoutError: it takes too long.
            ModelError: it failed.
        """
        ...

    async def count(self, request: ChatRequest) -> int | None:
        """Tokens of the conversation; None when it cannot tell.

        Raises:
            ModelError: it failed.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class LLMProvider(Provider):
    """A back-end that reaches its models by itself.

    Attributes:
        concurrent: answers that it makes at the same time; further ones wait.
        create: makes it; an `aclose()` of it is called at the end.
    """

    concurrent: int = 4
    create: Callable[[HostContext], LLM]


class HostedModel(Protocol):
    """A model in a process of its own. Everything is called from one thread of that process."""

    @property
    def info(self) -> ModelInfo:
        """What is known of it once it is loaded; `backend` is filled in by the host."""
        ...

    def generate(self, request: ChatRequest) -> Iterator[ChatDelta]:
        """Answer, piece by piece; between two pieces it may be closed.

        Raises:
            Exception: one whose class is named `UnsupportedModelError` or `ContextTooLongError`
                keeps its meaning on the way to the client; every other is a failure.
        """
        ...

    def count(self, request: ChatRequest) -> int:
        """Tokens of the conversation as the model's template renders it."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class HostedModelProvider(Provider):
    """A library that runs models; the host keeps it in a process of its own.

    So a generation takes no time from the server's own thread, its memory is given back whole, and
    a crash in native code ends one answer and nothing else.

    Attributes:
        format: form of the model files that it loads.
        target: `module:function`; the function takes `HostedOptions`, loads the model and returns
            a `HostedModel`. The module is imported in that process only.
        modules: modules that must be there; looked for without importing them.
        settings: settings whose values go into `HostedOptions.settings`.
        available: why this machine cannot run it, in words; None when it can.
    """

    format: Literal["gguf", "mlx"]
    target: str
    modules: tuple[str, ...] = ()
    settings: tuple[Setting[Any], ...] = ()
    available: Callable[[], str | None] = lambda: None
