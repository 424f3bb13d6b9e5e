"""Files that are damaged, or made to do harm."""

import io
import json
import random
import zipfile
from dataclasses import replace

import pytest
from exchange.foreign_kit import (
    chatgpt,
    claude_ai,
    claude_message,
    packed,
    plain_chatgpt,
    read,
    texts,
)

from cloxy_core.services.exchange.foreign_limits import LIMITS, ForeignTrouble
from cloxy_core.services.exchange.foreign_split import split_array

TALK = json.dumps([plain_chatgpt()]).encode()
SMALL = replace(LIMITS, member_bytes=50_000, total_bytes=60_000, ratio_from=1000, members=3)


class Dripping(io.RawIOBase):
    """A stream that gives a byte at a time."""

    def __init__(self, data):
        self.data = io.BytesIO(data)

    def read(self, size=-1):
        return self.data.read(1)


def test_a_list_is_split_wherever_the_blocks_end():
    wanted = [{"a": '"]}\\'}, {"b": [{"c": 'ü\n\\"'}, []]}, {}]
    data = b"\xef\xbb\xbf \n" + json.dumps(wanted, indent=1).encode() + b"\n "
    whole = [json.loads(item) for item in split_array(io.BytesIO(data))]
    assert whole == wanted
    assert [json.loads(item) for item in split_array(Dripping(data[3:].lstrip()))] == wanted


def test_a_deep_or_large_conversation_is_passed_over_alone():
    deep = b'{"mapping":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    large = b'{"mapping":{"x":"' + b"y" * 3_000_000 + b'"}}'
    limits = replace(LIMITS, conversation_bytes=1_000_000)
    data = b"[" + TALK[1:-1] + b"," + deep + b"," + large + b"," + TALK[1:-1] + b"]"
    lines, report = read(data, limits)
    assert report.told == [(2, "it is nested too deep"), (3, "it is larger than 1,000,000 bytes")]
    assert sum(line["kind"] == "message" for line in lines) == 4


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"{}", "it holds no list"),
        (b"", "the file is cut"),
        (b'[{"a":1}]', "it holds no conversations of ChatGPT or Claude.ai"),
        (b"[1, 2]", "holds more than objects"),
        (TALK[:-1] + b', "x"]', "holds more than objects"),
        (TALK[:-30], "the file is cut"),
        (TALK[:-1], "the file is cut"),
        (TALK + b"[]", "something stands behind"),
        (TALK[:-1] + b"}", "its brackets do not fit"),
    ],
)
def test_what_is_no_list_of_conversations_is_said(data, words):
    with pytest.raises(ForeignTrouble, match=words):
        read(data)


def test_an_empty_list_is_an_export_of_nothing():
    lines, report = read(b" [ ] ")
    assert [line["kind"] for line in lines] == ["header", "end"]
    assert report.agent == ""


def test_a_zip_is_read_in_the_order_of_its_names():
    data = packed(
        {
            "chat.html": b"<html>",
            "conversations-001.json": json.dumps([plain_chatgpt("c-2")]).encode(),
            "conversations-000.json": TALK,
            "../conversations.json": b"[",
            "deep/conversations.json": b"[",
            "conversations.json.bak": b"[",
            "user.json": b"{",
        }
    )
    lines, _report = read(data)
    assert [line["key"] for line in lines if line["kind"] == "session"] == ["c-1", "c-2"]


def encrypted(data):
    changed = bytearray(data)
    changed[data.index(b"PK\x01\x02") + 8] |= 1
    return bytes(changed)


def twice():
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        archive.writestr("conversations.json", TALK)
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("conversations.json", TALK)
    return target.getvalue()


def lying(data):
    """A zip whose directory says that a member is small."""
    changed = bytearray(data)
    at = data.index(b"PK\x01\x02") + 24
    changed[at : at + 4] = (100).to_bytes(4, "little")
    return bytes(changed)


BOMB = packed({"conversations.json": b"[" + b" " * 5_000_000 + b"]"})
HONEST = packed({"conversations.json": TALK})
FLIPPED = HONEST[:60] + bytes([HONEST[60] ^ 0xFF]) + HONEST[61:]


@pytest.mark.parametrize(
    ("data", "limits", "words"),
    [
        (b"PK\x03\x04", LIMITS, "the zip is damaged or cut"),
        (HONEST[:-40], LIMITS, "the zip is damaged or cut"),
        (FLIPPED, LIMITS, "the zip is damaged"),
        (encrypted(HONEST), LIMITS, "the zip is encrypted"),
        (packed({"conversations.json": TALK}, zipfile.ZIP_LZMA), LIMITS, "packed in a way"),
        (packed({"users.json": b"[]"}), LIMITS, "a zip without conversations.json"),
        (packed({f"{n}.txt": b"" for n in range(4)}), SMALL, "more than 3 files"),
        (BOMB, SMALL, "larger than 50,000 bytes"),
        (BOMB, replace(SMALL, member_bytes=1 << 30), "unpacks to more than 200 times"),
        (twice(), LIMITS, "a name stands twice"),
        (lying(BOMB), SMALL, "not whole|is damaged|list of conversations does not end"),
        (
            packed(
                {f"conversations-00{n}.json": b"[" + b" " * 35_000 + b"]" for n in range(2)},
                zipfile.ZIP_STORED,
            ),
            SMALL,
            "unpacks to more than 60,000 bytes",
        ),
    ],
)
def test_a_zip_that_is_refused(data, limits, words):
    with pytest.raises(ForeignTrouble, match=words):
        read(data, limits)


SEEDS = (
    [plain_chatgpt(), plain_chatgpt("c-2")],
    [claude_ai(claude_message("m1", "human", "one"), claude_message("m2", "assistant", "two"))],
)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("zipped", [False, True])
def test_random_damage_is_told_and_raises_nothing_else(seed, zipped):
    whole = json.dumps(seed).encode()
    whole = packed({"conversations.json": whole}) if zipped else whole
    chance = random.Random(7)
    for _ in range(500):
        data = bytearray(whole)
        for _ in range(chance.choice([1, 1, 5])):
            at = chance.randrange(len(data) - 1)
            how = chance.randrange(4)
            if how == 0:
                data[at] = chance.randrange(256)
            elif how == 1:
                del data[at + 2 : at + 2 + chance.randrange(40)]
            elif how == 2:
                data[at:at] = data[at : at + chance.randrange(1, 40)]
            else:
                data = data[: at + 2]
        try:
            lines, _report = read(bytes(data))
        except ForeignTrouble:
            continue
        assert lines[-1]["kind"] == "end"


def test_surrogates_in_text_do_not_stop_it():
    talk = chatgpt(
        {"q": {"message": {"author": {"role": "user"}, "content": {
            "content_type": "text", "parts": ["a \ud800 b"]}}}},
        current="q",
    )  # fmt: skip
    assert texts([talk]) == ["a \ufffd b"]
