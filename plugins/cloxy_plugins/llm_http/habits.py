"""What was learned of a model by being refused."""

from dataclasses import dataclass
from itertools import pairwise

from cloxy_hookspecs import ChatRequest
from cloxy_plugins.llm_http.refusals import Refusal


@dataclass(slots=True)
class Habits:
    """How a model wants to be asked.

    Attributes:
        alternates: whether its template wants user and assistant strictly by turns.
        with_usage: whether its server knows `stream_options`.
    """

    alternates: bool = False
    with_usage: bool = True

    def learn(self, refusal: Refusal, request: ChatRequest) -> bool:
        """Take a refusal in; True when the same request may succeed now."""
        if refusal.is_alternation and not self.alternates:
            self.alternates = True
            turns = pairwise(request.messages)
            return any(a.role == b.role == "user" for a, b in turns)
        if refusal.is_stream_options and self.with_usage:
            self.with_usage = False
            return True
        return False
