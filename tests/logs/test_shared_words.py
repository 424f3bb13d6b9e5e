"""What programs put around words, and what stands for pictures and files beside them."""

import hashlib

import pytest

from cloxy_hookspecs.logs.google_parts import is_whole, marks_in, spoken_parts, texts_in
from cloxy_hookspecs.logs.pictures import (
    NAME_LIMIT,
    bytes_of_address,
    bytes_of_base64,
    name_in_path,
    picture_mark,
)
from cloxy_hookspecs.logs.words import Wrappers, paragraphs, without_between

NAMES = ("hook", "system-reminder")
START, END = "--- files ---", "--- end ---"
DIGEST = hashlib.sha256(b"ABC").hexdigest()[:12]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("typed", "typed"),
        ("  typed  \n", "  typed  \n"),
        ("<hook>a</hook>\n typed ", "typed "),
        (' <hook by="x">a</hook><system-reminder>b</system-reminder>typed', "typed"),
        (
            "typed\n<hook>a</hook>\n\n<system-reminder>b <i>c</i></system-reminder>  ",
            "typed",
        ),
        ("<hook>a</hook> typed <hook>b</hook>", "typed"),
        ("<hook>a</hook>", ""),
        ("why <hook>a</hook> there?", "why <hook>a</hook> there?"),
        ("<hooks>a</hooks> typed", "<hooks>a</hooks> typed"),
        ("typed</hook>", "typed</hook>"),
        ("a <hook>b", "a <hook>b"),
        ("<hook " + "x" * 600 + ">a</hook>typed", "<hook " + "x" * 600 + ">a</hook>typed"),
    ],
)
@pytest.mark.parametrize("unclosed", [True, False])
def test_wrappers_are_taken_off_at_both_ends(text, words, unclosed):
    assert Wrappers(NAMES, unclosed=unclosed).taken_off(text) == words


def test_a_wrapper_that_is_never_closed():
    text = "<hook>a</hook> <hook>b, and typed"
    assert Wrappers(NAMES, unclosed=True).taken_off(text) == ""
    assert Wrappers(NAMES, unclosed=False).taken_off(text) == "<hook>b, and typed"


def test_a_name_of_a_wrapper_is_no_pattern():
    assert Wrappers(["a.c"], unclosed=True).taken_off("<abc>x</abc>y") == "<abc>x</abc>y"


@pytest.mark.parametrize(
    ("texts", "kept"),
    [
        (["a", "b"], ["a", "b"]),
        ([f"see @a\n\n{START}\nbody\n{END}"], ["see @a"]),
        (["see @a", START, "body", END, "and"], ["see @a", "", "", "", "and"]),
        (["see", f"{START}body", f"more{END} and"], ["see", "", " and"]),
        ([f"a{START}b{END}c{START}d{END}e"], ["ace"]),
        (["see", f"\n{START}", "body", "more"], ["see", "", "", ""]),
        ([f"a {END} b"], [f"a {END} b"]),
        ([], []),
    ],
)
def test_what_stands_between_two_marks_is_left_out(texts, kept):
    assert without_between(texts, START, END) == kept


def test_blank_texts_are_no_paragraphs():
    assert paragraphs(["a", "", " \n", " b"]) == "a\n\n b"
    assert paragraphs([]) == ""


def test_the_mark_of_a_picture_tells_its_bytes_apart():
    assert picture_mark("image/png", b"ABC") == f"[image: image/png, sha256 {DIGEST}]"
    assert picture_mark("image/png", b"ABD") != picture_mark("image/png", b"ABC")


@pytest.mark.parametrize(
    ("text", "data"),
    [("QUJD", b"ABC"), ("QUJDRA==", b"ABCD"), ("QUJDR", b"QUJDR"), ("", b""), ("\ud83d", b"")],
)
def test_bytes_in_base64(text, data):
    assert bytes_of_base64(text) == data


@pytest.mark.parametrize(
    ("address", "data"),
    [
        ("data:image/png;base64,QUJD", b"ABC"),
        ("data:image/png;base64,A", b"A"),
        ("data:image/svg+xml,<svg,>", b"<svg,>"),
        ("data:,QUJD", b"QUJD"),
        ("data:image/png;base64", b""),
    ],
)
def test_bytes_in_an_address(address, data):
    assert bytes_of_address(address) == data


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/srv/demo/crane.png", "crane.png"),
        ("C:\\Users\\ann\\crane.png", "crane.png"),
        ("https://files.example/v1/crane.png", "crane.png"),
        ("a\nb\x1b.png", "ab.png"),
        ("/", ""),
        ("", ""),
        ("x" * 300, "x" * NAME_LIMIT),
        ("/" * 5000 + "crane.png", "crane.png"),
    ],
)
def test_the_name_of_a_file_in_a_mark(path, name):
    assert name_in_path(path) == name


PARTS = [
    {"text": "hello"},
    {"thought": True, "text": "hm"},
    {"text": 7},
    {"functionCall": {"name": "ls"}},
    {"thought": "no", "text": "there"},
    None,
    "bare",
    ["x"],
]


def test_texts_of_parts_are_those_that_were_said():
    parts = list(spoken_parts(PARTS))
    assert texts_in(parts) == ["hello", "there"]
    assert marks_in(parts) == ""


def mark(file, kind="inlineData"):
    return marks_in([{kind: file}])


def test_marks_of_parts():
    picture = {"mimeType": "IMAGE/PNG", "data": "QUJD", "displayName": "crane"}
    assert mark(picture) == f"[image: image/png, sha256 {DIGEST}]"
    assert mark(picture | {"data": ""}) == "[image: crane]"
    assert (
        mark({"mimeType": "image/png", "fileUri": "gs://b/c.png"}, "fileData") == "[image: c.png]"
    )
    assert mark({"mimeType": "application/pdf", "data": "QUJD"}) == "[file: application/pdf]"
    assert mark({"mimeType": "a\nb", "displayName": " "}) == "[file: unknown]"
    assert mark({}) == "[file: unknown]"
    assert mark("x") == ""
    # What is named first counts, unless it is none.
    both = {"inlineData": {"displayName": "a"}, "fileData": {"displayName": "b"}}
    assert marks_in([both, both | {"inlineData": 7}]) == "[file: a]\n[file: b]"


def test_a_message_has_at_most_50_marks():
    assert marks_in([{"fileData": {"displayName": "a"}}] * 60).count("\n") == 49


@pytest.mark.parametrize(
    ("part", "whole"),
    [
        ({"text": "hello"}, True),
        ({"text": ""}, True),
        ({"text": "hm", "thought": True}, True),
        ({"thought": True}, True),
        ({"thoughtSignature": "c2ln"}, True),
        ({}, True),
        ({"functionCall": {"name": "x"}}, True),
        ({"functionResponse": {"id": "t1"}}, True),
        ({"inlineData": {"mimeType": "image/png", "data": "QUJD"}}, True),
        ({"videoMetadata": {"fps": 1}, "fileData": {"fileUri": "a.mp4"}}, True),
        ({"tixt": "hello"}, False),
        ({"text": None}, False),
        ({"text": 7}, False),
        ({"inlineData": "QUJD"}, False),
        (7, False),
        (None, False),
    ],
)
def test_a_part_whose_words_are_gone_is_not_whole(part, whole):
    assert is_whole(part) is whole
