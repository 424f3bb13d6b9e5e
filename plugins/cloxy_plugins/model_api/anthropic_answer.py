"""Answers in the form of the Messages API."""

import json
import secrets
from collections.abc import Mapping, Sequence

from cloxy_hookspecs import TokenUsage
from cloxy_plugins.model_api.anthropic_writing import ToolUse


def as_json(value: Mapping[str, object]) -> bytes:
    """JSON in ASCII: a line separator would end an event for some readers, as would U+0085.

    Half of a surrogate pair, as back-ends cut them, is an escape like all others.
    """
    return json.dumps(value).encode()


def message_id() -> str:
    """A new id of a message."""
    return f"msg_{secrets.token_hex(12)}"


def message(model: str, prompt: int) -> dict[str, object]:
    """A message that is still empty, as the first event of a stream shows it.

    Args:
        model: the name that the client asked for. Clients look its context and its price up by
            it, and take another name for a change of model; who answered is told in `cloxy_meta`.
        prompt: tokens of the conversation.
    """
    return {
        "id": message_id(),
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage(TokenUsage(prompt=prompt, completion=0)),
    }


def usage(tokens: TokenUsage) -> dict[str, object]:
    """What an answer cost; what had been computed before does not count as input again."""
    return {
        "input_tokens": max(0, tokens.prompt - tokens.cached),
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": tokens.cached,
        "output_tokens": tokens.completion,
    }


def tool_use(use: ToolUse) -> dict[str, object]:
    """The block of a call."""
    return {"type": "tool_use", "id": use.id, "name": use.name, "input": dict(use.input)}


def content(text: str, uses: Sequence[ToolUse]) -> list[Mapping[str, object]]:
    """The blocks of an answer: its text, then its calls."""
    blocks: list[Mapping[str, object]] = [{"type": "text", "text": text}] if text else []
    return [*blocks, *(tool_use(use) for use in uses)]
