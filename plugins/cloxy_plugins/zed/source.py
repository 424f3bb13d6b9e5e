"""Zed's threads as sources: a database of threads with the agent, and files of text threads."""

import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from cloxy_hookspecs import HostContext, LogReader
from cloxy_hookspecs.logs.databases import Databases
from cloxy_hookspecs.logs.documents import DocumentKind, Documents
from cloxy_plugins.zed.places import data_folders, text_thread_folders, text_threads_below
from cloxy_plugins.zed.text_threads import text_thread_records
from cloxy_plugins.zed.threads import Threads

Folders = Callable[[], Iterable[Path]]


def create_threads(context: HostContext) -> Databases:
    """Make the source of threads with the agent."""
    folders = data_folders(os.environ, Path.home(), sys.platform)
    return threads_source(context.service(LogReader), lambda: folders)


def create_text_threads(context: HostContext) -> Documents:
    """Make the source of text threads."""
    folders = text_thread_folders(os.environ, Path.home(), sys.platform)
    return text_threads_source(context.service(LogReader), lambda: folders)


def threads_source(reader: LogReader, folders: Folders) -> Databases:
    """The source of threads in folders of Zed's."""
    return Databases(reader, "zed", folders, Threads())


def text_threads_source(reader: LogReader, folders: Folders) -> Documents:
    """The source of text threads in folders of Zed's."""
    return Documents(reader, folders, DocumentKind(text_threads_below, text_thread_records))
