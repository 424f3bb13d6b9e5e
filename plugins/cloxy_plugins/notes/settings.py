"""Which folders hold notes."""

from pathlib import Path

from cloxy_hookspecs import Setting
from cloxy_hookspecs.logs.folders import parse_folders

DIRS: Setting[tuple[Path, ...]] = Setting(
    name="notes.dirs",
    default=(),
    parse=parse_folders,
    help="Folders with Markdown notes, separated as in PATH; empty reads none.",
)
