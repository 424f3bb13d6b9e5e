"""Whatever happened to a file, reading it never fails without a word."""

import os

import pytest
from agents.damage import is_json
from agents.sources import items, only, read, texts
from agents.written_stores import halves, writing
from amp_kit import THREAD, Threads, assistant, put, talk, thread, user

from cloxy_core.testing.mutations import mutate

SEEDS = 200


@pytest.fixture
def threads(tmp_path):
    return Threads(tmp_path)


def test_damaged_threads(threads):
    path = threads.put(*talk())
    whole = path.read_bytes()
    (item,), _ = items(threads.source)
    lost = 0
    for seed in range(SEEDS):
        data = mutate(whole, seed)
        path.write_bytes(data)
        result = read(threads.source, item)
        if len(result.messages) < 5:
            lost += 1
            assert result.bad_lines or result.unknown or is_json(data), seed
    assert lost > SEEDS / 4


@pytest.mark.parametrize(
    "data", [b"", b"\0" * 50, b"null", b"7", b"[]", b"{}", b'{"messages": {}}', b"[" * 5000]
)
def test_what_is_no_thread_is_told(threads, data):
    put(threads.folder / f"{THREAD}.json", data)
    result = only(threads.source)
    assert not result.messages
    assert len(result.bad_lines) == 1


STRANGE = [None, 7, "x", [], [None], [[]], {}, {"a": 1}, True, 1.5, 10**400, -1e999, "\ud800"]


@pytest.mark.parametrize("value", STRANGE)
def test_values_of_no_known_form(threads, value):
    blocks = [{"type": value}, {"type": "text", "text": value}, value]
    blocks += [{"type": "image", "source": value, "sourcePath": value}]
    blocks += [{"type": "summary", "summary": value}]
    fields = ("role", "messageId", "content", "meta", "usage", "type")
    strange = [{**user(9, "words"), field: value} for field in fields]
    strange += [{**assistant(9, "words"), field: value} for field in fields]
    strange += [user(9, "words", meta={"sentAt": value})]
    strange += [assistant(9, "words", usage={"timestamp": value, "model": value})]
    strange += [user(9, *blocks), assistant(9, *blocks), value]
    threads.put(user(0, "Why?"), *strange)
    assert texts(only(threads.source))[0] == ("user", "Why?")
    events = [value, {"operationType": "inference", "toMessageId": value, "timestamp": value}]
    for field in ("id", "created", "title", "env", "usageLedger", "forkedFrom", "relationships"):
        threads.put(user(0, "Why?"), **{field: value}) if field != "id" else put(
            threads.folder / f"{THREAD}.json", {**thread(user(0, "Why?")), "id": value}
        )
        assert texts(only(threads.source)) == [("user", "Why?")]
    for trees in (value, [value], [{"uri": value, "repository": value}]):
        ledger = {"events": events}
        threads.put(user(0, "Why?"), env={"initial": {"trees": trees}}, usageLedger=ledger)
        assert texts(only(threads.source)) == [("user", "Why?")]


def test_a_thread_without_an_id_has_that_of_its_file(threads):
    put(threads.folder / f"{THREAD}.json", {"messages": talk()})
    assert set(only(threads.source).sessions) == {THREAD}


def test_links_are_not_followed_and_large_files_are_told(threads, tmp_path):
    outside = put(tmp_path / "outside.json", thread(*talk()))
    path = threads.put(*talk())
    (threads.folder / "T-link.json").symlink_to(outside)
    found, failures = items(threads.source)
    assert [each.uri for each in found] == [str(path)]
    assert all(failure.deliberate for failure in failures)
    os.truncate(path, 200 << 20)
    found, failures = items(threads.source)
    assert found == []
    assert str(path) in {failure.uri for failure in failures}


WRITER = """
import json, sys
from agents.writer_loops import write_in_halves
from amp_kit import AT, text
def text_of(number):
    said = [{"role": "user", "messageId": n, "meta": {"sentAt": AT + n},
             "content": [text(f"word {n}")]} for n in range(number + 2)]
    return json.dumps({"v": number, "id": "T-1", "messages": said})
write_in_halves(sys.argv[1], text_of)
"""


def test_a_thread_that_another_process_is_writing(threads):
    path = threads.put(user(0, "word 0"))
    (item,), _ = items(threads.source)
    seen = []
    with writing("-c", WRITER, path) as process:
        for number, state in halves(process, 4):
            result = read(threads.source, item)
            assert bool(result.bad_lines) == (state == "half")
            if state == "whole":
                ids = [each.uid for each in result.messages]
                assert ids[: len(seen)] == seen
                assert len(ids) == number + 2
                seen = ids
