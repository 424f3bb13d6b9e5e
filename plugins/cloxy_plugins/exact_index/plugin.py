"""The dense channel: an exact index of vectors, in memory."""

from collections.abc import Iterable

from cloxy_hookspecs import HostContext, VectorIndex, VectorIndexProvider, hookimpl


@hookimpl
def cloxy_indexes() -> Iterable[VectorIndexProvider]:
    """Yield the channel `dense`."""

    def create(context: HostContext) -> VectorIndex:
        from cloxy_plugins.exact_index.index import ExactIndex

        return ExactIndex(context.store, context.log)

    yield VectorIndexProvider(
        name="exact",
        summary="Meaning, by comparing a question with every passage",
        channel="dense",
        create=create,
    )
