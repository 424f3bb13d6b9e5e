"""What `cloxy init` and `cloxy list` show of the machine and of models."""

from collections.abc import Iterator, Sequence

from cloxy_core.cli import output
from cloxy_core.local_models.endpoints import Endpoint
from cloxy_core.local_models.hardware import GB, Hardware
from cloxy_core.local_models.recommending import Advice, Fit

SHOWN = 8
_MODELS_SHOWN = 4


def machine_lines(hardware: Hardware, advice: Advice) -> Iterator[str]:
    """The machine, and how much of it a model may take; escaped."""
    whose = "this container may use" if hardware.limited else "memory"
    free = "" if hardware.free is None else f", {hardware.free / GB:.1f} GB free now"
    yield f"chip    {output.escape(hardware.chip)}"
    yield f"memory  {hardware.total_gb:.1f} GB {whose if hardware.limited else 'in all'}{free}"
    kind = "MLX" if advice.format == "mlx" else "GGUF (llama.cpp)"
    yield f"models  {kind}, up to {advice.budget_gb:.1f} GB in memory"


def offered(advice: Advice) -> tuple[Fit, ...]:
    """What is offered for a choice: the recommended one first, then the others that fit."""
    if advice.recommended is None:
        return ()
    others = [fit for fit in advice.fits if fit.fits and fit is not advice.recommended]
    current = sorted((fit for fit in others if not fit.entry.older), key=lambda fit: fit.slow)
    return (advice.recommended, *current)[:SHOWN]


def offer_rows(offers: Sequence[Fit]) -> list[str]:
    """The offers as a table with numbers."""
    rows: list[tuple[object, ...]] = [("", "MODEL", "DOWNLOAD", "MEMORY", "CONTEXT", "")]
    for number, fit in enumerate(offers, start=1):
        rows.append(
            (
                f"{number})",
                fit.entry.name,
                f"{fit.entry.size_gb:.1f} GB",
                f"{fit.needs_gb:.1f} GB",
                f"{fit.context:,}",
                "; ".join(_remarks(fit, recommended=number == 1)),
            )
        )
    return output.table(rows, indent="  ")


def _remarks(fit: Fit, *, recommended: bool) -> Iterator[str]:
    if recommended:
        yield "recommended"
    if fit.slow:
        yield "slow on this machine"
    if not fit.entry.tools:
        yield "no tools"


def server_line(number: int, endpoint: Endpoint) -> str:
    """A server that was found, with a number; escaped."""
    names = ", ".join(endpoint.models[:_MODELS_SHOWN])
    more = len(endpoint.models) - _MODELS_SHOWN
    tail = f" and {more} more" if more > 0 else ""
    where = f"{endpoint.name} at {endpoint.base_url}"
    return f"  {number})  {output.escape(where)}: {output.escape(names)}{tail}"
