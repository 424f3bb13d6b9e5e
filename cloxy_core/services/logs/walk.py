"""Looking for logs below trees, without following a link."""

import os
import stat
from collections.abc import Iterator

from cloxy_core.services.logs.folders import Folder, identity_of, is_link, open_root
from cloxy_core.services.logs.opening import open_folder_below
from cloxy_hookspecs import LogTree, Parts, SourceFailure, SourceItem

DEPTH_LIMIT = 16
FAILURE_LIMIT = 100


class Walk:
    """One search for logs; a folder that is reached twice by one rule is read once."""

    def __init__(self, failures: list[SourceFailure]) -> None:
        """Start a search.

        Args:
            failures: gets what could not be looked at, the first hundred and the number of
                the others.
        """
        self._failures = failures
        self._unreported = 0
        self._seen: set[tuple[str, object]] = set()
        self._found: set[str] = set()
        self._linked = 0
        self._owners: set[int] = {_user()}

    def below(self, tree: LogTree, parts: Parts = ()) -> Iterator[SourceItem]:
        """Logs of a tree.

        Args:
            tree: where to look; when its root does not exist (yet), nothing is there.
            parts: path below the root of the only folder or file to look at.
        """
        self._linked = 0
        place = tree.root.joinpath(*parts)
        try:
            self._owners = {_user(), tree.root.stat().st_uid}
            if parts and not stat.S_ISDIR(os.lstat(place).st_mode):
                yield from self._single(tree, parts)
                return
            if not _may_enter(tree, parts):
                return
            folder = open_folder_below(tree.root, parts) if parts else open_root(tree.root)
        except FileNotFoundError:
            return
        except (OSError, ValueError) as error:
            self._fail(str(place), _reason(error))
            return
        yield from self._folder(tree, folder, str(place), parts)
        if self._linked:
            self._pass_over(
                str(tree.root),
                f"{self._linked} file(s) have a second name (hard link); read anyway",
            )

    def close(self) -> None:
        """End the search: say how many failures are not in the list."""
        if self._unreported:
            text = f"and {self._unreported} more that could not be looked at"
            self._failures.append(SourceFailure("", text))

    def _single(self, tree: LogTree, parts: Parts) -> Iterator[SourceItem]:
        if not (_may_enter(tree, parts[:-1]) and tree.wanted(parts)):
            return
        folder = open_folder_below(tree.root, parts[:-1])
        try:
            status = folder.status(parts[-1])
        finally:
            folder.close()
        item = self._item(str(tree.root.joinpath(*parts)), status)
        if item is not None:
            yield item

    def _folder(
        self, tree: LogTree, folder: Folder, path: str, parts: Parts
    ) -> Iterator[SourceItem]:
        """Logs of an open folder, then those of its folders; closes it."""
        inner: list[str] = []
        try:
            reached = (folder.identity, tree.wanted)
            if reached in self._seen:
                return
            self._seen.add(reached)
            with folder.entries() as entries:
                for entry in entries:
                    if (item := self._entry(tree, folder, entry, path, parts, inner)) is not None:
                        yield item
            for name in inner:
                yield from self._inner(tree, folder, name, _joined(path, name), (*parts, name))
        except OSError as error:
            self._fail(path, _reason(error))
        finally:
            folder.close()

    def _inner(
        self, tree: LogTree, folder: Folder, name: str, path: str, parts: Parts
    ) -> Iterator[SourceItem]:
        if len(parts) > DEPTH_LIMIT:
            self._fail(path, f"more than {DEPTH_LIMIT} folders deep")
            return
        try:
            inside = folder.folder(name)
        except FileNotFoundError:
            return
        except OSError as error:
            self._fail(path, _reason(error))
            return
        yield from self._folder(tree, inside, path, parts)

    def _entry(
        self,
        tree: LogTree,
        folder: Folder,
        entry: os.DirEntry[str],
        path: str,
        parts: Parts,
        inner: list[str],
    ) -> SourceItem | None:
        """The item of a log; a folder is put on the list of inner ones."""
        name = entry.name
        inside = (*parts, name)
        try:
            if not _is_unicode(name):
                self._fail(_joined(path, name), "its name is not valid Unicode")
            elif entry.is_dir(follow_symlinks=False):
                if tree.enter(inside):
                    inner.append(name)
            elif tree.wanted(inside):
                return self._item(_joined(path, name), folder.status_of(entry))
            elif entry.is_symlink() and entry.is_dir() and tree.enter(inside):
                self._pass_over(_joined(path, name), "is a link")
        except FileNotFoundError:
            return None
        except OSError as error:
            self._fail(_joined(path, name), _reason(error))
        return None

    def _item(self, path: str, status: os.stat_result) -> SourceItem | None:
        if path in self._found:
            return None
        if not stat.S_ISREG(status.st_mode) or is_link(status):
            self._pass_over(path, "is a link" if is_link(status) else "is not a regular file")
        elif status.st_uid not in self._owners:
            self._pass_over(path, "belongs to another user")
        else:
            # A second name can only lead to a file of the same owner, who reads it anyway;
            # backups made of hard links are common. So it is told, not refused.
            self._linked += status.st_nlink > 1
            self._found.add(path)
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


def _may_enter(tree: LogTree, parts: Parts) -> bool:
    """Whether the rules of a tree lead into a folder."""
    return all(tree.enter(parts[:length]) for length in range(1, len(parts) + 1))


def _joined(path: str, name: str) -> str:
    return f"{path}{name}" if path.endswith(os.sep) else f"{path}{os.sep}{name}"


def _user() -> int:
    """The user of this process; where there are no numbers of users, that of every file."""
    return os.geteuid() if hasattr(os, "geteuid") else 0


def _is_unicode(name: str) -> bool:
    """Whether a name can be stored as text; bytes that are no UTF-8 come as lone surrogates."""
    return name.isascii() or name.isprintable() or not any("\ud800" <= c <= "\udfff" for c in name)


def _reason(error: OSError | ValueError) -> str:
    if isinstance(error, PermissionError):
        return "may not be read (permission denied)"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return str(error)
