"""Damaged databases: only what cannot be read is an error."""

from agents.damage import assert_told_apart, read_all
from crush_kit import A, B, one, source

from cloxy_core.testing.mutations import mutate

TIMES = 200
SAID = 8


def test_damaged_databases_never_raise_anything_else(tmp_path):
    store = one(tmp_path).session(A).session(B, parent=A)
    for session in (A, B):
        for number in range(SAID // 2):
            store.say(("user", "assistant")[number % 2], f"words {number}", session=session)
    data = store.path.read_bytes()
    assert len(read_all(source(tmp_path)).messages) == SAID
    hit = 0
    for seed in range(TIMES):
        store.path.write_bytes(mutate(data, seed))
        messages, told, failures = read_all(source(tmp_path))
        hit += len(messages) < SAID or told > 0 or bool(failures)
        assert_told_apart(messages)
    assert hit > TIMES / 10, "the damage has to hit something"


def test_a_database_that_cannot_be_read_now_is_as_it_was(tmp_path):
    store = one(tmp_path).session()
    store.chat()
    made = source(tmp_path)
    before = list(made.discover([]))
    whole = store.path.read_bytes()
    store.path.write_bytes(b"no database at all" * 100)
    failures = []
    assert list(made.discover(failures)) == before, "what is known is not given up"
    assert len(failures) == 1
    store.path.write_bytes(whole)
    assert len(read_all(made).messages) == 2
