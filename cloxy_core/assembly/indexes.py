"""Indexes, and the embedder that feeds some of them."""

from collections.abc import Sequence
from contextlib import suppress
from functools import partial

from cloxy_core.assembly.base import Base, log
from cloxy_core.services.embedding.choosing import choose_embedder
from cloxy_core.services.embedding.making import Embedders
from cloxy_core.services.embedding.service import EmbeddingService
from cloxy_core.services.indexing import AfterChannel, Channel, CommitChannel, Indexing
from cloxy_core.services.vector_feed import VectorChannel
from cloxy_hookspecs import (
    CommitIndexProvider,
    IndexProvider,
    PluginError,
    VectorIndexProvider,
)
from cloxy_hookspecs.seats import INDEXES


def make_channels(base: Base) -> Sequence[Channel]:
    """A channel for each index; one that cannot be made is noted, and the others do without it."""
    channels: list[Channel] = []
    for record in base.registry.keyed(INDEXES).values():
        with suppress(PluginError):
            channels.append(_channel(base, record))
    return channels


def _channel(base: Base, record: IndexProvider | VectorIndexProvider) -> Channel:
    if isinstance(record, CommitIndexProvider):
        return CommitChannel(record, base.lifespan.create(record))
    if isinstance(record, VectorIndexProvider):
        again = partial(record.create, base.context(record))
        return VectorChannel(record, base.lifespan.create(record), again)
    return AfterChannel(record, base.lifespan.create(record))


def make_embedding(base: Base, indexing: Indexing, embedders: Embedders) -> EmbeddingService:
    """The embedder that the settings choose; the vectors of what is indexed need it."""
    service = EmbeddingService(
        choose_embedder(base.registry, base.settings, base.lifespan.create),
        base.settings,
        base.store,
        indexing,
        base.workers,
        base.clock,
        log,
        embedders=embedders,
    )
    service.has_room = base.no_room
    indexing.needs = service
    return service
