"""Damaged stores: only what cannot be read is an error, and each loss is told."""

import json

import pytest
from agents.damage import assert_told_apart, read_all
from opencode_kit import NOW, A, B, Store, Tree, parser, source, text

from cloxy_core.testing.fakes import raw_lines
from cloxy_core.testing.mutations import mutate
from cloxy_hookspecs import SourceItem

SAID = 8


def filled(folder, kind):
    if kind == "tree":
        tree = Tree(folder)
        for session in (A, B):
            tree.session(session)
            for number in range(SAID // 2):
                tree.say(("user", "assistant")[number % 2], f"words {number}", session=session)
        return sorted(path for path in tree.root.rglob("*.json"))
    store = Store(folder, second=kind == "second").session(A).session(B)
    for session in (A, B):
        for number in range(SAID // 2):
            role = ("user", "assistant")[number % 2]
            if kind == "second":
                words = {"text": f"words {number}", "content": [text(f"words {number}")]}
                store.entry(role, words, session=session)
            else:
                store.say(role, f"words {number}", session=session)
    return [store.path]


@pytest.mark.parametrize(("kind", "times"), [("first", 500), ("second", 150), ("tree", 500)])
def test_damaged_stores_never_raise_anything_else(tmp_path, kind, times):
    paths = filled(tmp_path / "opencode", kind)
    whole = [path.read_bytes() for path in paths]
    assert len(read_all(source(tmp_path), parser).messages) == SAID
    hit = 0
    for seed in range(times):
        path, data = paths[seed % len(paths)], whole[seed % len(paths)]
        path.write_bytes(mutate(data, seed))
        messages, told, failures = read_all(source(tmp_path), parser)
        path.write_bytes(data)
        hit += len(messages) < SAID or told > 0 or bool(failures)
        if kind == "tree" and len(messages) < SAID and path.parent.parent.name == "message":
            assert told, "a message that cannot be read is counted"
        assert_told_apart(messages)
    assert hit > times / 10, "the damage has to hit something"


def test_500_damaged_records_never_raise_and_each_loss_is_counted():
    head = {"kind": "session", "id": A, "directory": "/srv/x", "title": "Cranes"}
    records = [head, {"kind": "damaged", "what": "message"}]
    for number in range(6):
        parts = [text(f"words {number}"), {"type": "image", "mark": "[image: a.png]"}]
        record = {"kind": "message", "id": f"m{number}", "role": "user", "parts": parts}
        records.append(record)
    data = b"".join(json.dumps(record).encode() + b"\n" for record in [*records, head])
    for seed in range(500):
        mutant = mutate(data, seed)
        lines = raw_lines(mutant)
        item = SourceItem(f"/x/opencode.db#{A}", "1", 1, NOW * 10**6)
        result = parser().parse(item, lines, {})
        told = result.records + sum(result.unknown.values()) + len(result.bad_lines)
        assert told >= sum(1 for line in lines if line.data.strip())
        assert {message.session for message in result.messages} <= set(result.sessions)
