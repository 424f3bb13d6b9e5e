"""The event logs of the Copilot CLI as a source."""

import os
from collections.abc import Sequence
from pathlib import Path

from cloxy_hookspecs import HostContext, LogReader, LogTree, Source
from cloxy_plugins.copilot_cli.roots import is_log, may_hold_logs, sessions_folder


def create_source(context: HostContext) -> Source:
    """Make the source."""
    folder = sessions_folder(os.environ, Path.home())
    return context.service(LogReader).lines(trees_of(folder))


def trees_of(folder: Path) -> Sequence[LogTree]:
    """Where logs lie below a folder of sessions."""
    return [LogTree(folder, is_log, may_hold_logs)]
