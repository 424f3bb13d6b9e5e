"""`cloxy list`: models that can be set up by name."""

from typing import TYPE_CHECKING, Final

import click

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cloxy_core.cli.init_places import Places
    from cloxy_core.local_models.catalogue import ModelFormat
    from cloxy_core.local_models.recommending import Fit
    from cloxy_hookspecs.types.llm import ModelChoice

_HEAD: Final = ("", "MODEL", "DOWNLOAD", "MEMORY", "TOOLS", "HERE", "ID")


@click.command("list")
@click.option(
    "--format",
    "kind",
    type=click.Choice(["gguf", "mlx"]),
    help="Models of this format; by default of the one that suits this machine.",
)
@click.option(
    "--all", "everything", is_flag=True, help="Older models and those that do not fit, too."
)
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
def list_(kind: "ModelFormat | None", everything: bool, as_json: bool) -> int:
    """Show the models that `cloxy init --model` knows by name, and what of them is here.

    * is the one that is set up, > the recommended one. Any other model of Hugging Face can be set
    up by its id.
    """
    from cloxy_core.cli import output
    from cloxy_core.cli.init_places import find_places
    from cloxy_core.cli.init_text import machine_lines
    from cloxy_core.local_models.catalogue import load_catalogue
    from cloxy_core.local_models.choice import read_choice
    from cloxy_core.local_models.hardware import detect
    from cloxy_core.local_models.recommending import advise

    places = find_places()
    choice = read_choice(places.config)
    hardware = detect()
    advice = advise(hardware, load_catalogue(), kind)
    if as_json:
        best = advice.recommended
        output.print_json(
            {
                "format": advice.format,
                "budget_gb": round(advice.budget_gb, 1),
                "chip": hardware.chip,
                "memory_gb": round(hardware.total_gb, 1),
                "reason": advice.reason,
                "models": [
                    {
                        **_object(fit, places, choice),
                        "recommended": fit is best,
                    }
                    for fit in advice.fits
                ],
            }
        )
        return 0
    for line in machine_lines(hardware, advice):
        output.print_line(line)
    output.print_line()
    shown = [
        fit
        for fit in advice.fits
        if everything or _is_here(fit, places) or (fit.fits and not fit.entry.older)
    ]
    rows = [_row(fit, places, choice, best=fit is advice.recommended) for fit in shown]
    for line in output.table([_HEAD, *rows]):
        output.print_line(line)
    output.print_line()
    for note in _notes(len(advice.fits) - len(shown), advice.reason, shown):
        output.print_line(output.escape(note))
    return 0


def _row(
    fit: "Fit", places: "Places", choice: "ModelChoice | None", *, best: bool
) -> tuple[str, ...]:
    entry = fit.entry
    mark = "*" if _is_chosen(fit, choice) else ">" if best else ""
    needs = f"{entry.load_gb:.1f} GB" + ("" if fit.fits else ", too much")
    here = "yes" if _is_here(fit, places) else ""
    size = f"{entry.size_gb:.1f} GB"
    return (mark, entry.name, size, needs, "yes" if entry.tools else "no", here, entry.id)


def _notes(hidden: int, reason: str | None, shown: "list[Fit]") -> "Iterator[str]":
    if reason is not None:
        yield reason
    if hidden:
        yield f"{hidden} more do not fit or are older; --all shows them."
    dates = sorted({fit.entry.looked_up for fit in shown})
    if dates:
        yield f"Sizes were looked up on {dates[-1]}; none of these was run by who made the list."


def _is_chosen(fit: "Fit", choice: "ModelChoice | None") -> bool:
    """Whether an entry is the one that is set up, down to its file."""
    entry = fit.entry
    if choice is None or choice.source != entry.id or choice.format != entry.format:
        return False
    return entry.file is None or (choice.path or "").replace("\\", "/").endswith(f"/{entry.file}")


def _is_here(fit: "Fit", places: "Places") -> bool:
    """Whether an entry was downloaded whole, by the sizes of its files."""
    from cloxy_core.local_models.repo_name import Wanted
    from cloxy_core.local_models.storage import FOLDER, missing_or_short, read_manifest

    folder = places.data_dir / FOLDER / Wanted(fit.entry.id).folder
    manifest = read_manifest(folder)
    if manifest is None:
        return False
    files = [each for each in manifest.files if fit.entry.file in {None, each.path}]
    return bool(files) and not missing_or_short(folder, files)


def _object(fit: "Fit", places: "Places", choice: "ModelChoice | None") -> dict[str, object]:
    entry = fit.entry
    return {
        "name": entry.name,
        "id": entry.id,
        "file": entry.file,
        "tier": entry.tier,
        "size_gb": entry.size_gb,
        "load_gb": entry.load_gb,
        "needs_gb": round(fit.needs_gb, 1),
        "context_tokens": fit.context,
        "trained_context_tokens": entry.context_tokens,
        "tools": entry.tools,
        "licence": entry.licence,
        "fits": fit.fits,
        "slow": fit.slow,
        "older": entry.older,
        "here": _is_here(fit, places),
        "chosen": _is_chosen(fit, choice),
        "looked_up": entry.looked_up,
        "confirmed": list(entry.confirmed),
        "run_here": entry.run_here,
    }
