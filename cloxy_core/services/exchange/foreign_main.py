"""What runs in the process that reads a file of others; started by its path.

Arguments are where modules lie, and what of another memory system to read; any file but a
database is standard input. Lines go to standard output, and at last a report to standard error.
"""

import contextlib
import importlib
import json
import os
import sys
from typing import BinaryIO

if sys.platform != "win32":
    import resource

MEMORY_BYTES = 2 * 1024 * 1024 * 1024
CPU_SECONDS = 3600
COPY_BYTES = 256 * 1024 * 1024
"""A database may have to be copied to be read; nothing else writes a file."""


def main() -> None:
    """Read the file and write its lines."""
    sys.dont_write_bytecode = True
    sys.path[:] = json.loads(sys.argv[1])
    limits = importlib.import_module("cloxy_core.services.exchange.foreign_limits")
    wanted = json.loads(sys.argv[2]) if len(sys.argv) > 2 else None
    if wanted is None:
        reading = importlib.import_module("cloxy_core.services.exchange.foreign_reading")
        reader = reading.ForeignReader()
    else:
        moving = importlib.import_module("cloxy_core.services.exchange.foreign_moving")
        reader = moving.MemoryReader(wanted)
    _limit(COPY_BYTES if wanted and wanted["sort"] == "database" else 0)
    with os.fdopen(os.dup(0), "rb") as file, os.fdopen(os.dup(1), "wb") as lines:
        try:
            _copy(reader, file, lines)
        except limits.ForeignTrouble as error:
            reader.report.trouble, reader.report.hint = str(error), error.hint
        except MemoryError:
            reader.report.trouble = "it needs more memory than it may"
            reader.report.hint = (
                "export a part of it there" if wanted else "give one conversations.json at a time"
            )
        except BrokenPipeError:
            os._exit(1)  # nobody reads on
        except Exception as error:
            reader.report.trouble = f"it could not be read ({type(error).__name__})"
        lines.flush()
    sys.stderr.buffer.write(reader.report.encoded())


def _copy(reader: "object", file: BinaryIO, lines: BinaryIO) -> None:
    for line in reader.lines(file):  # type: ignore[attr-defined]
        lines.write(line)


def _limit(file_bytes: int) -> None:
    if sys.platform == "win32":
        return
    for kind, most in (
        (resource.RLIMIT_AS, MEMORY_BYTES),
        (resource.RLIMIT_CPU, CPU_SECONDS),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, file_bytes),
    ):
        with contextlib.suppress(ValueError, OSError):
            _soft, hard = resource.getrlimit(kind)
            top = most if hard == resource.RLIM_INFINITY else min(most, hard)
            resource.setrlimit(kind, (top, hard))


if __name__ == "__main__":
    main()
