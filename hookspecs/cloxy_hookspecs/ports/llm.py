"""Asking the language model that a role was given."""

from collections.abc import AsyncIterator, Sequence
from typing import Protocol

from cloxy_hookspecs.types.llm import (
    BackendStatus,
    ChatAnswer,
    ChatDelta,
    ChatRequest,
    ModelChoice,
    ModelInfo,
    ModelRole,
)
from cloxy_hookspecs.types.vectors import Float32Matrix


class LLMRouter(Protocol):
    """Sends a request to the back-end of its role; at most so many at a time, the others wait.

    Nothing is loaded and nothing is sent before a request comes, unless its owner wants it so.
    """

    async def models(self, role: ModelRole = "chat") -> Sequence[ModelInfo]:
        """The models of a role, the one that is set first; empty when it has no back-end.

        Raises:
            ModelError: the back-end cannot be asked.
        """
        ...

    async def choose(self, model: str | None, role: ModelRole = "chat") -> ModelInfo:
        """The model that would answer a request for this one; the one that is set for None.

        A name that is not known to the back-end means the one that is set, as clients send the
        names that they were made for.

        Raises:
            ModelMissingError: the role has no back-end, or that has no model; the hint says what
                to do.
            ModelError: the back-end cannot be asked.
        """
        ...

    def stream(self, request: ChatRequest, role: ModelRole = "chat") -> AsyncIterator[ChatDelta]:
        """Answer, piece by piece; closing the iterator, or cancelling who reads it, ends the work.

        Raises:
            ModelMissingError: there is nobody to ask.
            ModelBusyError: too many wait, or it waited too long.
            RemoteModelError: it would leave this machine, which its owner did not allow.
            UnsupportedModelError: the model cannot do what is asked.
            ContextTooLongError: the conversation does not fit.
            ModelTimeoutError: it takes too long.
            ModelError: it failed.
        """
        ...

    async def complete(self, request: ChatRequest, role: ModelRole = "chat") -> ChatAnswer:
        """The whole answer; raises as `stream` does."""
        ...

    async def count(self, request: ChatRequest, role: ModelRole = "chat") -> int:
        """Tokens of the conversation; an estimate on the safe side where the back-end cannot tell.

        Raises:
            ModelMissingError: there is nobody to ask.
            ModelError: it failed.
        """
        ...

    def status(self, role: ModelRole = "chat") -> BackendStatus | None:
        """How the back-end of a role is, without asking it; None when the role has none."""
        ...


class ModelChoices(Protocol):
    """What `cloxy init` set up."""

    def current(self) -> ModelChoice | None:
        """The model that was chosen last, read anew when its file changes; None without one.

        Raises:
            ConfigError: the file cannot be read.
        """
        ...


class TextEmbedder(Protocol):
    """Turns texts of a client into vectors, with the model that the memory uses."""

    @property
    def model(self) -> str:
        """Name of the model; empty without one."""
        ...

    async def embed(self, texts: Sequence[str]) -> Float32Matrix:
        """Vectors of shape (n, d), unit length, in the order of the texts; as passages.

        Raises:
            ModelMissingError: there is no model, or it is not loaded yet.
            ModelError: it failed.
        """
        ...
