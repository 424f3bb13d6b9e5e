"""The labelled pages: what has to be in the text of a page, and what must not."""

import importlib.util
import sys
from collections import defaultdict
from pathlib import Path

import pytest

FILE = Path(__file__).parents[3] / "benchmarks" / "extraction" / "quality.py"
LEAST_PRECISION = 0.9
HALVES = ("open", "held-out")
"""The blind pages are only measured, by hand: a test that failed would lead to tuning on them."""


@pytest.fixture(scope="module")
def counts():
    """Half and kind -> what was counted, and what was missed of the open half."""
    spec = importlib.util.spec_from_file_location("extraction_quality", FILE)
    quality = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(quality)
    paths = sorted(quality.PAGES.glob("*/*/*.html"))
    pages = [quality.load(path) for path in paths if path.parts[-3] in HALVES]
    found, misses = defaultdict(quality.Count), []
    for page, text in zip(pages, quality.ours(pages), strict=True):
        noted = misses if page.half == "open" else None
        quality.score(page, text, found[page.half, page.kind], noted)
    return found, misses


def test_there_are_pages_of_eight_kinds_in_both_halves(counts):
    kinds = defaultdict(set)
    for half, kind in counts[0]:
        kinds[half].add(kind)
    assert len(kinds["open"]) == 8
    assert kinds["open"] == kinds["held-out"]


def test_everything_that_is_wanted_is_there(counts):
    assert {key: count.recall for key, count in counts[0].items() if count.recall < 1} == {}


def test_code_and_tables_are_intact(counts):
    broken = {
        key: (count.code, count.tables)
        for key, count in counts[0].items()
        if count.code[0] < count.code[1] or count.tables[0] < count.tables[1]
    }
    assert broken == {}


def test_hardly_anything_else_is_there(counts):
    low = {key: count.precision for key, count in counts[0].items()}
    assert {key: value for key, value in low.items() if value < LEAST_PRECISION} == {}
    assert counts[1] == []
