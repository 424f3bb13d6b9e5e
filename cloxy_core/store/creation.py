"""A new database, which appears at its place as a whole or not at all."""

import os
from pathlib import Path

from cloxy_core.runtime.paths import create_private_file, sync_directory
from cloxy_core.store.connections import APPLICATION_ID, connect
from cloxy_core.store.inspection import side_files


def create_database(path: Path) -> None:
    """Make an empty database that is marked as Cloxy's.

    Args:
        path: Where; nothing may be there yet.

    Raises:
        OSError: The folder cannot be written to.
    """
    new = path.with_name(path.name + ".new")
    # What a process left that was killed in here.
    for left in (new, *side_files(new)):
        left.unlink(missing_ok=True)
    os.close(create_private_file(new))
    connection = connect(new, "mode=rw")
    try:
        # The mark comes before the log exists, so that it is in the file itself.
        connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
        connection.execute("PRAGMA journal_mode=WAL").fetchall()
    finally:
        connection.close()
    new.rename(path)
    sync_directory(path.parent)
