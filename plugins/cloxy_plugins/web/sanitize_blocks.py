"""Style sheets in pieces: selectors and declarations of the rules that hold on a usual screen."""

import re
from collections.abc import Iterator
from typing import Final

_WIDE: Final = re.compile(
    r"(?:only\s+)?(?:all|screen)?(?:\s*(?:and)?\s*\(\s*min-width\s*:\s*\d{1,3}(?:\.\d+)?(?:px|r?em)\s*\))*"
)


def blocks(sheets: str) -> Iterator[tuple[str, str]]:
    """Selectors and bodies of plain rules, also of those inside of conditions that hold."""
    at = 0
    holds: list[bool] = []
    while True:
        opened, closed = sheets.find("{", at), sheets.find("}", at)
        if closed >= 0 and (opened < 0 or closed < opened):
            if holds:
                holds.pop()
            at = closed + 1
            continue
        if opened < 0:
            return
        prelude = sheets[at:opened].rpartition(";")[2].strip()
        if prelude.startswith("@"):
            holds.append(_holds(prelude))
            at = opened + 1
            continue
        end = closed if closed >= 0 else len(sheets)
        if all(holds):
            yield prelude, sheets[opened + 1 : end].rpartition("{")[2]
        at = end + 1


def _holds(prelude: str) -> bool:
    name, _, rest = prelude.partition(" ")
    if name.startswith("@media"):
        query = prelude.removeprefix("@media").strip()
        return any(_WIDE.fullmatch(each.strip()) for each in query.split(","))
    return name in {"@supports", "@layer", "@scope"} or (name == "@container" and not rest)


def split(selectors: str) -> list[str]:
    """Selectors of a list; commas inside of parentheses do not separate."""
    found, depth, start = [], 0, 0
    for at, character in enumerate(selectors):
        depth += (character in "([") - (character in ")]")
        if character == "," and depth == 0:
            found.append(selectors[start:at].strip())
            start = at + 1
    return [*found, selectors[start:].strip()]
