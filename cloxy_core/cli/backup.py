"""`cloxy backup` and `cloxy restore`: keeping a copy of the memory, and putting one back."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cloxy_core.cli import fields, output
from cloxy_core.runtime.wording import counted

if TYPE_CHECKING:
    from cloxy_core.services.keeping.copying import Kept
    from cloxy_core.services.keeping.restoring import Restored

_FILE = click.Path(path_type=Path)


@click.command()
@click.argument("file", required=False, type=_FILE)
@click.option("--force", is_flag=True, help="Replace FILE if it is there.")
@click.option("--json", "as_json", is_flag=True, help="Print what was done as JSON.")
def backup(file: Path | None, force: bool, as_json: bool) -> int:
    """Write a checked copy of the memory to FILE, while the server runs or not.

    Without FILE it goes into the folder `backups` of the data directory, where it stays until you
    delete it. The key of what was forgotten goes beside it (FILE.key): keep both. Neither is
    encrypted.
    """
    from cloxy_core.cli.doctor_text import ProgressLine
    from cloxy_core.core_settings import data_directory, load_settings
    from cloxy_core.runtime.clock import SystemClock
    from cloxy_core.runtime.paths import DataDirectory, private_umask
    from cloxy_core.services.keeping.copying import keep

    private_umask()
    paths = DataDirectory(data_directory(load_settings(os.environ)).absolute())
    with ProgressLine() as progress:
        now = SystemClock().now()
        kept = keep(paths, file, now=now, force=force, tell=progress.tell)
    if as_json:
        output.print_json(_kept_object(kept))
    else:
        _show_kept(kept)
    return 0


def _kept_object(kept: "Kept") -> dict[str, object]:
    return {
        "path": str(kept.path),
        "key": None if kept.key is None else str(kept.key),
        "bytes": kept.bytes,
        "memories": kept.memories,
        "messages": kept.messages,
        "seconds": round(kept.seconds, 3),
        "warning": kept.warning,
    }


def _show_kept(kept: "Kept") -> None:
    output.print_line(f"backup: {output.escape(kept.path)} ({fields.size(kept.bytes)})")
    if kept.key is not None:
        output.print_line(f"key of what was forgotten: {output.escape(kept.key)}")
    output.print_line(_holds(kept) + f"; checked, in {fields.duration(kept.seconds)}")
    output.print_line("It is not encrypted, and holds what the memory holds.")
    if kept.warning:
        output.warn(kept.warning)


def _holds(held: "Kept | Restored") -> str:
    return f"memories: {held.memories:,}, messages: {held.messages:,}"


@click.command()
@click.argument("file", type=_FILE)
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--json", "as_json", is_flag=True, help="Print what was done as JSON.")
def restore(file: Path, yes: bool, as_json: bool) -> int:
    """Put the backup FILE in the place of the memory; the server must be stopped.

    The present memory is kept as a backup before. What was forgotten since FILE was made stays
    forgotten. The next start reads again what session logs got since.
    """
    from cloxy_core.runtime.paths import private_umask

    private_umask()
    if not yes:
        _ask(file)
    done = _restore(file)
    if as_json:
        output.print_json(_restored_object(done))
    else:
        _show_restored(done)
    return 0


def _ask(file: Path) -> None:
    if not (output.is_terminal(sys.stdin) and output.is_terminal(sys.stderr)):
        raise click.UsageError("nobody can be asked here; add --yes to restore without a question")
    words = f"Replace the memory by {output.escape(file)}? The present one is kept as a backup."
    click.confirm(words, abort=True, err=True)


def _restore(file: Path) -> "Restored":
    """Restore under the lock of the data directory.

    Raises:
        DataDirectoryInUseError: a server runs; the message names it, and nothing was changed.
        CloxyError: the backup cannot be restored; nothing was changed.
    """
    from cloxy_core.cli.doctor_text import ProgressLine
    from cloxy_core.cli.opening import plugins_of, take_lock
    from cloxy_core.core_settings import (
        data_directory,
        load_settings,
    )
    from cloxy_core.runtime.clock import SystemClock
    from cloxy_core.runtime.lock import DataDirectoryLock
    from cloxy_core.runtime.paths import DataDirectory
    from cloxy_core.services.keeping.restoring import restore as put_back
    from cloxy_hookspecs.errors import NotFoundError

    if not file.is_file():
        raise NotFoundError(
            f"there is no file {file}", hint="`cloxy backup` makes one; older ones are in `backups`"
        )
    settings = load_settings(os.environ)
    host = plugins_of(settings)
    paths = DataDirectory.open(data_directory(settings))
    clock = SystemClock()
    lock = DataDirectoryLock(paths.lock)
    take_lock(lock, "stop it, then run `cloxy restore` again; nothing was changed")
    with lock, ProgressLine() as progress:
        return put_back(host, paths, file.absolute(), clock, progress.tell)


def _restored_object(done: "Restored") -> dict[str, object]:
    return {
        "path": str(done.path),
        "before": None if done.before is None else str(done.before),
        "memories": done.memories,
        "messages": done.messages,
        "forgotten_passages": done.forgotten,
        "former_key": None if done.former_key is None else str(done.former_key),
        "warnings": list(done.warnings),
        "seconds": round(done.seconds, 3),
    }


def _show_restored(done: "Restored") -> None:
    output.print_line(f"restored {output.escape(done.path)} in {fields.duration(done.seconds)}")
    output.print_line(_holds(done))
    if done.forgotten:
        passages = counted(done.forgotten, "passage")
        output.print_line(
            f"left out: {passages} that had been forgotten; the backup still holds them"
        )
    if done.before is not None:
        output.print_line(f"the memory from before: {output.escape(done.before)}")
    if done.former_key is not None:
        output.print_line(f"the key from before: {output.escape(done.former_key)}")
    for warning in done.warnings:
        output.warn(warning)
    output.print_line("The next start reads what session logs got since.")
