"""Logs of runs of the editor's agent: what is taken of them, and when they are read."""

import os

import pytest
from agents.sources import items, only, read
from kiro_kit import PLACE, Stores, said, say, texts

from cloxy_plugins.kiro import runs


@pytest.fixture
def stores(tmp_path):
    return Stores(tmp_path)


def asked(*answers):
    """Turns of a session in which each answer names a run."""
    return [
        turn
        for number, answer in enumerate(answers, 1)
        for turn in (("user", f"Why {number}?"), ("assistant", answer, f"e{number}"))
    ]


def reasons(result):
    return [bad.reason for bad in result.bad_lines]


def watched(stores, monkeypatch):
    """Names of the files that are opened from now on."""
    opened = []
    content = stores.reader.content

    def note(root, path, most):
        opened.append(path)
        return content(root, path, most)

    monkeypatch.setattr(stores.reader, "content", note)
    return opened


def test_what_a_run_said_stands_in_place_of_the_placeholder(stores):
    other = {"executionId": "e1", "actionType": "readFiles", "output": {"message": "TOOL OUTPUT"}}
    stores.run_log("e1", ["First the brake.", other, "Then the motor."])
    stores.session("s1", [*asked("On it."), ("user", "Thanks")])
    result = only(stores.chats)
    assert said(result) == [
        ("user", "human", "Why 1?"),
        ("assistant", "assistant", "First the brake."),
        ("assistant", "assistant", "Then the motor."),
        ("user", "human", "Thanks"),
    ]
    assert {m.session for m in result.messages} == {"s1"}
    assert not result.bad_lines
    assert not result.unknown


def test_a_run_that_says_nothing_leaves_the_session_as_it_is(stores):
    stores.run_log("e1", [{"actionType": "readFiles"}, say("e1", " "), say("e1", None)])
    stores.session("s1", asked("On it."))
    assert texts(only(stores.chats)) == ["Why 1?", "On it."]


def test_what_the_program_says_is_not_taken(stores):
    put_in = ["<identity>RULES", "<EnvironmentContext>RULES", "[SYSTEM NOTE: RULES]"]
    consent = ["Understood.", "I will follow these instructions.\n"]
    stores.run_log("e1", [*put_in, *consent, "Understood. It is the brake."])
    stores.session("s1", asked("On it."))
    assert texts(only(stores.chats)) == ["Why 1?", "Understood. It is the brake."]


def test_what_another_run_said_in_a_log_is_not_of_this_one(stores):
    stores.run_log("e1", [say("e9", "Of another."), say(None, "Its own.")])
    stores.session("s1", asked("On it."))
    assert texts(only(stores.chats)) == ["Why 1?", "Its own."]


def test_words_that_grew_while_they_were_written_are_one_message(stores):
    stores.run_log("e1", ["First", "First the", "First the brake.", "So.", "First"])
    stores.session("s1", asked("On it."))
    assert texts(only(stores.chats)) == ["Why 1?", "First the brake.", "So.", "First"]


def test_a_run_that_was_started_by_another_speaks_in_its_place(stores):
    start = {"executionId": "e1", "actionType": "specAgent", "output": {"executionId": "child"}}
    back = {"executionId": "child", "actionType": "specAgent", "output": {"executionId": "e1"}}
    stores.run_log("e1", ["Before.", start, "Behind."])
    stores.session("s1", asked("On it."))
    before = {m.text: m.uid for m in only(stores.chats).messages}
    stores.run_log("child", [back, "Between."])
    after = only(stores.chats)
    assert texts(after) == ["Why 1?", "Before.", "Between.", "Behind."]
    assert before.items() <= {m.text: m.uid for m in after.messages}.items()


def test_a_run_that_is_started_again_and_again_is_read_once(stores, monkeypatch):
    start = {"actionType": "specAgent", "output": {"executionId": "child"}}
    back = {"actionType": "specAgent", "output": {"executionId": "e1"}}
    stores.run_log("e1", [start, start, start])
    log = stores.run_log("child", [back, back, "Because."])
    stores.session("s1", asked("On it."))
    (item,), _ = items(stores.chats)
    opened = watched(stores, monkeypatch)
    assert texts(read(stores.chats, item))[1:] == ["Because."]
    assert opened.count(log) == 1


def test_the_damaged_log_of_a_run_that_was_started_is_told(stores):
    start = {"actionType": "specAgent", "output": {"executionId": "child"}}
    stores.run_log("e1", ["Before.", start])
    stores.session("s1", asked("On it."))
    assert reasons(only(stores.chats)) == []
    stores.run_log("child", []).write_bytes(b"{")
    result = only(stores.chats)
    assert texts(result)[1:] == ["Before."]
    told = "no log of 1 run(s) that others started; 1 log(s) of runs cannot be read"
    assert reasons(result) == [told]


def test_a_long_chain_of_runs_ends(stores):
    count = 1_500
    for number in range(1, count + 1):
        start = {"actionType": "specAgent", "output": {"executionId": f"e{number + 1}"}}
        stores.run_log(f"e{number}", [start, f"Said {number}."])
    stores.session("s1", asked(*["On it."] * count))
    result = only(stores.chats)
    assert sorted(texts(result)) == sorted(
        text for number in range(1, count + 1) for text in (f"Why {number}?", f"Said {number}.")
    )


@pytest.mark.parametrize(
    ("own", "expected"),
    [
        ("It is\nold.", ["It never idles.", "It is\nold."]),
        ("It never idles. \nIt is old.", ["It never idles. \nIt is old."]),
        ("It never", ["It never idles.", "It is old."]),
        ("", ["It never idles.", "It is old."]),
    ],
)
def test_words_of_the_session_itself_are_not_said_twice(stores, own, expected):
    stores.run_log("e1", ["It never idles.", "It is old."])
    stores.session("s1", asked(own))
    assert texts(only(stores.chats))[1:] == expected


def test_two_answers_of_one_run_and_one_run_in_two_sessions(stores):
    stores.run_log("e1", ["It never idles."])
    turns = [("user", "Why?"), ("assistant", "On it.", "e1"), ("assistant", "On it.", "e1")]
    for key in ("s1", "s2"):
        stores.session(key, turns)
    found, _ = items(stores.chats)
    results = [read(stores.chats, item) for item in found]
    assert [texts(result) for result in results] == [["Why?", "It never idles."]] * 2
    assert len({m.uid for result in results for m in result.messages}) == 4


def test_an_id_is_the_same_with_the_log_and_without(stores):
    stores.session("s1", asked("On it.", "On it.", "Done."))
    before = [m.uid for m in only(stores.chats).messages]
    stores.run_log("e1", ["It never idles."])
    after = [m.uid for m in only(stores.chats).messages]
    assert after[:1] + after[2:] == before[:1] + before[2:]
    assert after[1] not in before
    stores.run_log("e1", ["It never idles.", "It is old."])
    grown = [m.uid for m in only(stores.chats).messages]
    assert grown[:2] + grown[3:] == after


def test_only_an_answer_names_a_run(stores):
    stores.run_log("e1", ["It never idles."])
    stores.session("s1", [("user", "Why?", "e1"), ("assistant", "Because.")])
    assert texts(only(stores.chats)) == ["Why?", "Because."]


def test_runs_that_no_session_names_are_left_alone(stores):
    stores.run_log("e7", ["Nobody asked."])
    stores.session("s1", asked("Because."))
    result = only(stores.chats)
    assert texts(result) == ["Why 1?", "Because."]
    assert not result.bad_lines


def test_a_log_of_a_run_is_no_item_of_its_own(stores):
    path = stores.run_log("e7", ["Nobody asked."])
    assert items(stores.chats) == ([], [])
    assert items(stores.chats, path) == ([], [])


def test_of_two_logs_of_one_run_the_newest_counts(stores):
    old = stores.run_log("e1", ["Old."], name="one")
    new = stores.run_log("e1", ["New."], name="two")
    stores.session("s1", asked("On it."))
    for first, second, expected in ((old, new, "New."), (new, old, "Old.")):
        os.utime(first, (1, 1))
        os.utime(second, (2, 2))
        assert texts(only(stores.chats))[1:] == [expected]


def test_runs_lie_in_the_place_of_the_folder_of_their_session(stores):
    stores.run_log("e1", ["Its own."])
    stores.run_log("e1", ["Elsewhere."], place="0" * 32, name="other")
    path = stores.session("s1", asked("On it."))
    for log in stores.editor.glob("*/*/*"):
        os.utime(log, (1, 1) if PLACE in log.parts else (2, 2))
    assert texts(only(stores.chats))[1:] == ["Its own."]
    path.unlink()
    stores.session("s2", asked("On it."), folder="/srv/other")
    assert texts(only(stores.chats))[1:] == ["Elsewhere."]


def test_a_place_on_windows_is_named_by_one_way_of_writing_a_path(stores):
    folder = "D:\\Work\\Harbour"
    (place,) = list(runs._digests("d:/work/HARBOUR"))[1:]
    stores.run_log("e1", ["Its own."], place=place)
    stores.run_log("e1", ["Elsewhere."], place="0" * 32)
    stores.session("s1", asked("On it."), folder=folder)
    assert texts(only(stores.chats))[1:] == ["Its own."]


@pytest.mark.parametrize("name", ["x.json", "deep/x", "../x"])
def test_other_files_beside_logs_are_not_looked_at(stores, monkeypatch, name):
    log = stores.run_log("e1", ["It never idles."])
    other = log.parent / name
    other.parent.mkdir(exist_ok=True)
    log.rename(other)
    stores.session("s1", asked("On it."))
    opened = watched(stores, monkeypatch)
    assert texts(only(stores.chats))[1:] == ["On it."]
    assert other.resolve() not in [path.resolve() for path in opened]


def test_a_link_is_not_followed(stores, tmp_path):
    log = stores.run_log("e1", ["It never idles."])
    log.rename(tmp_path / "elsewhere")
    log.symlink_to(tmp_path / "elsewhere")
    stores.session("s1", asked("On it."))
    result = only(stores.chats)
    assert texts(result)[1:] == ["On it."]
    assert reasons(result) == ["no log of the run for 1 answer(s) without words"]


def test_a_session_of_which_no_word_is_there_is_no_drift(stores):
    stores.session("s1", [("assistant", "", run) for run in ("e1", "e2", "e3")])
    stores.run_log("e1", []).with_name("e2").write_bytes(b"{")
    result = only(stores.chats)
    assert (result.messages, result.silent) == ([], True)
    assert len(result.bad_lines) == 2


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"{", "1 log(s) of runs cannot be read"),
        (b"[]", "1 log(s) of runs cannot be read"),
        (b'{"executionId": "e1", "actions": 7}', "1 log(s) of runs cannot be read"),
        (b'{"actions": []}', "1 log(s) of runs cannot be read"),
        (None, "no log of the run for 1 answer(s) without words"),
    ],
)
def test_a_log_that_is_damaged_or_missing_is_told_and_the_session_is_kept(stores, data, reason):
    log = stores.run_log("e1", ["It never idles."])
    log.unlink() if data is None else log.write_bytes(data)
    stores.session("s1", asked("On it.", "Because."))
    result = only(stores.chats)
    assert texts(result) == ["Why 1?", "On it.", "Why 2?", "Because."]
    (told,) = reasons(result)
    assert told.endswith(reason)


@pytest.mark.parametrize(
    ("data", "reason"),
    [(b"{", "not JSON"), (b"7", "no record"), (b'{"executionId": "e1"}', "no actions")],
)
def test_of_a_damaged_log_with_the_name_of_the_run_is_told_what_is_wrong(stores, data, reason):
    log = stores.run_log("e1", [])
    log.unlink()
    log.with_name("e1").write_bytes(data)
    stores.session("s1", asked("On it."))
    result = only(stores.chats)
    assert texts(result) == ["Why 1?", "On it."]
    assert len(reasons(result)) == 1
    assert reasons(result)[0].endswith(reason)


def test_a_log_that_is_too_large_is_not_opened(stores, monkeypatch):
    monkeypatch.setattr(runs, "MOST", 1 << 20)
    log = stores.run_log("e1", ["x" * (1 << 20)])
    log = log.rename(log.with_name("e1"))
    stores.session("s1", asked("On it."))
    opened = watched(stores, monkeypatch)
    result = only(stores.chats)
    assert texts(result) == ["Why 1?", "On it."]
    assert [reason.endswith("larger than 1 MB") for reason in reasons(result)] == [True]
    assert log not in opened


def test_actions_of_another_form_are_counted(stores):
    strange = [7, {"output": {}}, {"actionType": "say", "output": {"text": "x"}}]
    stores.run_log("e1", [*strange, "It never idles."])
    stores.session("s1", asked("On it."))
    result = only(stores.chats)
    assert texts(result)[1:] == ["It never idles."]
    assert sum(result.unknown.values()) == 3


def test_more_logs_than_are_looked_at_are_told(stores, monkeypatch):
    monkeypatch.setattr(runs, "_LOGS", 1)
    for number in range(1, 4):
        os.utime(stores.run_log(f"e{number}", ["Because."]), (number, number))
    stores.session("s1", asked("On it.", "On it.", "On it."))
    result = only(stores.chats)
    assert texts(result)[1::2] == ["On it.", "On it.", "Because."]
    assert reasons(result)[0].endswith("more logs of runs than are looked at")


def test_only_the_session_whose_run_changed_is_another_version(stores):
    for key, run in (("s1", "e1"), ("s2", "e2")):
        stores.session(key, [("user", "Why?"), ("assistant", "On it.", run)])
        stores.run_log(run, ["Because."])
    stores.run_log("e9", ["Of nobody."])
    before, _ = items(stores.chats)
    stores.run_log("e1", ["Because."], status="done")
    stores.run_log("e9", ["Of nobody, at length."])
    after, _ = items(stores.chats)
    assert [one == other for one, other in zip(before, after, strict=True)] == [False, True]


def test_a_look_opens_only_what_changed(stores, monkeypatch):
    stores.session("s1", asked("On it.", "On it."))
    logs = [stores.run_log(run, ["Because."]) for run in ("e1", "e2", "e9")]
    broken = stores.run_log("e3", [])
    broken.write_bytes(b"{")
    opened = watched(stores, monkeypatch)
    items(stores.chats)
    assert set(opened) >= {*logs, broken}
    opened.clear()
    items(stores.chats)
    assert opened == []
    stores.run_log("e1", ["Because.", "And so on."])
    items(stores.chats)
    assert opened == [logs[0]]


def test_sessions_that_name_no_run_open_no_log(stores, monkeypatch):
    stores.session("s1", [("user", "Why?"), ("assistant", "Because.")])
    log = stores.run_log("e1", ["Because."])
    opened = watched(stores, monkeypatch)
    only(stores.chats)
    assert log not in opened


@pytest.mark.parametrize("depth", [0, 1, 2])
def test_a_look_at_a_run_finds_the_session_that_names_it(stores, depth):
    named = stores.session("s1", asked("On it."))
    stores.session("s2", [("user", "Why?"), ("assistant", "On it.", "e2")])
    log = stores.run_log("e1", ["Because."])
    place = (log, *log.parents)[depth]
    assert [item.uri for item in items(stores.chats, place)[0]] == [str(named)]


def test_sessions_alone_are_read_without_what_lies_elsewhere(stores):
    path = stores.session("s1", asked("On it."))
    stores.run_log("e1", ["Because."])
    (item,), _ = items(made := stores.chats.of(path.parent))
    assert texts(read(made, item))[1:] == ["On it."]
