"""Escaping, tables, and fields of unknown shape."""

import json
import unicodedata
from io import StringIO
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cloxy_core.cli import fields, output
from cloxy_core.cli.progress import progress_line


@pytest.mark.parametrize(
    ("text", "one_line", "block"),
    [
        ("plain ä 密钥 😅 — ok", "plain ä 密钥 😅 — ok", "plain ä 密钥 😅 — ok"),
        ("a\nb\tc", "a\\nb\\tc", "a\nb\tc"),
        ("a\r\nb", "a\\r\\nb", "a\nb"),
        ("a\rb", "a\\rb", "a\\rb"),
        ("\x1b[2J", "\\x1b[2J", "\\x1b[2J"),
        ("\x9b31m", "\\x9b31m", "\\x9b31m"),
        ("\u202egpj", "\\u202egpj", "\\u202egpj"),
        ("\U000e0041", "\\U000e0041", "\\U000e0041"),
        ("\ud83d", "\\ud83d", "\\ud83d"),
        ("C:\\new", "C:\\new", "C:\\new"),
    ],
)
def test_escape(text, one_line, block):
    assert output.escape(text) == one_line
    assert output.escape(text, lines=True) == block


@given(st.text(alphabet=st.characters(codec=None, categories=None), max_size=200))
def test_no_control_character_passes(text):
    shown = output.escape(text)
    assert not any(unicodedata.category(c) in {"Cc", "Cs", "Zl", "Zp"} for c in shown)
    assert len(shown.splitlines()) <= 1


@given(st.recursive(st.text() | st.integers() | st.none(), st.lists))
def test_json_says_the_same(value):
    with patch("sys.stdout", StringIO()) as written:
        output.print_json(value)
    assert json.loads(written.getvalue()) == value


def test_table_aligns_wide_characters_and_escapes():
    rows = [("密钥", "one"), ("ab", "two\n"), ("", "three"), ("alone",)]
    assert output.table(rows) == ["密钥   one", "ab     two\\n", "       three", "alone"]
    assert output.table([]) == []


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0, "0 s"), (0.4, "0 s"), (59.6, "1 min"), (61, "1 min 1 s"), (7384, "2 h 3 min"),
     (90_000, "1 d 1 h"), (86_400, "1 d"), (-5, "0 s")],
)  # fmt: skip
def test_duration(seconds, words):
    assert fields.duration(seconds) == words


@pytest.mark.parametrize(
    ("answer", "line"),
    [
        ({}, "waiting for the server"),
        ({"scanning": False, "files_total": 9}, "waiting for the server"),
        ({"scanning": True}, "0/0 files · 0 memories"),
        (
            {"scanning": True, "files_this_scan": 5, "files_total": 20, "chunks_this_scan": 1234},
            "[#####               ] 5/20 files · 1,234 memories · 0.5 files/s · about 30 s left",
        ),
        (
            {"scanning": True, "files_this_scan": 20, "files_total": 20},
            "[####################] 20/20 files · 0 memories · 2.0 files/s",
        ),
        ({"scanning": True, "files_this_scan": 30, "files_total": 20},
         "[####################] 30/20 files · 0 memories · 3.0 files/s"),
        ({"scanning": True, "files_this_scan": "x", "files_total": None}, "0/0 files · 0 memories"),
    ],
)  # fmt: skip
def test_progress_line(answer, line):
    assert progress_line(answer, 10.0) == line


@pytest.mark.parametrize(
    ("count", "words"),
    [(0, "0 bytes"), (999, "999 bytes"), (4_096_000, "4.1 MB"), (5 * 10**15, "5,000.0 TB")],
)
def test_size(count, words):
    assert fields.size(count) == words
