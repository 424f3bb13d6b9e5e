"""The chat template of a model: a conversation as the one text that the model was trained on."""

from collections.abc import Callable, Collection

from cloxy_hookspecs import ChatRequest
from cloxy_hookspecs.models.conversations import SPLIT, TemplateTurns, refused, tools_of
from cloxy_plugins.llm_llama_cpp.calls import CallForm, form_of

Render = Callable[..., str]
"""Takes `messages`, `tools` and further variables of the template."""


class ChatTemplate:
    """Renders conversations.

    Attributes:
        calls: the form in which the model calls tools; None when it does not.
        alternates: whether user and assistant must be strictly by turns.
    """

    def __init__(self, source: str, render: Render, controls: Collection[str]) -> None:
        """Look at a template.

        Args:
            source: its text.
            render: renders it.
            controls: texts of the control tokens.
        """
        self._render = render
        self._turns = TemplateTurns(source, controls)
        self._thinks = "enable_thinking" in source
        self.calls: CallForm | None = form_of(source)
        self.alternates = self._turns.alternates

    def render(self, request: ChatRequest) -> list[str]:
        """The text of a conversation, up to where the answer begins, cut where it must be.

        Raises:
            UnsupportedModelError: the template does not take it.
        """
        more = {"enable_thinking": False} if self._thinks else {}
        turns, tools = self._turns.turns(request.messages), tools_of(request) or None
        try:
            text = self._render(messages=turns, tools=tools, **more)
        except Exception as error:  # whatever a template raises
            raise refused(error) from error
        return text.split(SPLIT)
