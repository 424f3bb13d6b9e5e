"""The threads of Amp as a source: one item for each, of several copies the newest."""

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from cloxy_hookspecs import HostContext, LogReader, LogTree, Parts, Source, SourceItem
from cloxy_hookspecs.logs.documents import DocumentKind, Documents
from cloxy_hookspecs.logs.folders import named_folder
from cloxy_plugins.amp.settings import EXPORTS
from cloxy_plugins.amp.threads import thread_records

_FIRST = "T-"
_SUFFIX = ".json"


def create_source(context: HostContext) -> Source:
    """Make the source."""
    folders = [threads_folder(os.environ, Path.home())]
    if exports := context.settings[EXPORTS]:
        folders.append(exports)
    return threads_in(context.service(LogReader), folders)


def threads_in(reader: LogReader, folders: Sequence[Path]) -> Documents:
    """Threads below folders."""
    kind = DocumentKind(tree=_tree, records=thread_records, chosen=_newest_of_each)
    return Documents(reader, lambda: folders, kind)


def threads_folder(environment: Mapping[str, str], home: Path) -> Path:
    """The folder of threads, existing or not; the same on macOS, Linux and Windows.

    Args:
        environment: environment variables; `XDG_DATA_HOME` replaces `~/.local/share`.
        home: the user's home folder.
    """
    share = named_folder(environment, "XDG_DATA_HOME", home) or home / ".local" / "share"
    return share / "amp" / "threads"


def _tree(folder: Path) -> LogTree:
    return LogTree(folder, _is_thread)


def _is_thread(parts: Parts) -> bool:
    # Keys lie in files of other names.
    name = parts[-1]
    return name.startswith(_FIRST) and name.endswith(_SUFFIX)


def _newest_of_each(items: Sequence[SourceItem]) -> Iterator[SourceItem]:
    chosen: dict[str, SourceItem] = {}
    for item in items:
        name = Path(item.uri).name
        other = chosen.get(name)
        if other is None or (item.mtime_ns, item.uri) > (other.mtime_ns, other.uri):
            chosen[name] = item
    yield from chosen.values()
