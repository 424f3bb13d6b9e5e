"""Which part of a text a person or an agent wrote, and which the harness added."""

import re
from dataclasses import dataclass

_QUERY, _QUERY_END = "<user_query>", "</user_query>"
_TIME = re.compile(r"<timestamp>([^<]{0,200})</timestamp>")
# A block of the harness is one element whose name has several parts; a person's markup rarely is.
_BLOCK = re.compile(
    r"\s*<([a-z][a-z0-9]{0,30}(?:[_-][a-z0-9]{1,30}){1,6}|timestamp|rules)(?:\s[^<>]{0,500})?>",
    re.I,
)
_ASKED = "user_query"
_HARNESS = frozenset(
    {
        "agent_skills",
        "agent_transcripts",
        "attached_files",
        "git_status",
        "open_and_recently_viewed_files",
        "project_layout",
        "rules",
        "system_reminder",
        "user_info",
        "user_rules",
    }
)
_REDACTED = re.compile(r"(?:\A|(?<!\n)\n+)[ \t]*\[REDACTED\][ \t]*(?=\n|\Z)")
_NAME_LIMIT = 120


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a person wrote, and when, if it says so.

    Attributes:
        text: the words; empty when they are the harness's alone.
        time: the note of the time.
    """

    text: str
    time: str | None = None


def prompt_of(text: str) -> Prompt:
    """What a person wrote in a text of the user's role."""
    noted = _TIME.search(text)
    time = noted[1] if noted else None
    # Of what stands before each end, all behind the first beginning.
    parts = (part.partition(_QUERY) for part in text.split(_QUERY_END)[:-1])
    queries = [query.strip() for _before, begun, query in parts if begun]
    if queries:
        return Prompt("\n\n".join(query for query in queries if query), time)
    position = 0
    while block := _BLOCK.match(text, position):
        closing = f"</{block[1]}>"
        end = text.lower().find(closing.lower(), block.end())
        if end < 0:
            if block[1].lower() == _ASKED:
                # Its end is missing; what follows is still what was asked.
                return Prompt(text[block.end() :].strip(), time)
            # What follows a block of the harness is one too, though its end is missing.
            if position or block[1].lower() in _HARNESS:
                return Prompt("", time)
            break
        position = end + len(closing)
    return Prompt(text[position:].strip(), time)


def answer_of(text: str) -> str:
    """What an agent said in a text, without the marks of what was taken out of it."""
    return _REDACTED.sub("", text).strip()


def picture(name: str | None) -> str:
    """What stands for a picture of which the log has a name only."""
    shown = re.split(r"[\\/]", name)[-1][:_NAME_LIMIT] if name else ""
    shown = " ".join(shown.replace("[", "(").replace("]", ")").split())
    return f"[image: {shown}]" if shown.isprintable() and shown else "[image: unknown]"
