"""Which further folders hold conversations."""

from pathlib import Path

from cloxy_hookspecs import Setting
from cloxy_hookspecs.logs.folders import parse_folders

DIRS: Setting[tuple[Path, ...]] = Setting(
    name="specstory.dirs",
    default=(),
    parse=parse_folders,
    help="Further folders into which SpecStory saves, separated as in PATH.",
)
