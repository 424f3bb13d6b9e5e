"""Inputs that are hard on code that reads what people wrote; the same ones in every run."""

import random
from collections.abc import Sequence

SEED = 20260314
ODD_TEXTS: Sequence[str] = (
    "",
    " ",
    "\n\n\t",
    "a",
    "what did we say about the harbour yesterday?",
    "the latest change to --no-verify in src/app.py:80 last week",
    "since 2026-02-30, until 31.12.9999, 10000-01-01, in 99999999999 days",
    '"unbalanced quote',
    '"" OR NEAR(a b) AND NOT body: * ^ -',
    "'; DROP TABLE passages; --",
    "((((((((((",
    "[a-z]*+?{9999}",
    "null\0byte",
    "昨日の港の話、最新のもの",
    "Ünïcödé e\u0301 \u200b\u200d\ufeff\u202e right to left",
    "👩‍👩‍👧‍👦 🏳️‍🌈",
    "\ud800 half a pair",
    "x" * 20_000,
    "word " * 5_000,
    "\u2028\u2029\x85\x0b\x0c",
)


def generator(salt: str = "") -> random.Random:
    """A source of chance that is the same in every run."""
    return random.Random(f"{SEED}{salt}")  # noqa: S311 - for test data


def random_text(chance: random.Random, most: int) -> str:
    """A text of up to `most` characters of several scripts, with spaces and line ends."""
    alphabet = "abcdefghij ABC 0123456789 .,;:!?-_/\\\"'`()[]{}<>#@$%&*+=~^|\n\n\t äßéñ 港の倉庫 🚢"
    return "".join(chance.choices(alphabet, k=chance.randint(1, most)))


def random_bytes(chance: random.Random, most: int) -> bytes:
    """Up to `most` arbitrary bytes."""
    return chance.randbytes(chance.randint(0, most))
