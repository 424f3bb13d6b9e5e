"""Looking for session files below a watched folder, without following a link.

The walk holds open descriptors instead of paths, so that a folder that is swapped for a link
in the meantime leads nowhere.
"""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from cloxy_hookspecs import SourceFailure, SourceItem
from cloxy_plugins.claude_code.names import is_session_file, may_hold_sessions
from cloxy_plugins.claude_code.opening import (
    identity_of,
    open_folder,
    open_folder_below,
    open_root,
)

DEPTH_LIMIT = 16
FAILURE_LIMIT = 100


class Walk:
    """One search for session files; a folder that is reached twice is read once."""

    def __init__(self, failures: list[SourceFailure]) -> None:
        """Start a search.

        Args:
            failures: gets what could not be looked at, the first hundred and the number of
                the others.
        """
        self._failures = failures
        self._unreported = 0
        self._seen: set[str] = set()
        self._linked = 0
        self._owners: set[int] = {os.geteuid()}

    def below(self, root: Path, parts: tuple[str, ...] = ()) -> Iterator[SourceItem]:
        """Session files below a watched folder.

        Args:
            root: the watched folder; when it does not exist (yet), nothing is there.
            parts: path below it of the only folder or file to look at.
        """
        self._linked = 0
        place = root.joinpath(*parts)
        try:
            self._owners = {os.geteuid(), root.stat().st_uid}
            if parts and not stat.S_ISDIR(os.lstat(place).st_mode):
                yield from self._single(root, parts)
                return
            folder = open_folder_below(root, parts) if parts else open_root(root)
        except FileNotFoundError:
            return
        except (OSError, ValueError) as error:
            self._fail(str(place), _reason(error))
            return
        yield from self._folder(folder, str(place), len(parts))
        if self._linked:
            self._pass_over(
                str(root), f"{self._linked} file(s) have a second name (hard link); read anyway"
            )

    def close(self) -> None:
        """End the search: say how many failures are not in the list."""
        if self._unreported:
            text = f"and {self._unreported} more that could not be looked at"
            self._failures.append(SourceFailure("", text))

    def _single(self, root: Path, parts: tuple[str, ...]) -> Iterator[SourceItem]:
        folder = open_folder_below(root, parts[:-1])
        try:
            name = parts[-1]
            status = os.stat(name, dir_fd=folder, follow_symlinks=False)
        finally:
            os.close(folder)
        if is_session_file(name, parts[-2] if len(parts) > 1 else root.name):
            item = self._item(str(root.joinpath(*parts)), status)
            if item is not None:
                yield item

    def _folder(self, folder: int, path: str, depth: int) -> Iterator[SourceItem]:
        """Files of an open folder, then those of its folders; closes the descriptor."""
        inner: list[str] = []
        try:
            identity = identity_of(os.fstat(folder))
            if identity in self._seen:
                return
            self._seen.add(identity)
            with os.scandir(folder) as entries:
                for entry in entries:
                    if (item := self._entry(entry, path, depth, inner)) is not None:
                        yield item
            for name in inner:
                yield from self._inner(folder, name, f"{path}/{name}", depth + 1)
        except OSError as error:
            self._fail(path, _reason(error))
        finally:
            os.close(folder)

    def _inner(self, folder: int, name: str, path: str, depth: int) -> Iterator[SourceItem]:
        if depth > DEPTH_LIMIT:
            self._fail(path, f"more than {DEPTH_LIMIT} folders deep")
            return
        try:
            descriptor = open_folder(name, folder)
        except FileNotFoundError:
            return
        except OSError as error:
            self._fail(path, _reason(error))
            return
        yield from self._folder(descriptor, path, depth)

    def _entry(
        self, entry: os.DirEntry[str], path: str, depth: int, inner: list[str]
    ) -> SourceItem | None:
        """The item of a session file; a folder is put on the list of inner ones."""
        name = entry.name
        try:
            if not _is_unicode(name):
                self._fail(f"{path}/{name}", "its name is not valid Unicode")
            elif entry.is_dir(follow_symlinks=False):
                if may_hold_sessions(name, depth + 1):
                    inner.append(name)
            elif is_session_file(name, path.rpartition("/")[2]):
                return self._item(f"{path}/{name}", entry.stat(follow_symlinks=False))
            elif entry.is_symlink() and entry.is_dir():
                self._pass_over(f"{path}/{name}", "is a link")
        except FileNotFoundError:
            return None
        except OSError as error:
            self._fail(f"{path}/{name}", _reason(error))
        return None

    def _item(self, path: str, status: os.stat_result) -> SourceItem | None:
        if not stat.S_ISREG(status.st_mode):
            link = stat.S_ISLNK(status.st_mode)
            self._pass_over(path, "is a link" if link else "is not a regular file")
        elif status.st_uid not in self._owners:
            self._pass_over(path, "belongs to another user")
        else:
            # A second name can only lead to a file of the same owner, who reads it anyway;
            # backups made of hard links are common. So it is told, not refused.
            self._linked += status.st_nlink > 1
            return SourceItem(path, identity_of(status), status.st_size, status.st_mtime_ns)
        return None

    def _fail(self, path: str, reason: str, *, deliberate: bool = False) -> None:
        if len(self._failures) < FAILURE_LIMIT:
            shown = path.encode("utf-8", "backslashreplace").decode()
            self._failures.append(SourceFailure(shown, reason, deliberate))
        else:
            self._unreported += 1

    def _pass_over(self, path: str, reason: str) -> None:
        """Note what is left out by rule."""
        self._fail(path, reason, deliberate=True)


def _is_unicode(name: str) -> bool:
    """Whether a name can be stored as text; bytes that are no UTF-8 come as lone surrogates."""
    return name.isascii() or name.isprintable() or not any("\ud800" <= c <= "\udfff" for c in name)


def _reason(error: OSError | ValueError) -> str:
    if isinstance(error, PermissionError):
        return "may not be read (permission denied)"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return str(error)
