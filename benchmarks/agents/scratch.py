"""Folders for as long as a measurement runs."""

import atexit
import shutil
import tempfile
from pathlib import Path


def scratch(name):
    """A new folder, which goes when the program ends."""
    place = Path(tempfile.mkdtemp(prefix=f"cloxy-{name}-"))
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    return place


def copied_database(path):
    """A copy of a SQLite database with its log, so that reading leaves no trace in its folder."""
    copy = scratch("database") / "copy.db"
    for tail in ("", "-wal"):
        source = path.with_name(path.name + tail)
        if source.exists():
            shutil.copyfile(source, copy.with_name(copy.name + tail))
    return copy
