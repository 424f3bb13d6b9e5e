"""Where Zed keeps threads: all its release channels share a folder."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from cloxy_hookspecs import LogTree, Parts
from cloxy_hookspecs.logs.folders import named_folder, nowhere

_FLATPAKS = ("dev.zed.Zed", "dev.zed.Zed-Preview", "dev.zed.Zed-Nightly", "dev.zed.Zed-Dev")
_THREADS = "threads"
_DATABASE = "threads.db"
_CONVERSATIONS = "conversations"
_TEXT_THREAD = ".zed.json"


def data_folders(environment: Mapping[str, str], home: Path, platform: str) -> Sequence[Path]:
    """Folders with Zed's data, existing or not.

    Args:
        environment: environment variables; `FLATPAK_XDG_DATA_HOME`, `XDG_DATA_HOME` and
            `LOCALAPPDATA` move it, each on its system.
        home: the user's home folder.
        platform: as `sys.platform` has it.
    """
    if platform == "darwin":
        return [home / "Library" / "Application Support" / "Zed"]
    if platform == "win32":
        usual = home / "AppData" / "Local"
        return [(named_folder(environment, "LOCALAPPDATA", home) or usual) / "Zed"]
    usual = named_folder(environment, "XDG_DATA_HOME", home) or home / ".local" / "share"
    flatpak = named_folder(environment, "FLATPAK_XDG_DATA_HOME", home)
    sandboxes = [home / ".var" / "app" / name / "data" for name in _FLATPAKS]
    return [each / "zed" for each in ([flatpak] if flatpak else []) + [usual, *sandboxes]]


def text_thread_folders(
    environment: Mapping[str, str], home: Path, platform: str
) -> Sequence[Path]:
    """Folders that may have a folder of text threads in them; parameters as `data_folders`.

    On macOS it lies in the folder of the settings.
    """
    if platform == "darwin":
        return [home / ".config" / "zed"]
    return data_folders(environment, home, platform)


def database_below(folder: Path) -> LogTree:
    """The database of threads in Zed's folder; what else lies there is not looked at."""
    root = folder if folder.name == _THREADS else folder / _THREADS
    return LogTree(root, lambda parts: parts == (_DATABASE,), nowhere)


def text_threads_below(folder: Path) -> LogTree:
    """Files of text threads in Zed's folder, or in that of its settings."""
    root = folder if folder.name == _CONVERSATIONS else folder / _CONVERSATIONS
    return LogTree(root, _is_text_thread, nowhere)


def _is_text_thread(parts: Parts) -> bool:
    return len(parts) == 1 and parts[0].endswith(_TEXT_THREAD)
