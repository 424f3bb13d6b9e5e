"""Memory systems of others that can be read, in the order in which they are asked."""

from collections.abc import Sequence
from typing import Final

from cloxy_core.services.exchange.foreign_basic_memory import (
    BasicMemoryDatabase,
    BasicMemoryFolder,
)
from cloxy_core.services.exchange.foreign_claude_mem import ClaudeMem
from cloxy_core.services.exchange.foreign_cloxy import Cloxy
from cloxy_core.services.exchange.foreign_exocortex import Exocortex
from cloxy_core.services.exchange.foreign_mcp_memory_service import McpMemoryService
from cloxy_core.services.exchange.foreign_memories import DatabaseSystem, FolderSystem
from cloxy_core.services.exchange.foreign_memx import MemX

DATABASES: Final[Sequence[DatabaseSystem]] = (
    Cloxy(),
    ClaudeMem(),
    Exocortex(),
    MemX(),
    McpMemoryService(),
    BasicMemoryDatabase(),
)
"""Each keeps a SQLite database; the first one that knows a database reads it."""

FOLDERS: Final[Sequence[FolderSystem]] = (BasicMemoryFolder(),)
"""Each keeps a folder of files; likewise."""
