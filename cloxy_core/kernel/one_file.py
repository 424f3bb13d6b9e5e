"""Plugins that are one Python file in the folder of `CLOXY_PLUGINS_DIR`."""

import os
import stat
from collections.abc import Iterator
from functools import partial
from importlib.metadata import EntryPoint
from pathlib import Path

from cloxy_core.kernel.containment import Failure, contained
from cloxy_core.kernel.plugin_state import PluginDescription, PluginState, plugin_name
from cloxy_core.kernel.source_text import first_line
from cloxy_core.runtime.module_finding import run_file

_GROUP = "cloxy.one_file"


class FileEntryPoint(EntryPoint):
    """An entry point whose value is a file; loading runs the file as a module."""

    def load(self) -> object:
        """Run the file.

        Raises:
            ImportError: it is not a Python file; else whatever the file raises.
        """
        return run_file(f"cloxy_one_file_{self.name}", self.value)


def one_file_plugins(folder: Path) -> Iterator[PluginDescription]:
    """Describe the one-file plugins of a folder, by name; runs none of them.

    Files that begin with `_` or `.` are not plugins. A file that others could have written is
    described as failed.

    Args:
        folder: a folder; one that does not exist or cannot be read holds none.
    """
    listed = contained(lambda: sorted(folder.glob("*.py")))
    for file in () if isinstance(listed, Failure) else listed.value:
        if file.name.startswith(("_", ".")):
            continue
        described = contained(partial(_describe, file))
        if isinstance(described, Failure):
            yield PluginDescription(
                name=plugin_name(file.stem),
                target=str(file),
                distribution="",
                state=PluginState.FAILED,
                reason=f"the file cannot be read: {described.words}",
            )
        else:
            yield described.value


def _describe(file: Path) -> PluginDescription:
    name = plugin_name(file.stem)
    description = PluginDescription(
        name=name,
        target=str(file),
        distribution="",
        summary=first_line(file.read_bytes()),
        entry_point=FileEntryPoint(name, str(file), _GROUP),
    )
    if os.name == "posix" and any(_others_may_write(path) for path in (file, file.parent)):
        return description.marked(
            PluginState.FAILED,
            f"anybody on this machine may change it; run chmod o-w on {file} and its folder",
        )
    return description


def _others_may_write(path: Path) -> bool:
    return bool(path.stat().st_mode & stat.S_IWOTH)
