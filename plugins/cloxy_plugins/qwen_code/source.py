"""The session logs of Qwen Code as a source."""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from cloxy_hookspecs import HostContext, LogReader, LogTree, Source
from cloxy_plugins.qwen_code.roots import is_log, may_hold_logs, project_folders


def create_source(context: HostContext) -> Source:
    """Make the source."""
    folders = project_folders(os.environ, Path.home())
    return context.service(LogReader).lines(trees_of(folders))


def trees_of(folders: Iterable[Path]) -> Sequence[LogTree]:
    """Where logs lie below folders of projects."""
    return [LogTree(folder, is_log, may_hold_logs) for folder in folders]
