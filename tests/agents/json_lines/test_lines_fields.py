"""Where in a record something stands."""

import pytest

from cloxy_plugins.json_lines.fields import MOST, field_path, matches

RECORD = {
    "type": "message",
    "message": {
        "role": "user",
        "n": None,
        "content": [
            {"type": "thinking", "text": "hm", "hidden": True},
            {"type": "text", "text": "one"},
            {"type": "text", "text": "two", "hidden": False},
            "three",
            7,
        ],
    },
    "a.b": {"c d": 1},
    "deep": [[1, 2], [3]],
}


@pytest.mark.parametrize(
    ("path", "values"),
    [
        ("type", ["message"]),
        ("message.role", ["user"]),
        ("message.content[].text", ["hm", "one", "two"]),
        ("message.content[type=text].text", ["one", "two"]),
        ("message.content[type!=thinking].text", ["one", "two"]),
        ("message.content[hidden!=true].text", ["one", "two"]),
        ("message.content[hidden=true].text", ["hm"]),
        ("message.content[type=text][hidden!=false].text", ["one"]),
        ("message.content[0].text", ["hm"]),
        ("message.content[-1]", [7]),
        ("message.content[-2]", ["three"]),
        ("message.content[9]", []),
        ("message.content[]", RECORD["message"]["content"]),
        ('"a.b"."c d"', [1]),
        ("deep[][]", [1, 2, 3]),
        ("deep[][0]", [1, 3]),
        ("deep[1][0]", [3]),
        ("[type=message].message.role", ["user"]),
        ('[type="message"].message.role', ["user"]),
        ("[message.role=user].type", ["message"]),
        ("[message.role=assistant].type", []),
        ("[type=other].message.role", []),
        ("[type!=other].message.role", ["user"]),
        ("[nowhere!=x].type", ["message"]),
        ("message.n", []),
        ("message.n.deeper", []),
        ("nowhere.at.all", []),
        ("type.deeper", []),
        ("type[]", []),
        ("type[0]", []),
        ("message[]", []),
        ("message[role=user].role", ["user"]),
    ],
)
def test_values_of_a_path(path, values):
    assert list(field_path(path).values(RECORD)) == values


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("", "names no field"), ("[]", "names no field"), ("[type=x]", "names no field"),
        ("a..b", "character 3"), (".a", "character 1"), ("a.", "character 3"),
        ("a[]b", "character 4"), ("a[x]", "character 2"), ("a[", "character 2"),
        ("a]", "character 2"), ("a.[0]", "character 3"), ("a[1.5]", "character 2"),
        ('a."b', "character 3"), ("a=b", "character 2"), ("a[b=[]]", "character 2"),
        ("a[9999999]", "character 2"),
    ],
)  # fmt: skip
def test_what_is_no_path_says_where_it_goes_wrong(path, words):
    with pytest.raises(ValueError, match=words):
        field_path(path)


def test_a_path_never_gives_more_than_so_many_values():
    record = {"a": [[1] * 1000] * 1000}
    assert len(field_path("a[][]").values(record)) == MOST


@pytest.mark.parametrize(
    ("value", "wanted", "yes"),
    [
        ("a", "a", True), ("a", "b", False), ("ab", "a", False), ("ab", "a*", True),
        ("ab", "*b", True), ("ab", "*", True), ("", "*", True), (None, "*", False),
        ({}, "*", True), ([], "*", True), ({}, "a", False), ("abcbd", "a*b*d", True),
        ("abd", "a*b*b*d", False), ("aba", "ab*ba", False), ("a\nb", "a*b", True),
        ("a.b", "a?b", False), (True, "true", True), (False, "false", True), (True, "1", False),
        (1, "1", True), (1.5, "1.5", True), (1, "true", False), ("true", "true", True),
        ("xay", "*a*", True), ("xy", "*a*", False), (None, "null", False),
    ],
)  # fmt: skip
def test_when_a_value_is_what_is_wanted(value, wanted, yes):
    assert matches(value, wanted) is yes


def test_many_stars_do_not_take_long():
    assert matches("a" * 50_000, "*a" * 50 + "*b") is False
