"""Which names below a folder of sessions are rollouts, and what a name tells."""

import re
from pathlib import Path, PurePath

from cloxy_hookspecs import Parts
from cloxy_plugins.codex.roots import ARCHIVED, SESSIONS, USUAL

PLAIN = ".jsonl"
COMPRESSED = ".jsonl.zst"

_PREFIX = "rollout-"
_DEEPEST = 8
_THREAD = re.compile(
    r"([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\.jsonl(?:\.zst)?\Z", re.I
)


def is_rollout(parts: Parts) -> bool:
    """Whether a file is a rollout, by its path below a folder of sessions."""
    return parts[-1].startswith(_PREFIX) and parts[-1].endswith(PLAIN)


def is_compressed_rollout(parts: Parts) -> bool:
    """Whether a file is a compressed rollout."""
    return parts[-1].startswith(_PREFIX) and parts[-1].endswith(COMPRESSED)


def may_hold_rollouts(parts: Parts) -> bool:
    """Whether to look into a folder; they lie by year, month and day, or flat."""
    return parts == (USUAL,) or (len(parts) <= _DEEPEST and not parts[-1].startswith("."))


def thread_of_file(uri: str) -> str:
    """Id of the thread that a rollout is named after; the name itself if it has none."""
    name = PurePath(uri).name
    found = _THREAD.search(name)
    if found:
        return found[1].lower()
    return name.removesuffix(".zst").removesuffix(PLAIN) or "session"


def home_of_file(uri: str) -> Path | None:
    """The folder of Codex in which a rollout lies; None when it lies elsewhere."""
    path = Path(uri)
    for folder in path.parents:
        if folder.name in (SESSIONS, ARCHIVED):
            return folder.parent
    return None
