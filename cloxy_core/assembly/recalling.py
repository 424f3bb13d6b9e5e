"""Recall."""

from functools import partial

from cloxy_core.assembly.base import Base, log
from cloxy_core.core_settings import RERANK
from cloxy_core.services.embedding.service import EmbeddingService
from cloxy_core.services.indexing import Indexing
from cloxy_core.services.recall.meaning import Asking
from cloxy_core.services.recall.ranking import ActiveSignal
from cloxy_core.services.recall.reranking import Reranking
from cloxy_core.services.recall.service import RecallService
from cloxy_hookspecs.seats import EXPANDERS, FUSERS, RERANKERS, SIGNALS


def make_reranking(base: Base) -> Reranking:
    """The reranker, made when it is first wanted; it may be missing."""
    record = base.registry.optional(RERANKERS)
    make = None if record is None else partial(base.lifespan.create, record)
    return Reranking(make, base.workers, log, always=base.settings[RERANK])


def make_recaller(
    base: Base, indexing: Indexing, embedding: EmbeddingService, reranking: Reranking
) -> RecallService:
    """Recall over all indexes, with every signal and expander that could be made."""
    registry, lifespan = base.registry, base.lifespan
    signals = [
        ActiveSignal(record, signal)
        for record in registry.all(SIGNALS)
        for _name, signal in lifespan.create_all([record])
    ]
    expanders = registry.all(EXPANDERS)
    fuser = registry.one(FUSERS)
    return RecallService(
        base.store,
        [expander for _name, expander in lifespan.create_all(expanders)],
        indexing.channels,
        lifespan.create(fuser),
        signals,
        Asking(embedding, indexing.trouble, indexing.failed, embedding.space),
        reranking,
    )
