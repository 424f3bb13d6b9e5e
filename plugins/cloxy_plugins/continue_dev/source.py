"""Continue's sessions as a source: one document for each."""

import os
from pathlib import Path

from cloxy_hookspecs import HostContext, LogReader
from cloxy_hookspecs.logs.documents import DocumentKind, Documents
from cloxy_plugins.continue_dev.places import global_folder, sessions_below
from cloxy_plugins.continue_dev.sessions import Sessions


def create_source(context: HostContext) -> Documents:
    """Make the source."""
    reader = context.service(LogReader)
    return sessions_source(reader, global_folder(os.environ, Path.home()))


def sessions_source(reader: LogReader, folder: Path) -> Documents:
    """The source of the sessions in Continue's folder.

    A session's file is written before the list of sessions is. Still the list is not among the
    files that a session depends on: each turn of any session writes it, and all would be read anew.
    What it says is the same as in the file, but for the date, in whose place the file's is taken.
    """
    return Documents(reader, lambda: [folder], DocumentKind(sessions_below, Sessions(reader)))
