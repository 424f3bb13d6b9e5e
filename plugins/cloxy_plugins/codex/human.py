"""Which part of a user's text a person wrote.

Codex speaks in the user's name too: instruction files, the environment, skills, notices. Editors
put their state before a prompt. What they add is taken off; a person's words stay as typed.
"""

import re

_INJECTED = (
    "<environment_context>",
    "# agents.md instructions",
    "<user_instructions>",
    "<permissions instructions>",
    "<skills_instructions>",
    "<apps_instructions>",
    "<recommended_plugins>",
    "<multi_agent_mode>",
    "<collaboration_mode>",
    "<app-context>",
    "<turn_aborted>",
    "<skill>",
    "<user_shell_command>",
    "<user_action>",
    "<subagent_notification>",
    "<instructions>",
    "the following is the codex agent history",
    "another language model started to solve this problem and produced a summary",
)
_LONGEST = max(map(len, _INJECTED))
# A block of the harness is one element whose name has several parts; a person's markup rarely is.
_BLOCK = re.compile(r"<([a-z][a-z0-9]{0,30}(?:[_-][a-z0-9]{1,30}){1,6})(?:\s[^<>]{0,500})?>", re.I)
_EDITOR = ("# Context from my IDE", "# Files mentioned by the user")
_REQUEST = re.compile(r"^##[ \t]+My request for Codex:?[ \t]*$", re.M)
_PLACE = re.compile(r"<cwd>([^<>]{1,4096})</cwd>")
_ENVIRONMENT = "<environment_context>"
_HEAD = 20_000


def is_injected(text: str) -> bool:
    """Whether a text is known to be the harness's alone."""
    return text.lstrip()[:_LONGEST].lower().startswith(_INJECTED)


def is_block(text: str) -> bool:
    """Whether a text is nothing but one element as the harness writes them.

    New kinds come often. Only for records that the harness and people share.
    """
    words = text.strip()
    opening = _BLOCK.match(words)
    return opening is not None and words[-64:].lower().endswith(f"</{opening[1].lower()}>")


def human_words(text: str) -> str:
    """What a person wrote in a text; empty when it is the harness's alone."""
    if is_injected(text):
        return ""
    if text.lstrip().startswith(_EDITOR):
        heading = _REQUEST.search(text)
        if heading is None:
            return ""
        words = text[heading.end() :].strip()
        return "" if is_injected(words) else words
    return text if text.strip() else ""


def place_in(text: str) -> str | None:
    """The working directory that an environment block names."""
    start = text.lstrip()[:_HEAD]
    if not start.startswith(_ENVIRONMENT):
        return None
    found = _PLACE.search(start)
    return found[1].strip() or None if found else None
