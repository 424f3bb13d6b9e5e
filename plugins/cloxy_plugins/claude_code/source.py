"""The session files of Claude Code as a source."""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from cloxy_hookspecs import HostContext, LogReader, LogTree, Source
from cloxy_plugins.claude_code.names import is_session_file, may_hold_sessions
from cloxy_plugins.claude_code.roots import folders_to_watch
from cloxy_plugins.claude_code.settings import DIRS


def create_source(context: HostContext) -> Source:
    """Make the source from the user's settings and environment."""
    roots = folders_to_watch(context.settings[DIRS], os.environ)
    return context.service(LogReader).lines(trees_of(roots))


def trees_of(roots: Iterable[Path]) -> Sequence[LogTree]:
    """Where session files lie below folders."""
    return [LogTree(root, is_session_file, may_hold_sessions) for root in roots]
