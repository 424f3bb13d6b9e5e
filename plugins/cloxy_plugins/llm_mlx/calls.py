"""Tool calls out of what a model writes, in the form that mlx-lm knows the model by."""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cloxy_hookspecs import ChatDelta
from cloxy_hookspecs.models.answers import call_delta, longest_beginning, text_delta


@dataclass(frozen=True, slots=True)
class CallForm:
    """How a model writes calls.

    Attributes:
        start: what begins a call.
        end: what ends it; empty when that is the end of the answer.
        parse: makes a mapping of `name` and `arguments`, or a list of them, of the text between;
            takes that text and the tools, and raises when it is none.
    """

    start: str
    end: str
    parse: Callable[[str, Any], Any]


class CallReader:
    """Takes the text of an answer; gives text and calls. What cannot be read stays text.

    Attributes:
        count: calls so far.
    """

    def __init__(
        self, form: CallForm, names: Collection[str], tools: Sequence[Mapping[str, Any]]
    ) -> None:
        """Begin an answer.

        Args:
            form: how the model writes calls.
            names: tools that may be called.
            tools: the tools as the template got them.
        """
        self.count = 0
        self._form = form
        self._names = frozenset(names)
        self._tools = tools
        self._held = ""

    def feed(self, text: str) -> list[ChatDelta]:
        """What is certain with the next text."""
        self._held += text
        found: list[ChatDelta] = []
        start, end = self._form.start, self._form.end
        while (at := self._held.find(start)) >= 0:
            found += self._between(self._held[:at])
            self._held = self._held[at:]
            closing = self._held.find(end, len(start)) if end else -1
            if closing < 0:
                return found
            found += self._call(self._held[len(start) : closing], self._held[: closing + len(end)])
            self._held = self._held[closing + len(end) :]
        cut = len(self._held) - longest_beginning(self._held, (start,))
        found += self._between(self._held[:cut])
        self._held = self._held[cut:]
        return found

    def end(self) -> list[ChatDelta]:
        """What was held back, as nothing more comes."""
        held, self._held = self._held, ""
        if held.startswith(self._form.start):
            return self._call(held[len(self._form.start) :], held)
        return text_delta(held)

    def _between(self, text: str) -> list[ChatDelta]:
        """Text around calls; blank lines between them are none."""
        return text_delta("" if self.count and not text.strip() else text)

    def _call(self, inner: str, raw: str) -> list[ChatDelta]:
        try:
            parsed = self._form.parse(inner, list(self._tools))
        except Exception:  # each form fails in its own way
            return text_delta(raw)
        calls = parsed if isinstance(parsed, list) else [parsed]
        if not calls or not all(self._is_call(call) for call in calls):
            return text_delta(raw)
        first, self.count = self.count, self.count + len(calls)
        return [call_delta(first, ((call["name"], _arguments(call)) for call in calls))]

    def _is_call(self, call: object) -> bool:
        return isinstance(call, dict) and call.get("name") in self._names


def _arguments(call: Mapping[str, Any]) -> str:
    arguments = call.get("arguments") or {}
    return arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
