"""Taking what is to be forgotten out of the files beside the database.

Copies that Cloxy made by itself are rewritten, or removed where that cannot be done. What a person
made, and the logs of agents, are only named.
"""

import shutil
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path

from cloxy_core.kernel.host import PluginHost
from cloxy_core.runtime.paths import DataDirectory
from cloxy_core.runtime.workers import Workers
from cloxy_core.services.doctor.looking import abandoned
from cloxy_core.services.doctor.quarantine import FOLDER as QUARANTINE
from cloxy_core.services.doctor.quarantine import ROWS
from cloxy_core.services.keeping.copying import remove_unfinished
from cloxy_core.services.keeping.erasing_text import blot_log, fragments, holds, keep_lines
from cloxy_core.services.keeping.records import known_copies
from cloxy_core.services.keeping.rewriting import Rewriter, replace_bytes
from cloxy_core.services.write.elsewhere import Cleaned
from cloxy_core.services.write.forgetting import Traces
from cloxy_core.store.backup import is_automatic, remove_partial
from cloxy_core.store.failures import file_error
from cloxy_hookspecs import Clock, StillHeld, StoreError, StoreFullError

_SIDES = ("-wal", "-shm", "-journal")


@dataclass(slots=True)
class _Found:
    rewritten: int = 0
    removed: list[str] = field(default_factory=list)
    still_in: list[StillHeld] = field(default_factory=list)

    def hold(self, held: StillHeld) -> None:
        if held not in self.still_in:
            self.still_in.append(held)


class FileCleaner:
    """Cleans the files of one data directory; implements `Elsewhere`."""

    def __init__(
        self, host: PluginHost, paths: DataDirectory, clock: Clock, workers: Workers
    ) -> None:
        self._paths = paths
        self._workers = workers
        self._rewriter = Rewriter(host, paths, clock)
        # Of two that rewrite one copy at once the second would bring back what the first took.
        self._cleaning = threading.Lock()

    async def clean(self, traces: Traces) -> Cleaned:
        """Clean what is Cloxy's own, and name the rest.

        Raises:
            StoreFullError: there is too little room; nothing was forgotten yet.
            StoreError: a file cannot be read or written.
        """
        return await self._workers.run("io", lambda: self.clean_now(traces))

    async def still_in(self, traces: Traces) -> tuple[StillHeld, ...]:
        """The copies that a person made, as far as they hold it."""

        def look() -> tuple[StillHeld, ...]:
            found = _Found()
            self._look_at_copies(traces, found)
            return tuple(found.still_in)

        return await self._workers.run("io", look)

    def clean_now(self, traces: Traces) -> Cleaned:
        """`clean` for callers without an event loop."""
        with self._cleaning:
            return self._clean(traces)

    def _clean(self, traces: Traces) -> Cleaned:
        found = _Found()
        pieces = fragments(traces.texts)
        self._remove_leftovers()
        for path in self._databases():
            self._explained(path, partial(self._database, path, traces, pieces, found))
        for path in self._files(QUARANTINE, ROWS):
            self._explained(path, partial(self._rows, path, traces, found))
        for path in self._files("logs", "*"):
            self._explained(path, partial(blot_log, path, pieces))
        self._look_at_copies(traces, found)
        for session in traces.sessions:
            found.hold(StillHeld("session", session))
        for memory in traces.memories:
            found.hold(StillHeld("memory", str(memory)))
        for address in traces.files:
            if Path(address).exists():
                found.hold(StillHeld("transcript", address))
        return Cleaned(found.rewritten, tuple(found.removed), tuple(found.still_in))

    def _look_at_copies(self, traces: Traces, found: _Found) -> None:
        for copy in known_copies(self._paths.data):
            if copy.at >= traces.since:
                self._persons(copy.path, copy.kind, traces, found)

    def _remove_leftovers(self) -> None:
        """What killed commands left; nothing else makes copies while the server runs."""
        remove_partial(self._paths.backups)
        remove_unfinished(self._paths.backups)
        for folder in abandoned(self._paths.data):
            shutil.rmtree(folder, ignore_errors=True)

    def _databases(self) -> Iterator[Path]:
        backups = (p for p in sorted(self._paths.backups.iterdir()) if p.is_file())
        kept = (p for p in self._files(QUARANTINE, "*") if p.name != ROWS)
        for path in chain(backups, kept):
            base = next((path.name[: -len(end)] for end in _SIDES if path.name.endswith(end)), None)
            beside = base is not None and path.with_name(base).exists()
            if not beside and path.suffix != ".key":
                yield path

    def _files(self, folder: str, pattern: str) -> Sequence[Path]:
        found = (self._paths.data / folder).rglob(pattern)
        return sorted(path for path in found if path.is_file() and not path.is_symlink())

    def _database(
        self, path: Path, traces: Traces, pieces: Sequence[bytes] | None, found: _Found
    ) -> None:
        if path.parent == self._paths.backups and not is_automatic(path):
            self._persons(path, "backup", traces, found)
            return
        holding = self._rewriter.holds(path, traces)
        if holding is None:
            # No database that can be read: its bytes are all that can be looked at.
            group = [p for p in _group(path) if pieces is None or holds(p, pieces)]
            if group:
                _remove(path, found)
        elif holding:
            if self._rewriter.rewrite(path, traces):
                found.rewritten += 1
            else:
                _remove(path, found)

    def _persons(self, path: Path, kind: str, traces: Traces, found: _Found) -> None:
        held = StillHeld("export" if kind == "export" else "backup", str(path))
        if kind == "backup" and self._rewriter.holds(path, traces) is False:
            return
        found.hold(held)

    def _rows(self, path: Path, traces: Traces, found: _Found) -> None:
        kept = keep_lines(path, traces.texts, traces.uids | traces.notes)
        if kept is not None:
            replace_bytes(path, kept)
            found.rewritten += 1

    @staticmethod
    def _explained(path: Path, step: Callable[[], object]) -> None:
        try:
            step()
        except FileNotFoundError:
            return
        except OSError as error:
            known = file_error(error, path)
            if isinstance(known, StoreFullError):
                raise known from error
            raise StoreError(
                f"{path} may hold it and cannot be cleaned ({error.strerror}); nothing was "
                "forgotten",
                hint="make that file writable or remove it, then forget again",
            ) from error


def _group(path: Path) -> Sequence[Path]:
    return [p for p in (path, *(path.with_name(path.name + end) for end in _SIDES)) if p.exists()]


def _remove(path: Path, found: _Found) -> None:
    for part in _group(path):
        with suppress(FileNotFoundError):
            part.unlink()
    found.removed.append(str(path))
