"""The fence for plugins: what they put into a conversation is data, and looks like it."""

from cloxy_core.escaping import escape
from cloxy_core.services.echo import fence


class DataFence:
    """Wraps text for a model."""

    def fence(self, text: str) -> str:
        """A block that says that it is data; characters that nobody sees are made visible."""
        return fence(escape(text, lines=True))
