"""`cloxy demo`: the product on invented sessions, in a folder that goes away again."""

import asyncio
import os
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

import click

from cloxy_core.cli import output

if TYPE_CHECKING:
    from cloxy_core.demo.shown import Demonstration

PREFIX = "cloxy-demo-"


@click.command()
@click.option(
    "--keep",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Leave sessions and memory in this folder, which must be empty or new.",
)
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
def demo(keep: Path | None, as_json: bool) -> None:
    """Show what Cloxy does, on invented sessions of a small team.

    Reads them into a temporary folder, asks three questions and shows what was found and why.
    Your sessions, your data directory and your settings are not touched, nothing listens on a
    port, and the folder is removed at the end.
    """
    with _terminated_as_interrupted(), _folder(keep) as folder:
        shown = _demonstrate(folder)
    if as_json:
        from cloxy_core.cli.demo_json import as_object

        output.print_json(as_object(shown, keep))
        return
    from cloxy_core.cli.demo_text import lines_of

    for line in lines_of(shown, keep):
        output.print_line(line)


def _demonstrate(folder: Path) -> "Demonstration":
    # As `cloxy start` does; the engine is imported only when it is going to run.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    from cloxy_core.demo.running import demonstrate
    from cloxy_core.runtime.paths import private_umask

    before = private_umask()
    try:
        with _talk() as tell:
            return asyncio.run(demonstrate(folder, os.environ, tell))
    finally:
        os.umask(before)


@contextmanager
def _folder(keep: Path | None) -> Iterator[Path]:
    """A folder for the demonstration, removed at the end unless it is to be kept.

    Raises:
        click.UsageError: the folder to keep cannot be used.
    """
    if keep is None:
        with tempfile.TemporaryDirectory(prefix=PREFIX, ignore_cleanup_errors=True) as name:
            # Resolved, because the temporary folder may be behind a link.
            yield Path(name).resolve()
        return
    folder = keep.expanduser().absolute()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        used = any(folder.iterdir())
    except OSError as error:
        raise click.UsageError(f"{folder} cannot be used: {error.strerror}") from error
    if used:
        raise click.UsageError(f"{folder} is not empty; name a new folder")
    yield folder


@contextmanager
def _terminated_as_interrupted() -> Iterator[None]:
    """Let SIGTERM end the command as Ctrl-C does, so that the folder is removed then, too."""

    def told(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, told)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def _talk() -> Iterator["_Teller"]:
    """Something to say what is going on; it says nothing where nobody watches."""
    teller = _Teller(watched=output.is_terminal(sys.stderr))
    try:
        yield teller
    finally:
        teller("")


class _Teller:
    """One line on standard error, replaced by the next."""

    def __init__(self, *, watched: bool) -> None:
        self._watched = watched
        self._width = 0

    def __call__(self, text: str) -> None:
        if self._watched:
            line = f"{text} …" if text else ""
            sys.stderr.write("\r" + line.ljust(self._width) + ("" if text else "\r"))
            sys.stderr.flush()
            self._width = len(line)
