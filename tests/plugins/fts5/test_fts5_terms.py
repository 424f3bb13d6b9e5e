"""What the tokenizer cannot see."""

import pytest

from cloxy_plugins.fts5.terms import (
    MAX_TOKEN,
    humps,
    index_parts,
    normal,
    pairs,
    runs,
    shorten,
    signed_names,
)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("HttpRetryPolicy", ["http", "retry", "policy"]),
        ("parseJSONBody", ["parse", "json", "body"]),
        ("HTTPServer", ["http", "server"]),
        ("utf8", ["utf", "8"]),
        ("NASA", []),
        ("word", []),
    ],
)
def test_humps(name, words):
    assert humps(name) == words


def test_camel_case_inside_of_other_names_is_split():
    parts = index_parts("call my_httpRetry.forUser(xmlParser) and plain words").split()
    assert parts == ["http", "retry", "for", "user", "xml", "parser"]


def test_composed_and_decomposed_are_equal():
    assert normal("cafe\u0301") == normal("caf\u00e9") == "caf\u00e9"


def test_only_very_long_tokens_are_cut():
    text = "before " + "a" * 91_548 + " after"
    assert shorten(text) == "before " + "a" * MAX_TOKEN + " after"
    exact = "x" * MAX_TOKEN + " " + "y/" * 5_000
    assert shorten(exact) == exact


def test_unspaced_scripts_become_pairs_and_characters():
    assert runs("用 sqlite 存密钥") == ["用", "存密钥"]
    assert pairs("存密钥") == ["存密", "密钥"]
    assert pairs("用") == ["用"]
    assert index_parts("存密钥 用").split() == ["存密", "密钥", "存", "密", "钥", "用"]


def test_latin_words_inside_of_a_run_are_parts():
    assert "sqlite" in index_parts("用sqlite存密钥").split()


def test_signed_names_are_spelled_out():
    assert signed_names("C++ and C#, F# too") == ["cplusplus", "csharp", "fsharp"]
    assert signed_names("issue #12, i++ in_c++x and a+b") == ["iplusplus"]
