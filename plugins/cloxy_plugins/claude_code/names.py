"""Which names below a watched folder are session logs."""

SUFFIX = ".jsonl"

# The inner copies that these workers keep repeat their parent's conversation, and the guess of
# the next prompt would put words into the user's mouth.
_WORKERS = ("agent-acompact-", "agent-aprompt_suggestion-", "agent-aside_question-")
_WORKFLOW = "wf_"
_JOURNAL = "journal.jsonl"
_SESSION_DEPTH = 2
_NO_SESSIONS = frozenset({"tool-results", "memory"})
# Where rsync keeps files until all of them can be renamed into place.
_DELAYED = ".~tmp~"


def is_session_file(name: str, folder: str) -> bool:
    """Whether a file may hold a session, by its name and its folder's.

    A name that starts with a dot is one that a copying program will rename.
    """
    if not name.endswith(SUFFIX) or name.startswith((".", *_WORKERS)):
        return False
    return not (name == _JOURNAL and folder.startswith(_WORKFLOW))


def may_hold_sessions(name: str, depth: int) -> bool:
    """Whether to look into a folder.

    Args:
        name: its name.
        depth: folders between it and the watched one, itself included.
    """
    if name == _DELAYED:
        return False
    return depth < _SESSION_DEPTH or name not in _NO_SESSIONS


def agent_of_file(path: str) -> str | None:
    """The id of the sub-agent that a file is named after, if it is."""
    name = path.rpartition("/")[2]
    if not (name.startswith("agent-") and name.endswith(SUFFIX)):
        return None
    return name.removeprefix("agent-").removesuffix(SUFFIX) or None
