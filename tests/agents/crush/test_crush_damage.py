"""Damaged databases: only what cannot be read is an error."""

import json

from crush_kit import A, B, one, parser, source

from cloxy_core.testing.mutations import mutate
from cloxy_hookspecs import ForeignDatabaseError

TIMES = 200
SAID = 8


def read(made, failures):
    """Messages and told losses of all that is found."""
    messages, told = [], 0
    for item in made.discover(failures):
        try:
            result = parser().parse(item, list(made.read(item, 0)), {})
        except (OSError, ForeignDatabaseError):
            told += 1
            continue
        json.dumps(result.state)
        messages += result.messages
        told += len(result.bad_lines) + sum(result.unknown.values())
    return messages, told


def test_damaged_databases_never_raise_anything_else(tmp_path):
    store = one(tmp_path).session(A).session(B, parent=A)
    for session in (A, B):
        for number in range(SAID // 2):
            store.say(("user", "assistant")[number % 2], f"words {number}", session=session)
    data = store.path.read_bytes()
    assert len(read(source(tmp_path), [])[0]) == SAID
    hit = 0
    for seed in range(TIMES):
        store.path.write_bytes(mutate(data, seed))
        failures = []
        messages, told = read(source(tmp_path), failures)
        hit += len(messages) < SAID or told > 0 or bool(failures)
        ids = [(message.session, message.uid) for message in messages]
        assert len(set(ids)) == len(ids)
        assert all(message.text for message in messages)
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
    assert len(read(made, [])[0]) == 2
