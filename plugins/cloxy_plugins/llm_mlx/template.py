"""A conversation as the tokens that a model was trained on."""

import json
from collections.abc import Sequence
from typing import Any, Protocol

from cloxy_hookspecs import ChatRequest
from cloxy_hookspecs.models.conversations import SPLIT, TemplateTurns, refused, tools_of
from cloxy_plugins.llm_mlx.calls import CallForm


class Tokenizer(Protocol):
    """What is used of mlx-lm's `TokenizerWrapper`, and of the tokenizer that it wraps."""

    chat_template: object
    all_special_tokens: Sequence[str]
    has_chat_template: bool
    has_thinking: bool
    has_tool_calling: bool
    tool_call_start: str | None
    tool_call_end: str | None
    tool_parser: Any

    def apply_chat_template(self, *args: Any, tokenize: bool = True, **kwargs: Any) -> Any:  # noqa: ANN401 - as the library has it
        """The text of a conversation."""
        ...

    def encode(self, text: str, **kwargs: Any) -> list[int]:  # noqa: ANN401
        """Tokens of a text."""
        ...


class ChatTemplate:
    """Renders conversations.

    Attributes:
        calls: how the model writes calls; None when it calls no tools.
        alternates: whether user and assistant must be strictly by turns.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        """Look at a model's tokenizer."""
        self._tokenizer = tokenizer
        self._turns = TemplateTurns(
            json.dumps(tokenizer.chat_template, default=str),
            [str(one) for one in tokenizer.all_special_tokens],
        )
        self.alternates = self._turns.alternates
        start, end = tokenizer.tool_call_start, tokenizer.tool_call_end
        self.calls = (
            CallForm(start, end or "", tokenizer.tool_parser)
            if tokenizer.has_tool_calling and start is not None
            else None
        )

    def tokens(self, request: ChatRequest) -> list[int]:
        """Tokens of a conversation, up to where the answer begins.

        Raises:
            UnsupportedModelError: the template does not take it.
        """
        more = {"enable_thinking": False} if self._tokenizer.has_thinking else {}
        turns = self._turns.turns(request.messages)
        try:
            text = self._tokenizer.apply_chat_template(
                turns,
                tools=tools_of(request) or None,
                add_generation_prompt=True,
                tokenize=False,
                **more,
            )
        except Exception as error:  # whatever a template raises
            raise refused(error) from error
        found: list[int] = []
        for part in str(text).split(SPLIT):
            found += self._tokenizer.encode(part, add_special_tokens=False)
        return found
