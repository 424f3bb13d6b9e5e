"""The setting of the plugin."""

import os
from pathlib import Path

from cloxy_hookspecs import Setting


def parse_folder(text: str) -> Path | None:
    """A folder by its absolute path, `~` as a shell would have read it; None for nothing.

    Raises:
        ValueError: it is no absolute path.
    """
    text = text.strip()
    if not text:
        return None
    try:
        path = Path(text).expanduser()
    except RuntimeError:
        path = Path(text)
    if "\0" in text or not path.is_absolute():
        raise ValueError("an absolute path of a folder")
    return Path(os.path.normpath(path))


EXPORTS: Setting[Path | None] = Setting(
    name="amp.exports",
    default=None,
    parse=parse_folder,
    help="Folder with threads of Amp, each in a file T-….json as `amp threads export` writes it.",
)
