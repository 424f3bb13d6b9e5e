"""Where Windsurf keeps conversations: those that it encrypts, and transcripts in the clear."""

from collections.abc import Sequence
from pathlib import Path

from cloxy_hookspecs import LogTree, Parts
from cloxy_hookspecs.logs.folders import nowhere

_HOMES = (".codeium/windsurf", ".codeium/windsurf-next")
_SUFFIX = ".jsonl"
_ENCRYPTED = (".pb",)
_CONVERSATIONS = ("cascade", "implicit")


def transcript_folders(home: Path) -> Sequence[Path]:
    """Folders of transcripts, existing or not; the same on macOS, Linux and Windows.

    Args:
        home: the user's home folder.
    """
    return [home / ".windsurf" / "transcripts"]


def transcript_tree(folder: Path) -> LogTree:
    """Where transcripts lie in their folder."""
    return LogTree(folder, _is_transcript, nowhere)


def encrypted_trees(home: Path) -> Sequence[LogTree]:
    """Where conversations lie that cannot be read."""
    return [LogTree(home / name / "cascade", _is_encrypted, _in_cascade) for name in _HOMES] + [
        LogTree(home / name / "implicit", _is_encrypted, nowhere) for name in _HOMES
    ]


def _is_transcript(parts: Parts) -> bool:
    name = parts[-1]
    return name.endswith(_SUFFIX) and bool(name.removesuffix(_SUFFIX))


def _is_encrypted(parts: Parts) -> bool:
    return parts[-1].endswith(_ENCRYPTED)


def _in_cascade(parts: Parts) -> bool:
    return parts[-1] in _CONVERSATIONS
