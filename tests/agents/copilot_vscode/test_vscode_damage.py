"""Whatever happened to a file, reading it never fails without a word."""

import json

import pytest
from agents.damage import assert_records_are_told, is_json
from agents.sources import items, read, records
from vscode_kit import logged, only, place, put, request, source, two

from cloxy_core.testing.mutations import mutate


def rich():
    state = two()
    state["requests"] += [
        request(n, f"question {n}", "The ", {"kind": "inlineReference", "name": f"f{n}.py"}, " is.")
        for n in range(3, 9)
    ]
    return state


@pytest.fixture
def user(tmp_path):
    return tmp_path / "User"


def test_500_damaged_snapshots(user, tmp_path):
    whole = json.dumps(rich(), indent=1).encode()
    made = source(user, tmp_path)
    path = put(place(user), whole)
    (item,), _ = items(made)
    full = len(read(made, item).messages)
    lost = 0
    for seed in range(500):
        path.write_bytes(mutate(whole, seed))
        result = read(made, item)
        json.dumps(result.state)
        if not path.stat().st_size:
            continue
        if not result.messages:
            lost += 1
            assert result.bad_lines, "nothing read of a file that is not empty is told"
        ids = [(message.session, message.uid) for message in result.messages]
        assert len(ids) == len(set(ids))
    assert full == 16
    assert lost > 100, "the damage has to hit something"


def test_500_damaged_logs(user, tmp_path):
    whole = logged(rich())
    made = source(user, tmp_path)
    path = put(place(user, "s.jsonl"), whole)
    (item,), _ = items(made)
    lines = whole.count(b"\n")
    kept = 0
    for seed in range(500):
        data = mutate(whole, seed)
        path.write_bytes(data)
        result = read(made, item)
        ids = [(message.session, message.uid) for message in result.messages]
        assert len(ids) == len(set(ids))
        kept += len(result.messages) > 0
        broken = sum(1 for line in data.split(b"\n") if line.strip() and not is_json(line))
        assert len(result.bad_lines) >= broken, "each line that is no JSON is counted"
    assert lines == 37
    assert kept > 300, "one wrong line does not cost the others"


def test_500_damaged_records(user, tmp_path):
    put(place(user), rich())
    made = source(user, tmp_path)
    (item,), _ = items(made)
    assert_records_are_told(records(made, item), 500)


@pytest.mark.parametrize(
    "value", [None, 7, "x", [], [None], [[]], {}, {"a": 1}, True, 1.5, "\ud800"]
)
def test_values_of_no_known_form(user, tmp_path, value):
    keys = ("message", "response", "variableData", "modelId", "timestamp", "requestId", "result")
    state = rich()
    for number, key in enumerate(keys):
        state["requests"][number % 8][key] = value
    state |= {"creationDate": value, "customTitle": value}
    put(place(user), state)
    only(user, tmp_path)
    put(place(user), {**rich(), "requests": value, "sessionId": value})
    only(user, tmp_path)
    put(place(user), {**rich(), "requests": [value] * 3})
    only(user, tmp_path)


@pytest.mark.parametrize("data", [b"", b"null", b"[]", b"\x00" * 50, b"[" * 100_000, b"\xff\xfe{"])
@pytest.mark.parametrize("name", ["s.json", "s.jsonl"])
def test_files_that_hold_no_session(user, tmp_path, data, name):
    put(place(user, name), data)
    result = only(user, tmp_path)
    assert not result.messages
    assert bool(result.bad_lines) is bool(data)


def test_characters_that_trouble_others(user, tmp_path):
    data = json.dumps(two()).replace("It never idles.", "a\\ud83db \\ud83d\\ude80 c\\u2028d\\u0000")
    put(place(user), data.encode())
    text = only(user, tmp_path).messages[1].text
    assert text == "a\N{REPLACEMENT CHARACTER}b \N{ROCKET} c\u2028d\0"
