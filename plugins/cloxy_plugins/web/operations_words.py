"""How many words of a claim a passage has, rare words counting more."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

_WORD: Final = re.compile(r"[^\W_]+(?:[._'’-][^\W_]+)*")
_CJK: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]+")
_STOP: Final = frozenset(
    """
    a an and are as at be been but by can could did do does for from had has have he her his i
    if in into is it its may more most not of on one or our she should so than that the their
    them there these they this to was we were what when which who will with would you your
    """.split()  # noqa: SIM905 - a long list of strings would hide the words
)


def words(text: str) -> frozenset[str]:
    """Words of a text as they are compared; two characters at a time where there are no spaces."""
    found: set[str] = set()
    for match in _WORD.finditer(text.casefold()):
        word = match[0]
        runs = _CJK.findall(word)
        for run in runs:
            found.update(run[i : i + 2] for i in range(max(len(run) - 1, 1)))
        if not runs and word not in _STOP:
            found.add(_stem(word))
    return frozenset(found)


def overlaps(claim: str, texts: Sequence[str]) -> list[float]:
    """For each text, the share of the claim's words that it has: 0 to 1."""
    wanted = words(claim)
    having = [words(text) for text in texts]
    common = Counter(word for had in having for word in had & wanted)
    weights = {word: math.log(1 + (1 + len(texts)) / (1 + common[word])) for word in wanted}
    total = sum(weights.values())
    return [sum(weights[w] for w in had & wanted) / total if total else 0.0 for had in having]


def _stem(word: str) -> str:
    """A word without what English adds to it most often."""
    if word.endswith("ies") and len(word) > 5:
        word = f"{word[:-3]}y"
    elif word.endswith("s") and not word.endswith("ss") and len(word) > 3:
        word = word[:-1]
    for ending in ("ing", "ed"):
        if word.endswith(ending) and len(word) > len(ending) + 2:
            return word[: -len(ending)]
    return word[:-1] if word.endswith("e") and len(word) > 3 else word
