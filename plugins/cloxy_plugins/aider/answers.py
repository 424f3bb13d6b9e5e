"""The words of an answer: without thoughts, and with a mark in place of each edit of a file."""

import re
from collections.abc import Iterator, Sequence

from cloxy_plugins.aider.chats import Block
from cloxy_plugins.aider.fences import EDIT_END, EDIT_START, THOUGHTS_END, THOUGHTS_START, fence_of

_COMMON_TAG = re.compile(r"\s*<think(?:ing)?>")
_RULE = re.compile(r"-{6,}\s*\Z")
_PATCH_START = re.compile(r"\*\*\* Begin Patch\s*\Z")
_PATCH_END = re.compile(r"\*\*\* End Patch\s*\Z")
_PATCHED = re.compile(r"\*\*\* (?:Update|Add|Delete) File: (.+)")
_CHANGED = re.compile(r"\+\+\+ (?:b/)?(\S.*)")
_NAME = re.compile(r"[^\s`*#:<>|\"]+")
_AROUND_NAME = "`*#: \t"
_NAME_LIMIT = 200


def words_of(block: Block, edit_format: str) -> str:
    """What an answer says.

    Args:
        block: the answer.
        edit_format: how the model was told to write edits, such as `diff` or `whole`.
    """
    lines, _ends = _without_thoughts(list(_without_edits(block, edit_format)))
    return "\n".join(lines).strip("\n").rstrip()


def said(block: Block) -> str:
    """All of an answer but thoughts, for comparison: white space does not count."""
    lines, _ends = _without_thoughts(block.lines)
    return " ".join("\n".join(lines).split())


def only_thinks(block: Block) -> bool:
    """Whether the thoughts of an answer have no end, so that all behind their start is left out."""
    _lines, ends = _without_thoughts(block.lines)
    return not ends


def _without_thoughts(lines: Sequence[str]) -> tuple[list[str], bool]:
    """The other lines, and whether all thoughts have an end."""
    kept: list[str] = []
    inside = spoken = False
    for number, line in enumerate(lines):
        if not inside and THOUGHTS_START.match(line):
            # Tags that anybody may write in the middle of an answer are part of it.
            inside = not (spoken and _COMMON_TAG.match(line))
        if not inside:
            spoken = spoken or bool(line.strip())
            following = lines[number + 1] if number + 1 < len(lines) else ""
            if not (_RULE.match(line) and THOUGHTS_START.match(following)):
                kept.append(line)
            continue
        end = THOUGHTS_END.match(line)
        if end is not None:
            inside = False
            if rest := line[end.end() :].strip():
                kept.append(rest)
    return kept, not inside


def _without_edits(block: Block, edit_format: str) -> Iterator[str]:
    """The lines, with a mark in place of each fenced edit, each patch and each bare edit."""
    ends = dict(block.fenced)
    kept: list[str] = []
    number = 0
    while number < len(block.lines):
        line = block.lines[number]
        end = ends.get(number)
        names: Sequence[str] | None = None
        if end is not None:
            names = _edited(kept, block.lines[number : end + 1], edit_format)
        elif EDIT_START.match(line):
            end = _find(block.lines, number, EDIT_END)
            names = [_take_name(kept)]
        elif _PATCH_START.match(line):
            end = _find(block.lines, number, _PATCH_END)
            names = _patched(block.lines[number : end + 1])
        if end is None:
            end = number
        if names is None:
            kept.extend(block.lines[number : end + 1])
        else:
            for name in dict.fromkeys(names):
                mark = _mark(name)
                if mark not in kept[-2:]:
                    kept.append(mark)
        number = end + 1
    return iter(kept)


def _edited(before: list[str], fenced: Sequence[str], edit_format: str) -> Sequence[str] | None:
    """The files that a fenced block edits; None when it is no edit.

    Args:
        before: the lines before it, of which the last may be the name of the file; it is taken.
        fenced: the block.
        edit_format: how the model was told to write edits.
    """
    inside = fenced[1:-1]
    if any(EDIT_START.match(line) for line in inside):
        first = inside[0]
        return [_name_in(first) or _take_name(before)]
    if any(_PATCH_START.match(line) for line in inside):
        return _patched(inside)
    if "udiff" in edit_format:
        fence = fence_of(fenced[0])
        if fence is not None and fence.info == "diff":
            found = [match[1] for line in inside if (match := _CHANGED.match(line))]
            return found or None
    if "whole" in edit_format and (name := _take_name(before)):
        return [name]
    return None


def _patched(lines: Sequence[str]) -> Sequence[str]:
    return [match[1] for line in lines if (match := _PATCHED.match(line))] or [""]


def _take_name(before: list[str]) -> str:
    """The name of a file on the last line, which is taken away; empty when there is none."""
    name = _name_in(before[-1]) if before else ""
    if name:
        before.pop()
    return name


def _name_in(line: str) -> str:
    """The name of a file, when a line is nothing else."""
    name = line.strip().strip(_AROUND_NAME)
    looks = len(name) <= _NAME_LIMIT and _NAME.fullmatch(name) and ("." in name or "/" in name)
    return name if looks and not line.lstrip().startswith(("<", ">", "=")) else ""


def _find(lines: Sequence[str], number: int, end: re.Pattern[str]) -> int:
    """The line that ends what begins at a line; the last when nothing does."""
    for place in range(number + 1, len(lines)):
        if end.match(lines[place]):
            return place
    return len(lines) - 1


def _mark(name: str) -> str:
    shown = "".join(each for each in name.strip() if each.isprintable())[:_NAME_LIMIT]
    return f"[edit: {shown}]" if shown else "[edit]"
