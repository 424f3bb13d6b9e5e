"""Counts what was said in chat histories of Aider, by other means than the plugin's.

Patterns over the whole text of each chat; thoughts and closed code are taken out first. Shares no
code with the plugin. A chat is named as the documentation says: by its start, and a digest of it,
of what was shown at its start, and of what was typed first.

    python benchmarks/agents/aider_count.py FOLDER
"""

import hashlib
import itertools
import re
from collections import Counter
from pathlib import Path

from totals import main

NAME = ".aider.chat.history.md"
START = re.compile(r"(?:\A|(?<=\n))# aider chat started at (\d\S+ \d\S+)[ \t]*\n", re.M)
THOUGHTS = re.compile(r"^<(think\S*)>.*?</\1>|^► \*\*THINKING.*?► \*\*ANSWER\*\*", re.M | re.S)
CODE = re.compile(r"^[ \t]*(`{3,})[^`\n]*\n(?:(?!> Tokens: )[^\n]*\n)*?[ \t]*\1[ \t]*$", re.M)
FOR_MODEL = re.compile(r"/(?:ask|code|architect|context|help)\s+(?=\S)")
NOT_WORDS = re.compile(r"(?:/[a-z][a-z0-9_-]*(?:\s|\Z)|!|<blank>\Z|.*\(Y\)es/\(N\)o.*\]: )")


def parts(text):
    """Kind and text of what stands in a chat, in order."""
    ends = r"  $" if re.search(r"^(?:> |#### ).*  $", text, re.M) else r"$"
    typed = rf"(?:^####(?: .*)?{ends}\n?)+"
    shown = rf"(?:^>(?: .*)?{ends}\n?)(?:^(?!#### |> )[^\n]*\S[^\n]*\n?)*"
    more = r"(?:^> .*(?<!  )\n(?:(?!> |#### ).*\n)*?.*\S  \n)*" if ends != "$" else ""
    mark = re.compile(f"(?P<typed>{typed})|(?P<shown>{shown}{more})", re.M)
    place = 0
    for found in mark.finditer(text):
        if text[place : found.start()].strip():
            yield "answer", text[place : found.start()]
        yield found.lastgroup, found[0]
        place = found.end()
    if text[place:].strip():
        yield "answer", text[place:]


def merged(found):
    """Neighbours of one kind as one."""
    for kind, group in itertools.groupby(found, key=lambda each: each[0]):
        told = [part for _kind, part in group]
        yield from [(kind, "".join(told))] if kind == "shown" else [(kind, each) for each in told]


def key_of(start, shown, first):
    """The name of a chat."""
    lines = [re.sub(r"^> ?", "", line).strip() for line in shown.split("\n")]
    told = "\0".join([start, *(line for line in lines if line), first])
    digest = hashlib.blake2b(told.encode(), digest_size=6).hexdigest()
    return f"{start.replace(' ', 'T').replace(':', '-')}-{digest}"


def count_chat(start, text, totals):
    """Add the numbers of one chat."""
    hidden = CODE.sub("CODE", THOUGHTS.sub("", text))
    numbers, shown, key, asked, answer = Counter(), "", None, None, None
    for kind, part in merged(parts(hidden)):
        if kind == "typed":
            words = "\n".join(line[5:].rstrip() for line in part.rstrip("\n").split("\n")).strip()
            key = key or key_of(start, shown, words)
            if asked == words or answer == " ".join(words.split()):
                asked = None
                continue
            asked = answer = None
            if found := FOR_MODEL.match(words):
                asked = words[found.end() :]
                numbers["user"] += 1
            elif words and not NOT_WORDS.match(words):
                numbers["user"] += 1
        elif key is None:
            shown += part
        elif kind == "answer":
            numbers["assistant"] += 1
            answer = " ".join(part.split())
        elif re.search(r"^> (?:Applied edit to|Commit [0-9a-f]{6})", part, re.M):
            numbers["note"] += 1
    if numbers:
        totals[key] = dict(numbers)


def count(folder):
    """Numbers of messages by chat and role.

    Args:
        folder: with histories, at any depth.
    """
    totals = {}
    for path in sorted(Path(folder).rglob(NAME)):
        text = path.read_bytes().decode("utf-8", "replace").replace("\r\n", "\n")
        pieces = START.split(text)
        for start, piece in zip(pieces[1::2], pieces[2::2], strict=True):
            count_chat(start, piece, totals)
    return totals


def well_formed(path, data):
    """Whether Aider could have written these bytes; a last piece that is still written counts.

    It is UTF-8 without a zero byte, and begins with a start. What was shown ends with two blanks,
    and what was typed has them at each line; an empty line before it may be missing, which is no
    loss. Behind what was typed stands an empty line or something that was shown. Nobody answers in
    a chat before something is typed there.
    """
    if path.name != NAME:
        return True  # what was typed, and when: it tells times only
    try:
        lines = [line.removesuffix("\r") for line in data.decode("utf-8").split("\n")]
    except UnicodeDecodeError as error:
        torn = error.end == len(data) and error.reason == "unexpected end of data"
        return torn and well_formed(path, data[: error.start])
    if "\0" in data.decode("utf-8"):
        return False
    if not any(line.strip() for line in lines):
        return True
    # An editor that trims lines takes the blanks away; then nobody knows where a text ends.
    trimmed = not any(re.match("(####|>) .*  $", line) for line in lines)
    state, started, typed = "empty", False, trimmed
    for number, line in enumerate(lines):
        torn, ended = number == len(lines) - 1, trimmed or line.endswith("  ")
        behind = lines[number + 1].strip() if number + 1 < len(lines) else ""
        if state == "shown, unfinished" and not re.match("####( |$)", line):
            state = "shown" if ended else state
        elif re.match(r"# aider chat started at \d{4}-\d\d-\d\d \d\d:\d\d:\d\d\s*\Z", line) and (
            state == "empty" and not behind
        ):
            state, started, typed = "start", True, trimmed
        elif not line.strip():
            state = "empty"
        elif torn:
            return bool(started) or "# aider chat started at ".startswith(line[:24])
        elif not started:
            return False
        elif re.match("####( |$)", line) and ended and state != "answer":
            state, typed = "typed", True
        elif re.match(">( |$)", line) and state != "answer":
            state = "shown" if ended else "shown, unfinished"
        elif re.match(">( |$)", line) and ended:
            state = "shown"
        elif state in ("empty", "answer") and typed:
            state = "answer"
        elif state == "shown":
            state = "shown" if ended else "shown, unfinished"
        else:
            return False
    return True


if __name__ == "__main__":
    main(count)
