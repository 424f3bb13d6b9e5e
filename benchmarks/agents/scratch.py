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
