"""Tool calls out of what a model writes.

Two forms are read: JSON between `<tool_call>` and `</tool_call>`, with `name` and `arguments`
(Hermes, Qwen 2.5 and 3, SmolLM3, Granite); and JSON as the whole answer, with `name` and
`parameters` (Llama 3.1 and later). What cannot be read as a call stays text.
"""

import json
from collections.abc import Collection
from typing import Any, Final, Literal

from cloxy_hookspecs import ChatDelta
from cloxy_hookspecs.models.answers import call_delta, longest_beginning, text_delta

CallForm = Literal["tagged", "whole"]

OPEN: Final = "<tool_call>"
CLOSE: Final = "</tool_call>"
_PYTHON: Final = "<|python_tag|>"


def form_of(template: str) -> CallForm | None:
    """The form in which a template has a model call tools; None without one that is read here."""
    if "tools" not in template or "<function=" in template:
        return None
    if OPEN in template:
        return "tagged"
    if '"parameters"' in template and _PYTHON in template:
        return "whole"
    return None


class CallReader:
    """Takes the text of an answer; gives text and calls."""

    def __init__(self, form: CallForm, names: Collection[str]) -> None:
        """Begin an answer.

        Args:
            form: how the model writes calls.
            names: tools that may be called.
        """
        self._form = form
        self._names = frozenset(names)
        self._held = ""
        self._begun = False
        self.count = 0

    def feed(self, text: str) -> list[ChatDelta]:
        """What is certain with the next text."""
        self._held += text
        return self._tagged() if self._form == "tagged" else self._whole()

    def end(self) -> list[ChatDelta]:
        """What was held back, as nothing more comes."""
        held, self._held = self._held, ""
        if self._form == "tagged":
            # A call whose end the model did not write is one when its JSON is whole.
            inner = held.removeprefix(OPEN)
            return self._call(inner, held) if inner != held else text_delta(held)
        return self._call(held, held) if _looks_called(held) else text_delta(held)

    def _tagged(self) -> list[ChatDelta]:
        found: list[ChatDelta] = []
        while True:
            start = self._held.find(OPEN)
            if start < 0:
                keep = longest_beginning(self._held, (OPEN,))
                cut = len(self._held) - keep
                found += self._between(self._held[:cut])
                self._held = self._held[cut:]
                return found
            found += self._between(self._held[:start])
            self._held = self._held[start:]
            end = self._held.find(CLOSE)
            if end < 0:
                return found
            raw, self._held = self._held[: end + len(CLOSE)], self._held[end + len(CLOSE) :]
            found += self._call(raw[len(OPEN) : -len(CLOSE)], raw)

    def _between(self, text: str) -> list[ChatDelta]:
        """Text around calls; blank lines between them are none."""
        return text_delta("" if self.count and not text.strip() else text)

    def _whole(self) -> list[ChatDelta]:
        if not self._begun:
            start = self._held.lstrip()
            if not start or _PYTHON.startswith(start) or _looks_called(start):
                return []
            self._begun = True
        text, self._held = self._held, ""
        return text_delta(text)

    def _call(self, inner: str, raw: str) -> list[ChatDelta]:
        calls = [_read(one, self._names) for one in _objects(inner)]
        if not calls or None in calls:
            return text_delta(raw)
        first, self.count = self.count, self.count + len(calls)
        return [call_delta(first, filter(None, calls))]


def _looks_called(text: str) -> bool:
    return text.lstrip().startswith(("{", _PYTHON))


def _objects(text: str) -> list[Any]:
    """JSON values that follow each other, with `;` or blanks between them; none when one is not."""
    found: list[Any] = []
    text = text.strip().removeprefix(_PYTHON).strip()
    decoder = json.JSONDecoder()
    while text:
        try:
            value, end = decoder.raw_decode(text)
        except ValueError:
            return []
        found.append(value)
        text = text[end:].lstrip("; \n\r\t")
    return found


def _read(value: object, names: Collection[str]) -> tuple[str, str] | None:
    """Name and arguments of a call; None when it is none."""
    if not isinstance(value, dict):
        return None
    name = value.get("name")
    arguments = value.get("arguments", value.get("parameters", {}))
    if name not in names:
        return None
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except ValueError:
            return None
    return str(name), json.dumps(arguments, ensure_ascii=False)
