"""Files below folders, for the engines of sources."""

import json

from cloxy_core.services.logs.lines import LineLogs
from cloxy_hookspecs import LogTree


def write(path, *records):
    """Write records, or raw bytes, as lines of a file, with the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = (r if isinstance(r, bytes) else json.dumps(r).encode() for r in records)
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    return path


def is_log(parts):
    """The one rule of `lines_below`."""
    return parts[-1].endswith(".jsonl")


def lines_below(*roots):
    """A source of all `.jsonl` files below folders."""
    return LineLogs([LogTree(root, is_log) for root in roots])
