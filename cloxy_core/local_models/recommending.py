"""Which models fit this machine, and which of them is the one to take.

A share of the memory goes to the model, a larger one on larger machines, and never so much that
system and editor have too little. What a model takes is its weights, and the cache of its context.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from cloxy_core.local_models.catalogue import LOAD_CONTEXT, CatalogueEntry, ModelFormat
from cloxy_core.local_models.hardware import GB, Hardware

_GIB: Final = 1024**3
# (memory up to this many GiB, share of it for a model)
_SHARES: Final = ((16, 0.55), (32, 0.65), (64, 0.72))
_LARGEST_SHARE: Final = 0.78
_ROOM_GB: Final = 4.0
_ROOM_IN_CONTAINER_GB: Final = 1.0
_ROOMY_CONTEXT: Final = 16_384
_CONTEXTS: Final = (32_768, 16_384, 8_192, 4_096)
# Without a fast graphics part the weights come through main memory for every token: beyond this
# an answer is slower than a person reads.
_SLOW_GB: Final = 3.2


@dataclass(frozen=True, slots=True)
class Fit:
    """A model on this machine.

    Attributes:
        entry: the model.
        context: the longest context to load it with, in tokens; None when it does not fit.
        needs_gb: memory that it takes with it, 10^9 bytes; with a small context when it does not
            fit.
        slow: whether it answers slower than a person reads.
    """

    entry: CatalogueEntry
    context: int | None
    needs_gb: float
    slow: bool

    @property
    def fits(self) -> bool:
        """Whether it can be loaded here."""
        return self.context is not None


@dataclass(frozen=True, slots=True)
class Advice:
    """What this machine can run.

    Attributes:
        format: the format for it.
        budget_gb: memory that a model may take, 10^9 bytes.
        fits: all models of that format, the present ones before older ones, the larger first.
        recommended: the one to take; None when none fits.
        reason: why none fits, in words with what to do; None when one does.
    """

    format: ModelFormat
    budget_gb: float
    fits: tuple[Fit, ...]
    recommended: Fit | None
    reason: str | None


def advise(
    hardware: Hardware, catalogue: Sequence[CatalogueEntry], kind: ModelFormat | None = None
) -> Advice:
    """Say what fits.

    Args:
        hardware: the machine.
        catalogue: the models.
        kind: format to look at; None for the one that suits the machine.
    """
    chosen = kind or best_format(hardware)
    budget = budget_gb(hardware)
    fits = sorted(
        (_fit(entry, budget, hardware) for entry in catalogue if entry.format == chosen),
        key=lambda fit: (fit.entry.older, -fit.entry.size_gb, fit.entry.name),
    )
    present = [fit for fit in fits if fit.fits and not fit.entry.older]
    recommended = max(present, key=_worth, default=None)
    return Advice(
        format=chosen,
        budget_gb=budget,
        fits=tuple(fits),
        recommended=recommended,
        reason=None if recommended is not None else _why_nothing(hardware, budget, fits),
    )


def _worth(fit: Fit) -> tuple[bool, bool, bool, bool, float]:
    """What makes one model better than another, the most important first.

    An answer has to come as fast as it is read; the entry has to be known to be right; memories
    need a context to lie in.
    """
    entry = fit.entry
    roomy = (fit.context or 0) >= _ROOMY_CONTEXT
    size = -entry.active_gb if fit.slow else entry.size_gb
    return not fit.slow, "id" in entry.confirmed, roomy, entry.tools, size


def best_format(hardware: Hardware) -> ModelFormat:
    """MLX where it runs, GGUF everywhere else."""
    return "mlx" if hardware.apple_silicon else "gguf"


def budget_gb(hardware: Hardware) -> float:
    """Memory that a model may take, 10^9 bytes; at least 0."""
    share = next(
        (part for limit, part in _SHARES if hardware.total <= limit * _GIB), _LARGEST_SHARE
    )
    room = _ROOM_IN_CONTAINER_GB if hardware.limited else _ROOM_GB
    amounts = [hardware.total_gb * share, hardware.total_gb - room]
    if hardware.gpu_limit is not None:
        amounts.append(hardware.gpu_limit / GB)
    return max(0.0, min(amounts))


def longest_context(entry: CatalogueEntry, budget: float) -> int | None:
    """The longest context with which a model fits; None when it does not even with a small one."""
    least = min(LOAD_CONTEXT, entry.context_tokens)
    for context in _CONTEXTS:
        if least <= context <= entry.context_tokens and entry.needs_gb(context) <= budget:
            return context
    return None


def _fit(entry: CatalogueEntry, budget: float, hardware: Hardware) -> Fit:
    context = longest_context(entry, budget)
    return Fit(
        entry=entry,
        context=context,
        needs_gb=entry.needs_gb(context or min(LOAD_CONTEXT, entry.context_tokens)),
        slow=not hardware.apple_silicon and entry.active_gb > _SLOW_GB,
    )


def _why_nothing(hardware: Hardware, budget: float, fits: Sequence[Fit]) -> str:
    if not fits:
        return "the catalogue has no model of this format; give any Hugging Face id"
    smallest = min(fits, key=lambda fit: fit.needs_gb)
    whose = "this container may use" if hardware.limited else "this machine has"
    return (
        f"{whose} {hardware.total_gb:.1f} GB of memory, of which a model may take {budget:.1f} GB; "
        f"the smallest, {smallest.entry.name}, takes {smallest.needs_gb:.1f} GB. Use a server on "
        "another machine (`cloxy init --server URL`), or give a smaller model with --model"
    )
