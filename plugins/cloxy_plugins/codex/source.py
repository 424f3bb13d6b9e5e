"""The rollouts of Codex as a source."""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from cloxy_hookspecs import HostContext, LogReader, LogTree, Source
from cloxy_plugins.codex.names import is_rollout, may_hold_rollouts
from cloxy_plugins.codex.roots import session_folders


def create_source(context: HostContext) -> Source:
    """Make the source of rollouts that grow."""
    roots = session_folders(os.environ, Path.home())
    return context.service(LogReader).lines(trees_of(roots))


def trees_of(roots: Iterable[Path]) -> Sequence[LogTree]:
    """Where rollouts lie below folders."""
    return [LogTree(root, is_rollout, may_hold_rollouts) for root in roots]
