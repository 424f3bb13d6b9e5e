"""What a server of models refused, and what that means here."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from cloxy_hookspecs import (
    ChatRequest,
    CloxyError,
    ContextTooLongError,
    ModelBusyError,
    ModelError,
    ModelMissingError,
    ModelTimeoutError,
    UnsupportedModelError,
)

MOST_WORDS: Final = 400
MOST_NAMED: Final = 20
_ALTERNATE = re.compile(r"\balternat(e|ing|ion)\b", re.IGNORECASE)
_TOO_LONG = re.compile(
    r"context[_ ](length|window|size)|maximum context|exceed_context|prompt is too long"
    r"|(input|prompt) length .* exceeds|too many tokens",
    re.IGNORECASE,
)
_TOOLS = re.compile(r"\btools?\b|tool[_-]|function[ _-]call", re.IGNORECASE)
_FORMAT = re.compile(
    r"response_format|json_schema|json_object|grammar|guided|structured output", re.IGNORECASE
)
_MODEL = re.compile(r"\bmodel", re.IGNORECASE)
_STREAM_OPTIONS = re.compile(r"stream_options", re.IGNORECASE)


@dataclass
class Refusal(Exception):
    """A server did not do what it was asked.

    Attributes:
        status: HTTP status; None for an error within a stream.
        words: what the server says.
        code: its code or kind of error; may be empty.
    """

    status: int | None
    words: str
    code: str = ""

    @property
    def is_alternation(self) -> bool:
        """Whether its template wants user and assistant strictly by turns."""
        return _ALTERNATE.search(self.words) is not None

    @property
    def is_stream_options(self) -> bool:
        """Whether it does not know `stream_options`."""
        return self.status in {400, 422} and _STREAM_OPTIONS.search(self.words) is not None

    @property
    def is_tools(self) -> bool:
        """Whether it speaks of tools."""
        return self.status in {None, 400, 422, 500, 501} and bool(_TOOLS.search(self.words))

    @property
    def is_format(self) -> bool:
        """Whether it speaks of the form of the answer."""
        return self.status in {None, 400, 422, 500, 501} and bool(_FORMAT.search(self.words))

    @property
    def is_too_long(self) -> bool:
        """Whether the conversation does not fit."""
        return self.status not in {401, 403, 404, 429} and bool(
            _TOO_LONG.search(self.words) or _TOO_LONG.search(self.code)
        )


def read_refusal(status: int, body: bytes) -> Refusal:
    """A refusal out of an error's body, be that JSON or anything else."""
    text = body.decode("utf-8", "replace")
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return Refusal(status, _clean(text))
    return refusal_of(status, found if isinstance(found, dict) else {"error": text})


def refusal_of(status: int | None, body: Mapping[str, Any]) -> Refusal:
    """A refusal out of JSON: OpenAI's form, Ollama's, FastAPI's."""
    error = body.get("error") or body.get("detail") or body.get("message") or body
    if isinstance(error, dict):
        words = error.get("message") or error.get("error") or json.dumps(error)
        known = [error.get("code"), error.get("type")]
    else:
        words = error if isinstance(error, str) else json.dumps(error)
        known = [body.get("code"), body.get("type")]
    codes = " ".join(code for code in known if isinstance(code, str))
    return Refusal(status, _clean(words if isinstance(words, str) else json.dumps(words)), codes)


def _clean(words: str) -> str:
    line = " ".join("".join(c if c.isprintable() else " " for c in words).split())
    return line if len(line) <= MOST_WORDS else line[:MOST_WORDS] + "…"


def meaning(
    refusal: Refusal, request: ChatRequest, model: str, where: str, known: Sequence[str]
) -> CloxyError:
    """The error that a refusal stands for.

    Args:
        refusal: what the server said.
        request: what it was asked.
        model: the model that was asked.
        where: the server, for people.
        known: models that the server has.
    """
    says = f"{where} says: {refusal.words or f'status {refusal.status}'}"
    if refusal.is_too_long:
        return ContextTooLongError(
            f"the conversation does not fit into the context of {model!r}; {says}",
            hint="start a new conversation, or give the model more context where its server runs",
        )
    if request.tools and refusal.is_tools:
        return UnsupportedModelError(
            f"{model!r} takes no tools there; {says}",
            hint="use a model and a server that take tools, or ask without them",
        )
    if request.response_format is not None and refusal.is_format:
        return UnsupportedModelError(
            f"{model!r} takes no form for its answer there; {says}",
            hint="ask without response_format",
        )
    return _by_status(refusal, model, where, known, says)


def _by_status(
    refusal: Refusal, model: str, where: str, known: Sequence[str], says: str
) -> CloxyError:
    match refusal.status:
        case 401 | 403:
            return ModelError(
                f"the key is not taken; {says}",
                hint="set CLOXY_LLM_API_KEY to the key that the server of models wants",
            )
        case 404 if _MODEL.search(refusal.words):
            return missing(model, where, known)
        case 404 | 405:
            return ModelError(
                f"there is no chat API at {where}; it says: {refusal.words}",
                hint="check CLOXY_LLM_BASE_URL; for most servers it ends in /v1",
            )
        case 408 | 504:
            return ModelTimeoutError(says, hint="ask again")
        case 429 | 503:
            return ModelBusyError(says, hint="ask again in a moment")
        case 400 | 413 | 422:
            return UnsupportedModelError(f"the request is refused; {says}")
        case None:
            return ModelError(f"the answer broke off; {says}", hint="look into the server's log")
        case status:
            return ModelError(
                f"the server of models failed with status {status}; {says}",
                hint="look into its log",
            )


def missing(model: str, where: str, known: Sequence[str]) -> ModelMissingError:
    """The error for a model that the server does not have."""
    names = ", ".join(known[:MOST_NAMED]) + (", …" if len(known) > MOST_NAMED else "")
    return ModelMissingError(
        f"{where} has no model {model!r}; it has: {names or 'none'}",
        hint="set CLOXY_LLM_MODEL to one of them, or install it there (ollama pull …)",
    )
