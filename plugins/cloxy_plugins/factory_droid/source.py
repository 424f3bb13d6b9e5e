"""The session logs of Droid as a source."""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from cloxy_hookspecs import HostContext, LogReader, LogTree, Source
from cloxy_plugins.factory_droid.places import is_log, may_hold_logs, session_folders


def create_source(context: HostContext) -> Source:
    """Make the source."""
    folders = session_folders(os.environ, Path.home())
    return context.service(LogReader).lines(trees_of(folders))


def trees_of(folders: Iterable[Path]) -> Sequence[LogTree]:
    """Where logs lie below folders of sessions."""
    return [LogTree(folder, is_log, may_hold_logs) for folder in folders]
