"""What a person says in a turn, without what the program around it added."""

import re

_ADDED = re.compile(r"<(system-reminder|local-command-[a-z]{1,20}|environment_details)>")
_WRAPPERS = re.compile(r"\A\s*<(task|user_message)>(.*?)</\1>", re.DOTALL)


def spoken(text: str) -> str:
    """The text without reminders, outputs of commands and states of editors; else unchanged.

    A coding agent puts them into turns of its user; they are neither to be searched for nor kept.
    """
    if "<" not in text:
        return text
    kept: list[str] = []
    position, unclosed = 0, set[str]()
    while (opening := _ADDED.search(text, position)) is not None:
        closing = f"</{opening[1]}>"
        # Looked for once: a text full of openings without an end would take its time.
        end = -1 if closing in unclosed else text.find(closing, opening.end())
        if end < 0:
            unclosed.add(closing)
            kept.append(text[position : opening.end()])
            position = opening.end()
            continue
        kept.append(text[position : opening.start()])
        position = end + len(closing)
    if position:
        text = "".join([*kept, text[position:]]).strip()
    wrapped = _WRAPPERS.match(text)
    if wrapped is None:
        return text
    return f"{wrapped[2].strip()}\n{text[wrapped.end() :].strip()}".strip()
