"""A request for a chat completion."""

from collections.abc import Mapping
from dataclasses import dataclass

from cloxy_hookspecs import ChatRequest
from cloxy_plugins.model_api.fields import (
    FieldError,
    flag_field,
    kind,
    list_field,
    number_field,
    object_field,
    text_field,
    whole_field,
)
from cloxy_plugins.model_api.openai_messages import read_messages
from cloxy_plugins.model_api.openai_tools import (
    read_response_format,
    read_tool_choice,
    read_tools,
)

DEFAULT_TOKENS = 512
MOST_TOKENS = 10**9
MOST_STOPS = 16
OLD_FORMS = {"functions": "tools", "function_call": "tool_choice"}
SEED = 2**63


@dataclass(frozen=True, slots=True)
class Completion:
    """What a client wants.

    Attributes:
        request: what the model is asked.
        stream: whether the answer comes piece by piece.
        include_usage: whether such an answer ends with what it cost.
    """

    request: ChatRequest
    stream: bool
    include_usage: bool


def read_completion(body: Mapping[str, object]) -> Completion:
    """Read a request; fields that nobody knows are passed over.

    Raises:
        FieldError: a field cannot be used, or asks for what there is not.
    """
    messages = read_messages(body.get("messages"))
    _refuse(body)
    tools = read_tools(body.get("tools"))
    longest = whole_field(body, "max_completion_tokens", 1, MOST_TOKENS)
    older = whole_field(body, "max_tokens", 1, MOST_TOKENS)
    request = ChatRequest(
        messages=messages,
        model=text_field(body, "model") or None,
        max_tokens=longest or older or DEFAULT_TOKENS,
        temperature=number_field(body, "temperature", 0, 2),
        top_p=number_field(body, "top_p", 0, 1),
        stop=_stop(body.get("stop")),
        seed=whole_field(body, "seed", -SEED, SEED - 1),
        tools=tools,
        tool_choice=read_tool_choice(body, tools),
        response_format=read_response_format(body.get("response_format")),
    )
    return Completion(request, flag_field(body, "stream") or False, _include_usage(body))


def _refuse(body: Mapping[str, object]) -> None:
    """Refuse what would change the answer and is not there."""
    for old, new in OLD_FORMS.items():
        if body.get(old) is not None:
            raise FieldError(old, "is an old form", hint=f"Use `{new}`.")
    if whole_field(body, "n", 1) not in (None, 1):
        raise FieldError("n", "must be 1", hint="Send the request once for each answer.")
    if flag_field(body, "logprobs") or whole_field(body, "top_logprobs", 0):
        name = "logprobs" if body.get("logprobs") else "top_logprobs"
        raise FieldError(name, "probabilities of tokens are not told", hint=f"Leave `{name}` out.")
    if body.get("modalities") not in (None, ["text"]):
        raise FieldError("modalities", "answers are text only", hint="Leave `modalities` out.")


def _stop(value: object) -> tuple[str, ...]:
    if value is None:
        return ()
    if isinstance(value, str):
        return (value,) if value else ()
    if not isinstance(value, list):
        raise FieldError("stop", f"must be a string or a list of strings, not {kind(value)}")
    texts = list_field(value, "stop")
    if len(texts) > MOST_STOPS:
        raise FieldError("stop", f"must have {MOST_STOPS} texts at most")
    for index, text in enumerate(texts):
        if not isinstance(text, str):
            raise FieldError(f"stop[{index}]", f"must be a string, not {kind(text)}")
    return tuple(dict.fromkeys(text for text in texts if isinstance(text, str) and text))


def _include_usage(body: Mapping[str, object]) -> bool:
    options = body.get("stream_options")
    if options is None:
        return False
    fields = object_field(options, "stream_options")
    return flag_field(fields, "include_usage", "stream_options.") or False
