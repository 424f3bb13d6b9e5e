"""What is read of text threads."""

import os

import pytest
from agents.sources import items, only, texts
from zed_kit import Zed, text_thread

WRITTEN = 1_740_000_000_000
TURNS = [("user", "Why? 港"), ("assistant", "Because."), ("user", "And?"), ("assistant", "So.")]


@pytest.fixture
def zed(tmp_path):
    return Zed(tmp_path)


def test_a_text_thread(zed):
    path = zed.write_text()
    os.utime(path, (WRITTEN / 1000, WRITTEN / 1000))
    result = only(zed.text_source)
    assert texts(result) == [
        ("user", "/file crane.py\n\nWhy does the crane overheat?"),
        ("assistant", "It never idles. 港"),
        ("user", "Add a test"),
        ("assistant", "Done."),
    ]
    assert [message.author for message in result.messages] == ["human", "assistant"] * 2
    assert {(message.at, message.approximate) for message in result.messages} == {(WRITTEN, True)}
    facts = result.sessions["tt1"]
    assert (facts.title, facts.cwd) == ("Old crane", None)
    assert not result.bad_lines
    assert not result.unknown


@pytest.mark.parametrize("version", ["0.1.0", "0.2.0", "0.3.0", "0.4.0"])
def test_every_version(zed, version):
    value = text_thread(*TURNS, version=version)
    if version < "0.3.0":
        del value["slash_command_output_sections"]
    if version < "0.4.0":
        del value["thought_process_output_sections"]
    zed.write_text(value)
    assert texts(only(zed.text_source)) == TURNS


def test_ids_stay_when_the_form_changes_and_when_words_are_edited(zed):
    zed.write_text(text_thread(*TURNS, version="0.3.0"))
    before = [message.uid for message in only(zed.text_source).messages]
    assert len(set(before)) == 4
    zed.write_text(text_thread(("user", "Why ever?"), *TURNS[1:]))
    assert [message.uid for message in only(zed.text_source).messages] == before


def test_turns_of_several_people_and_turns_without_ids(zed):
    value = text_thread(*TURNS)
    value["messages"][2]["id"] = {"replica_id": 3, "value": 0}
    for message in (value["messages"][1], value["messages"][3]):
        del message["id"]
    zed.write_text(value)
    result = only(zed.text_source)
    assert texts(result) == TURNS
    assert len({message.uid for message in result.messages}) == 4
    value["messages"][2]["id"]["replica_id"] = 0
    zed.write_text(value)
    other = only(zed.text_source).messages[2].uid
    assert other not in {message.uid for message in result.messages}


def test_turns_stand_in_the_order_of_the_text(zed):
    value = text_thread(*TURNS)
    value["messages"].reverse()
    zed.write_text(value)
    assert texts(only(zed.text_source)) == TURNS


def test_what_nobody_answered_was_not_sent(zed):
    zed.write_text(text_thread(("user", "a note"), ("user", "another")))
    result = only(zed.text_source)
    assert (result.messages, result.sessions, result.bad_lines) == ([], {}, [])
    zed.write_text(text_thread(("user", ""), ("assistant", "")))
    assert only(zed.text_source).messages == []


def test_ranges_that_overlap_and_lie_anywhere(zed):
    value = text_thread(("user", "abcdefghij"), ("assistant", "klmnopqrst"), ("user", "x"))
    value["slash_command_output_sections"] = [
        {"range": {"start": 2, "end": 4}},
        {"range": {"start": 3, "end": 5}},
        {"range": {"start": 8, "end": 13}},
        {"range": {"start": 20, "end": 9999}},
        {"range": {"start": 7, "end": 7}},
        {"range": {"start": -4, "end": 2}},
        {"range": {"start": True, "end": 9}},
        {"range": None},
        None,
    ]
    zed.write_text(value)
    assert texts(only(zed.text_source)) == [("user", "abfgh"), ("assistant", "mnopqrs")]


def test_titles(zed):
    zed.write_text(text_thread(*TURNS, summary=""), name="Why the crane - 12")
    facts = only(zed.text_source).sessions["tt1"]
    assert facts.title == "Why the crane"
    zed.write_text(text_thread(*TURNS, key=None), name="Why the crane - 12")
    assert set(only(zed.text_source).sessions) == {"Why the crane - 12"}


def test_what_is_not_known_is_counted(zed):
    value = text_thread(*TURNS, ("oracle", "x"), ("system", "SYSTEM PROMPT"), ("assistant", "y"))
    value["messages"] += [None, {"start": "x"}, {"start": -1}, {"start": 0}]
    zed.write_text(value)
    result = only(zed.text_source)
    assert texts(result) == [*TURNS, ("assistant", "y")]
    assert result.unknown == {"turn of role oracle": 1}
    assert len(result.bad_lines) == 4


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "the file is empty"),
        (b'{"text": "half', "the file is not JSON"),
        (b"[]", "the file holds no text thread"),
        (b'{"text": 7}', "the file holds no text thread"),
        (b'{"text": "words", "messages": {}}', "a turn has no known form"),
    ],
)
def test_a_file_that_is_no_text_thread_is_told(zed, data, reason):
    zed.write_text(data)
    result = only(zed.text_source)
    assert [line.reason for line in result.bad_lines] == [reason]
    assert result.messages == []


def test_only_text_threads_are_looked_at(zed, tmp_path):
    path = zed.write_text()
    for other in ("conversations/deep/x - 1.zed.json", "conversations/notes.json", "x.zed.json",
                  "settings.json"):  # fmt: skip
        place = zed.folder / other
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(path.read_bytes())
    assert [item.uri for item in items(zed.text_source)[0]] == [str(path)]
    for folder in (zed.folder, zed.conversations):
        assert len(list(zed.text_source.of(folder).discover([]))) == 1
    assert list(zed.text_source.of(tmp_path).discover([])) == []
