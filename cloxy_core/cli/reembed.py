"""`cloxy reembed`: make all vectors anew, with the model that the settings name."""

import asyncio
import os
import sys
import time
from typing import TYPE_CHECKING

import click

from cloxy_core.cli import fields, output
from cloxy_core.cli.line import Line, bar

if TYPE_CHECKING:
    from cloxy_core.cli.reembed_run import Outcome

INTERRUPTED = 130
_STEPS = 10
"""Lines of progress where it cannot be one that changes."""


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print what was done as JSON.")
def reembed(as_json: bool) -> int:
    """Make the vectors of all passages with the model that is set now.

    Needed after a change of the model, its dimension or a prefix. The server must be stopped. What
    has a vector of that model already is passed over, so that an interrupted run goes on where it
    was; the vectors of other models are removed at the end. Exits with 1 when a passage could not
    be embedded.
    """
    # As `cloxy start` does; the engine is imported only when it is going to run.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    from cloxy_core.cli.reembed_run import as_object, run

    with FillProgress() as progress:
        try:
            outcome = asyncio.run(run(os.environ, progress))
        except KeyboardInterrupt:
            progress.clear()
            output.print_line(f"stopped: {progress.reached()}.", error=True)
            output.print_line(
                "Nothing is lost: run `cloxy reembed` again, or start the server, and it goes on.",
                error=True,
            )
            return INTERRUPTED
    if as_json:
        output.print_json(as_object(outcome))
    else:
        _show(outcome)
    return 1 if outcome.failed else 0


def _show(outcome: "Outcome") -> None:
    model, count = output.escape(outcome.model), outcome.embedded
    if count:
        passages = "1 passage" if count == 1 else f"{count:,} passages"
        output.print_line(f"{passages} embedded in {fields.duration(outcome.seconds)}")
    output.print_line(f"vectors of {model}: {outcome.vectors:,}")
    if outcome.failed:
        output.print_line(f"failed: {output.escape(outcome.reason or '')}", error=True)


class FillProgress(Line):
    """Shows on standard error how far it is: one line on a terminal, a few elsewhere."""

    def __init__(self) -> None:
        super().__init__()
        self._watched = output.is_terminal(sys.stderr)
        self._began = time.monotonic()
        self._done = self._total = self._told = 0

    def __call__(self, done: int, total: int) -> None:
        """So many passages of so many have been embedded."""
        if not self._done:
            # The model has been loaded by now, which says nothing about the rate.
            self._began = time.monotonic()
        first, self._done, self._total = not self._done, done, total
        line = fill_line(done, total, 0.0 if first else time.monotonic() - self._began)
        step = _STEPS * done // max(1, total)
        if self._watched:
            self.draw(line)
        elif step > self._told:
            self._told = step
            output.print_line(line, error=True)

    def reached(self) -> str:
        """How far it came, in words."""
        if not self._total:
            return "no passage has been embedded yet"
        return f"{self._done:,} of {self._total:,} passages have been embedded"


def fill_line(done: int, total: int, elapsed: float) -> str:
    """One line: bar, passages, passages a second, time left.

    Args:
        done: passages embedded.
        total: passages to embed in all.
        elapsed: seconds that they took; 0 when it is not known.
    """
    line = f"{bar(done, total)} {done:,}/{total:,} passages"
    if done and elapsed > 0:
        rate = done / elapsed
        line += f" · {rate:,.1f} a second"
        if total > done:
            line += f" · about {fields.duration((total - done) / rate)} left"
    return line
