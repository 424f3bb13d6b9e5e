"""Which names below a watched folder are session logs."""

from cloxy_hookspecs import Parts

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


def is_session_file(parts: Parts) -> bool:
    """Whether a file may hold a session, by its path below a watched folder.

    A name that starts with a dot is one that a copying program will rename.
    """
    name = parts[-1]
    if not name.endswith(SUFFIX) or name.startswith((".", *_WORKERS)):
        return False
    if name != _JOURNAL:
        return True
    # A watched folder may be one of a workflow itself.
    return len(parts) > 1 and not parts[-2].startswith(_WORKFLOW)


def may_hold_sessions(parts: Parts) -> bool:
    """Whether to look into a folder, by its path below a watched one."""
    name = parts[-1]
    if name == _DELAYED:
        return False
    return len(parts) < _SESSION_DEPTH or name not in _NO_SESSIONS


def agent_of_file(path: str) -> str | None:
    """The id of the sub-agent that a file is named after, if it is."""
    name = path.rpartition("/")[2]
    if not (name.startswith("agent-") and name.endswith(SUFFIX)):
        return None
    return name.removeprefix("agent-").removesuffix(SUFFIX) or None
