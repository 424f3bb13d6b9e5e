import json

import pytest

from cloxy_core.services.redaction import clean, redact_value, strip_private


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("a <private>x</private> b", "a  b"),
        ("a <PRIVATE>x</Private> b", "a  b"),
        ('a <private reason="mine">x</private > b', "a  b"),
        ("a < private >x< / private > b", "a  b"),
        ("a <private\nx>y</private> b", "a  b"),
        ("a <private>x <private>y</private> z</private> b", "a  b"),
        ("a <private>x</private> b <private>y</private> c", "a  b  c"),
        ("a <private>never closed", "a "),
        ("a <private>x <private>y</private> z", "a "),
        ("a `<private>` is how one marks", "a `"),
        ("a </private> b", "a </private> b"),
        ("a \\u003cprivate\\u003ex\\u003c/private\\u003e b", "a  b"),
        (
            "private <privateer>x</privateer> <p>private</p>",
            "private <privateer>x</privateer> <p>private</p>",
        ),
    ],
)
def test_private_blocks_are_stripped(text, left):
    assert strip_private(text) == left


def test_text_without_blocks_is_the_same_object():
    text = "private field <b>x</b>"
    assert strip_private(text) is text


def test_a_block_inside_a_json_string_leaves_the_json_whole():
    text = json.dumps({"a": "x <private>\ny\n</private> z"})
    assert json.loads(strip_private(text)) == {"a": "x  z"}


def test_ten_thousand_blocks_flat_nested_and_open():
    assert strip_private("<private>x</private>" * 10_000) == ""
    assert strip_private("<private>" * 10_000 + "x" + "</private>" * 10_000 + "y") == "y"
    assert strip_private("y" + "<private>" * 10_000) == "y"


def test_clean_counts_blocks_and_secrets_and_repairs_characters():
    cleaned = clean("a\0b \ud800 \ud83d\ude00 <private>x</private> DB_PASSWORD=hunter2!A")
    assert cleaned.text == "ab \ufffd 😀  DB_PASSWORD=[REDACTED:password]"
    assert cleaned.counts == {"private": 1, "password": 1}


def test_clean_leaves_clean_text_the_same_object():
    text = "naïve text — nothing here"
    assert clean(text).text is text


def test_a_tag_hidden_by_nul_is_still_a_tag():
    assert clean("a <pri\0vate>x</private> b").text == "a  b"


def test_values_are_cleaned_by_content_and_by_key():
    value = {
        "password": "hunter2hunter2",
        "nested": [{"api_key": "a1B2c3D4e5F6g7H8"}, "<private>x</private>y", 3, None, True],
        "token_count": 12,
        "branch": "feature/token",
    }
    cleaned, counts = redact_value(value)
    assert cleaned == {
        "password": "[REDACTED:password]",
        "nested": [{"api_key": "[REDACTED:api_key]"}, "y", 3, None, True],
        "token_count": 12,
        "branch": "feature/token",
    }
    assert counts == {"password": 1, "api_key": 1, "private": 1}


def test_placeholders_and_numbers_under_secret_keys():
    assert redact_value({"password": "${DB_PASSWORD}", "token": None}) == (
        {"password": "${DB_PASSWORD}", "token": None},
        {},
    )
    assert redact_value({"password": 12345678})[0] == {"password": "[REDACTED:password]"}


def test_keys_that_become_equal_are_kept_apart():
    cleaned, _ = redact_value({"a<private>1</private>": 1, "a<private>2</private>": 2})
    assert cleaned == {"a": 1, "a#2": 2}


def test_too_deep_a_value_is_refused_with_advice():
    value = []
    for _ in range(200):
        value = [value]
    with pytest.raises(ValueError, match="flatten"):
        redact_value(value)
