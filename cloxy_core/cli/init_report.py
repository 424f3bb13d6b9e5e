"""What `cloxy init` did, in words and as JSON."""

from dataclasses import dataclass

from cloxy_core.cli import fields, output
from cloxy_core.cli.init_backend import ServerSays, in_words, missing_extra
from cloxy_core.cli.init_places import Places
from cloxy_core.local_models.hardware import Hardware
from cloxy_core.local_models.recommending import Advice
from cloxy_core.local_models.setting_up import Planned
from cloxy_hookspecs.types.llm import ModelChoice


@dataclass(slots=True)
class Done:
    """What came of it.

    Attributes:
        choice: the model; None when a plan shows less than that.
        planned: what the hub has of it; None when it was not asked.
        downloaded: bytes that came.
        already: whether all was there before.
        written: whether the choice was written.
        notes: what a person should know.
        server: what the running server says; None when it was not asked.
        label: what was asked for, for people.
        dry_run: whether nothing was to be done.
    """

    choice: ModelChoice | None = None
    planned: Planned | None = None
    downloaded: int = 0
    already: bool = False
    written: bool = False
    notes: tuple[str, ...] = ()
    server: ServerSays | None = None
    label: str = ""
    dry_run: bool = False


def show_done(done: Done, places: Places) -> None:
    """Print what was done, or would be, for a person."""
    for note in done.notes:
        output.print_line(f"note: {output.escape(note)}", error=True)
    if done.dry_run:
        _show_plan(done, places)
        return
    choice = done.choice
    assert choice is not None
    state = "is set up" if done.written else "was set up already"
    checked = " Its files are whole." if done.already and choice.format != "http" else ""
    output.print_line(f"{output.escape(choice.name)} {state}.{checked}")
    if choice.path is not None:
        output.print_line(f"  files   {output.escape(choice.path)}")
    else:
        output.print_line(f"  server  {output.escape(choice.source)}")
    output.print_line(f"  choice  {output.escape(places.config)}")
    extra = missing_extra(choice)
    if extra is not None:
        output.print_line(f"What runs it is not installed yet: {extra}")
    elif done.server is not None:
        output.print_line(output.escape(in_words(done.server, choice)))
    output.print_line("Next: cloxy chat")


def _show_plan(done: Done, places: Places) -> None:
    if done.planned is not None:
        listing = done.planned.listing
        output.print_line(
            f"{output.escape(done.label)}: {fields.size(done.planned.missing)} would be "
            f"downloaded from {output.escape(listing.repo)} at {listing.commit[:12]}"
        )
        rows = [(file.path, fields.size(file.size)) for file in done.planned.files]
        for line in output.table(rows, indent="  "):
            output.print_line(line)
        if listing.licence:
            output.print_line(f"  licence: {output.escape(listing.licence)}")
    else:
        output.print_line(f"{output.escape(done.label)}: nothing would be downloaded")
    output.print_line(f"The choice would be written to {output.escape(places.config)}.")


def as_object(done: Done, places: Places, hardware: Hardware, advice: Advice) -> dict[str, object]:
    """What was done, for `--json`."""
    choice, planned = done.choice, done.planned
    return {
        "model": done.label,
        "choice": None if choice is None else choice_object(choice),
        "config": str(places.config),
        "written": done.written,
        "already": done.already,
        "downloaded_bytes": done.downloaded,
        "planned": None
        if planned is None
        else {
            "repo": planned.listing.repo,
            "commit": planned.listing.commit,
            "licence": planned.listing.licence,
            "missing_bytes": planned.missing if done.dry_run else 0,
            "files": [{"path": each.path, "size": each.size} for each in planned.files],
        },
        "notes": list(done.notes),
        "install": None if choice is None else missing_extra(choice),
        "server": None if done.server is None else done.server.as_object(),
        "machine": {
            "chip": hardware.chip,
            "memory_gb": round(hardware.total_gb, 1),
            "budget_gb": round(advice.budget_gb, 1),
            "format": advice.format,
        },
    }


def choice_object(choice: ModelChoice) -> dict[str, object]:
    """A choice for `--json`."""
    return {
        "name": choice.name,
        "format": choice.format,
        "source": choice.source,
        "path": choice.path,
        "load_gb": choice.load_gb,
        "context_tokens": choice.context_tokens,
        "model": choice.model,
    }
