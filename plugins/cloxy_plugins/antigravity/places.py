"""The folders in which Antigravity keeps conversations, and which files there are of them."""

from collections.abc import Sequence
from pathlib import Path

from cloxy_hookspecs import LogTree, Parts
from cloxy_hookspecs.logs.json_values import usable_id

FULL, CUT = "transcript_full.jsonl", "transcript.jsonl"
"""Names of transcripts, with everything and with long texts cut."""

BRAIN = "brain"
DATABASES = "conversations"

_INNER = [".system_generated", "logs"]
_DATABASE = ".db"
_DEPTH = 4


def homes(home: Path) -> Sequence[Path]:
    """The folders of the command line and of the editor.

    Args:
        home: the user's home folder.
    """
    return [home / ".gemini" / name for name in ("antigravity-cli", "antigravity")]


def transcripts_below(folder: Path) -> LogTree:
    """Where transcripts lie: `brain/<conversation>/.system_generated/logs/transcript*.jsonl`."""
    around = folder.parts[-4:]

    def wanted(parts: Parts) -> bool:
        whole = [*around, *parts]
        inside = len(whole) > 4 and whole[-5] == BRAIN and whole[-3:-1] == _INNER
        return inside and whole[-1] in (FULL, CUT) and usable_id(whole[-4]) is not None

    def enter(parts: Parts) -> bool:
        whole = [*around, *parts]
        if BRAIN in whole[-4:-2]:
            # Below a conversation lie artefacts and whatever an agent put there.
            last = whole[-1:] if whole[-3:-2] == [BRAIN] else whole[-2:]
            return last == _INNER[: len(last)]
        return len(parts) <= _DEPTH and whole[-1] != DATABASES

    return LogTree(folder, wanted, enter)


def databases_below(folder: Path) -> LogTree:
    """Where databases lie: `conversations/<conversation>.db`."""
    around = folder.parts[-1:]

    def wanted(parts: Parts) -> bool:
        whole = [*around, *parts]
        return len(whole) > 1 and whole[-2] == DATABASES and whole[-1].endswith(_DATABASE)

    return LogTree(folder, wanted, lambda parts: len(parts) < _DEPTH and parts[-1] != BRAIN)


def conversation_of(transcript: Path) -> str:
    """Id of the conversation that a transcript is of."""
    return transcript.parents[2].name


def home_of(path: Path) -> Path:
    """The folder of Antigravity in which a transcript or a database lies."""
    return path.parents[4] if path.name in (FULL, CUT) else path.parents[1]
