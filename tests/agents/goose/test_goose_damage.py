"""Damaged stores: only what cannot be read is an error."""

import pytest
from agents.damage import assert_told_apart, read_all
from goose_kit import A, B, Store, database, file, files, message

from cloxy_core.testing.mutations import mutate
from cloxy_plugins.goose.turns import Head, Said, records

SAID = 8


def filled(folder, kind):
    if kind == "file":
        roles = ("user", "assistant") * (SAID // 2)
        return file(folder, *[message(role, f"words {n}") for n, role in enumerate(roles)])
    store = Store(folder, kind).session(A).session(B)
    for number in range(SAID):
        session = (A, B)[number % 2]
        store.say(("user", "assistant")[number // 2 % 2], f"words {number}", session=session)
    return store.path


@pytest.mark.parametrize(("kind", "times"), [(1, 100), (17, 150), ("file", 500)])
def test_damaged_stores_never_raise_anything_else(tmp_path, kind, times):
    path = filled(tmp_path / "sessions", kind)
    made = files(tmp_path) if kind == "file" else database(tmp_path)
    data = path.read_bytes()
    assert len(read_all(made).messages) == SAID
    hit = 0
    for seed in range(times):
        path.write_bytes(mutate(data, seed))
        messages, told, failures = read_all(made)
        hit += len(messages) < SAID or told > 0 or bool(failures)
        assert_told_apart(messages)
    assert hit > times / 10, "the damage has to hit something"


@pytest.mark.parametrize("length", [100, 200, 300, 400])
def test_a_file_that_is_still_being_written_is_told(tmp_path, length):
    path = filled(tmp_path / "sessions", "file")
    path.write_bytes(path.read_bytes()[:length])
    messages, told, _failures = read_all(files(tmp_path))
    assert len(messages) < SAID
    assert told == 1


def test_white_space_without_end_is_looked_through_once(tmp_path):
    blank = "a" + "\n" * 300_000 + "b"
    turns = [Said(str(n), role, [{"type": "text", "text": blank}], 1_790_000_000 + n, shown=n < 2)
             for n, role in enumerate(["user", "assistant", "user", "assistant"])]  # fmt: skip
    told = [each for each in records(Head("s1"), turns) if each["kind"] == "message"]
    assert [each["text"] for each in told] == [blank, blank]
