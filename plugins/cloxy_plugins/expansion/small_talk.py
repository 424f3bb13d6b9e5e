"""Whether words beside a date say anything to search for.

"What did we do yesterday" asks for yesterday; "what did the cache do yesterday" does not.
"""

import re

_WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)?")
_ENGLISH = """
a about again all an and any anything are at be been being bit by can chat chatted come could day
days did discuss discussed discussing do does doing done during everything exactly for from get give
go going gone got had happen happened happening has have hour hours i in into is it just list me
month months my of on or our out over past please recap remember remind said say session sessions
show so some something stuff summarise summarize summary talk talked talking tell that the then
there thing things this through time to today together up us was we week weeks went were what what's
whatever when which while who with work worked working year years you your yesterday
"""
_CHINESE = """
我们 我 你 做了 做过 做 什么 说了 说过 说 讨论了 讨论 聊了 聊 有 哪些 事情 事 的 了 在 都 过 吗 呢
"""
_FILLERS = frozenset(_ENGLISH.split())
_FILLER_RUNS = re.compile("|".join(_CHINESE.split()))


def is_small_talk(text: str) -> bool:
    """Whether a text without its dates has no word to search for."""
    words = _WORD.findall(_FILLER_RUNS.sub(" ", text))
    return all(word.casefold().replace("\u2019", "'") in _FILLERS for word in words)
