"""Where the user says that the sessions lie."""

import os
from pathlib import Path

from cloxy_hookspecs import Setting


def parse_folders(text: str) -> tuple[Path, ...] | None:
    """Folders of a list, separated as in `PATH`; None for an empty list.

    Raises:
        ValueError: a folder is not an absolute path, or cannot be a path at all.
    """
    folders = tuple(_folder(part) for part in text.split(os.pathsep) if part.strip())
    return folders or None


def _folder(text: str) -> Path:
    wanted = f"an absolute folder, or one that starts with ~/, is wanted, not {text.strip()!r}"
    if "\0" in text:
        raise ValueError(wanted)
    try:
        folder = Path(text.strip()).expanduser()
    except RuntimeError as error:
        raise ValueError(wanted) from error
    if not folder.is_absolute():
        raise ValueError(wanted)
    return Path(os.path.normpath(folder))


class _FolderList:
    """Parses a list of folders; in config.toml it may be a list, too."""

    separator = os.pathsep

    def __call__(self, text: str) -> tuple[Path, ...] | None:
        return parse_folders(text)


# Cloxy declares this setting itself, so that it is known whichever sources are enabled; here it
# is only read, and an empty one means the folders of Claude Code.
DIRS: Setting[tuple[Path, ...] | None] = Setting(
    name="watch.dirs",
    default=None,
    parse=_FolderList(),
    help="Folders with session logs; by default those of Claude Code.",
)
