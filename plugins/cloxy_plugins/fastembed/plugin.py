"""What the plugin brings: its settings, the embedder and the cross-encoder."""

from collections.abc import Iterable
from typing import Any

from cloxy_hookspecs import (
    Embedder,
    EmbedderProvider,
    HostContext,
    Reranker,
    RerankerProvider,
    Setting,
    hookimpl,
)


@hookimpl
def cloxy_settings() -> Iterable[Setting[Any]]:
    """Where downloaded models lie, and which model reads again."""
    from cloxy_plugins.fastembed.settings import CACHE_DIR, RERANK_MODEL

    yield CACHE_DIR
    yield RERANK_MODEL


@hookimpl
def cloxy_embedders() -> Iterable[EmbedderProvider]:
    """The models of the catalogue, and those in folders."""
    from cloxy_plugins.fastembed.catalogue import EMBEDDERS

    def create(context: HostContext) -> Embedder:
        from cloxy_plugins.fastembed.embedder import create_embedder

        return create_embedder(context)

    def at_hand(context: HostContext) -> bool:
        from cloxy_plugins.fastembed.embedder import is_at_hand

        return is_at_hand(context)

    yield EmbedderProvider(
        name="fastembed",
        summary="bge, E5, arctic, jina and others by name, downloaded once; or a folder",
        extra="fastembed",
        models=tuple(EMBEDDERS),
        folders=True,
        create=create,
        at_hand=at_hand,
    )


@hookimpl
def cloxy_rerankers() -> Iterable[RerankerProvider]:
    """The cross-encoder."""

    def create(context: HostContext) -> Reranker:
        from cloxy_plugins.fastembed.reranker import create_reranker

        return create_reranker(context)

    yield RerankerProvider(
        name="cross-encoder",
        summary="A model that reads the question and each passage together",
        extra="fastembed",
        create=create,
    )
