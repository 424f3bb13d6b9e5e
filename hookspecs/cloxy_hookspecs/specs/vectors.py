"""Hooks of meaning: models that embed, and models that read again."""

from collections.abc import Iterable

from cloxy_hookspecs.markers import hookspec
from cloxy_hookspecs.providers.vectors import EmbedderProvider, RerankerProvider


class VectorSpecs:
    """What turns text into numbers."""

    @hookspec
    def cloxy_embedders(self) -> Iterable[EmbedderProvider]:
        """Ways to embed; one is used, as `embed.provider` and `embed.model` say.

        Example:
            ```python
            @hookimpl
            def cloxy_embedders():
                def create(context):
                    from my_embedder.model import MyEmbedder

                    return MyEmbedder()

                yield EmbedderProvider(
                    name="my-embedder", summary="Vectors of my own",
                    models=("me/my-model",), create=create,
                )
            ```
        """
        raise NotImplementedError

    @hookspec
    def cloxy_rerankers(self) -> Iterable[RerankerProvider]:
        """Models that read a question and a passage together; `recall.reranker` names one.

        Example:
            ```python
            class ByLength:
                def scores(self, query, passages):
                    return numpy.array([-len(text) for text in passages], "float32")

            @hookimpl
            def cloxy_rerankers():
                yield RerankerProvider(
                    name="by-length", summary="The short first",
                    create=lambda context: ByLength(),
                )
            ```
        """
        raise NotImplementedError
