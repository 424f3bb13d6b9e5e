"""Hooks of the way out: from a question to memories."""

from collections.abc import Iterable

from cloxy_hookspecs.markers import hookspec
from cloxy_hookspecs.providers.recall import (
    ExpanderProvider,
    FuserProvider,
    IndexProvider,
    SignalProvider,
)
from cloxy_hookspecs.providers.vectors import VectorIndexProvider


class RecallSpecs:
    """What answers a question."""

    @hookspec
    def cloxy_expanders(self) -> Iterable[ExpanderProvider]:
        """Readers of the question, before anything is searched.

        Example:
            ```python
            class Acronyms:
                async def expand(self, query):
                    text = query.search_text.replace("k8s", "kubernetes")
                    return replace(query, search_text=text)

            @hookimpl
            def cloxy_expanders():
                yield ExpanderProvider(
                    name="acronyms", summary="Write out acronyms", order=50,
                    create=lambda context: Acronyms(),
                )
            ```
        """
        raise NotImplementedError

    @hookspec
    def cloxy_indexes(self) -> Iterable[IndexProvider | VectorIndexProvider]:
        """Channels to search in, one for each channel name.

        Example:
            ```python
            @hookimpl
            def cloxy_indexes():
                from my_index.memory import InMemoryIndex

                yield AfterIndexProvider(
                    name="in-memory", summary="A toy", channel="toy", weight=0.1,
                    create=lambda context: InMemoryIndex(),
                )
            ```
        """
        raise NotImplementedError

    @hookspec
    def cloxy_fusers(self) -> Iterable[FuserProvider]:
        """Ways to make one list of several.

        Example:
            ```python
            @hookimpl
            def cloxy_fusers():
                from my_fuser.borda import Borda

                yield FuserProvider(
                    name="borda", summary="Count votes", create=lambda context: Borda()
                )
            ```
        """
        raise NotImplementedError

    @hookspec
    def cloxy_signals(self) -> Iterable[SignalProvider]:
        """Properties of a candidate that move its score.

        Example:
            ```python
            class Short:
                def values(self, batch, query):
                    return [1.0 if len(text) < 200 else 0.0 for text in batch.texts]

            @hookimpl
            def cloxy_signals():
                yield SignalProvider(
                    name="short", summary="Prefer the short", order=500, mode="multiply",
                    weight=0.05, create=lambda context: Short(),
                )
            ```
        """
        raise NotImplementedError
