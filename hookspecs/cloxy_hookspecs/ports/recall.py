"""Asking the memory."""

from typing import Protocol

from cloxy_hookspecs.types.recall import Query, Recall


class Recaller(Protocol):
    """Answers questions from memory."""

    async def recall(self, query: Query) -> Recall:
        """Find what answers the question; an empty answer means that nothing is relevant.

        Raises:
            InputError: there is nothing to search for.
            ModelMissingError: `mode` is dense and no dense channel is there.
        """
        ...
