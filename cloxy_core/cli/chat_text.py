"""An answer on a terminal while it comes: nothing in it is obeyed."""

from cloxy_core.escaping import escape


class StreamEscaper:
    """Escapes a text that comes in pieces as if it had come whole."""

    def __init__(self) -> None:
        self._rest = ""

    def feed(self, text: str) -> str:
        """What can be shown with the next piece.

        A carriage return or the first half of a character at its end waits for what follows.
        """
        pending = self._rest + text
        held = pending[-1:] if pending[-1:] == "\r" or _is_first_half(pending[-1:]) else ""
        self._rest = held
        return _escaped(pending[: len(pending) - len(held)])

    def end(self) -> str:
        """What waited."""
        rest, self._rest = self._rest, ""
        return _escaped(rest)


def _is_first_half(character: str) -> bool:
    return "\ud800" <= character <= "\udbff" if character else False


def _escaped(text: str) -> str:
    """Both halves of a character that came apart are one again."""
    if any("\ud800" <= character <= "\udbff" for character in text):
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return escape(text, lines=True)
