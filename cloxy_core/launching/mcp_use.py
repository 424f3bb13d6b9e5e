"""Whether MCP clients use a server: it then loads that part by itself, before anybody asks."""

import contextlib
import os
from pathlib import Path
from typing import Final

MARK: Final = "mcp.used"


def note_use(data_dir: Path) -> None:
    """Note that an MCP client comes; one that cannot be noted waits a second longer next time."""
    flags = os.O_WRONLY | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
    with contextlib.suppress(OSError):
        data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(data_dir / MARK, flags, 0o600))


def is_used(data_dir: Path) -> bool:
    """Whether an MCP client ever came."""
    return (data_dir / MARK).is_file()
