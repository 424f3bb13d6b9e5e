"""The fusers and the signals of ranking."""

from collections.abc import Iterable

from cloxy_hookspecs import FuserProvider, SignalProvider, hookimpl


@hookimpl
def cloxy_fusers() -> Iterable[FuserProvider]:
    """Yield the weighted sum, and the reciprocal ranks of the original."""
    from cloxy_plugins.ranking.fuse import RrfFuser, WeightedFuser

    yield FuserProvider(
        name="weighted",
        summary="Weighted sum of normalised scores",
        create=lambda _context: WeightedFuser(),
    )
    yield FuserProvider(
        name="rrf",
        summary="Reciprocal ranks: the scores of Cloxy up to 5.1",
        create=lambda _context: RrfFuser(),
    )


@hookimpl
def cloxy_signals() -> Iterable[SignalProvider]:
    """Yield the signals of a candidate's text, author and age."""
    from cloxy_plugins.ranking.signals import LiteralSignal, OriginalsSignal, RecencySignal

    yield SignalProvider(
        name="literal",
        summary="A verbatim match of a literal counts extra",
        order=10,
        mode="add",
        weight=0.3,
        create=lambda _context: LiteralSignal(),
    )
    yield SignalProvider(
        name="originals",
        summary="A compaction summary ranks below the lines that it sums up",
        order=20,
        mode="tilt",
        weight=0.3,
        create=lambda _context: OriginalsSignal(),
    )
    yield SignalProvider(
        name="recency",
        summary="Newer counts more, with a half-life of 30 days",
        order=30,
        mode="tilt",
        weight=0.1,
        create=lambda _context: RecencySignal(),
    )
