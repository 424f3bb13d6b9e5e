"""The default embedder, and the settings by which a benchmark replaces its model."""

from collections.abc import Iterable

from cloxy_hookspecs import (
    Check,
    CheckProvider,
    Embedder,
    EmbedderProvider,
    HostContext,
    Setting,
    hookimpl,
)


@hookimpl
def cloxy_settings() -> Iterable[Setting[object]]:
    """Yield the settings for benchmarks."""
    from cloxy_plugins.minilm.settings import MODEL_DIR, SPACE_ID

    yield from (MODEL_DIR, SPACE_ID)


@hookimpl
def cloxy_embedders() -> Iterable[EmbedderProvider]:
    """Yield the embedder."""
    from cloxy_plugins.minilm.names import MODELS

    def create(context: HostContext) -> Embedder:
        from cloxy_plugins.minilm.creation import create_embedder

        return create_embedder(context)

    yield EmbedderProvider(
        name="minilm",
        summary="all-MiniLM-L6-v2, which comes with Cloxy and runs on the processor",
        models=MODELS,
        create=create,
    )


@hookimpl
def cloxy_checks() -> Iterable[CheckProvider]:
    """Yield the check of the model's files."""

    def create(context: HostContext) -> Check:
        from cloxy_plugins.minilm.check import create_check

        return create_check(context)

    yield CheckProvider(
        name="minilm-files", summary="files of the built-in embedding model", create=create
    )
