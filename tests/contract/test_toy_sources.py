"""The kit on sources as others would write them, of both kinds."""

import pytest
from contract import toy_agent
from contract.toy_store import make_store, say, write_lines

from cloxy_core.testing.conformance import (
    ParserConformance,
    RewrittenSourceConformance,
    SourceConformance,
)
from cloxy_core.testing.conformance.rewritten import found, parsed
from cloxy_core.testing.fakes import raw_lines
from cloxy_core.testing.mutations import mutate
from cloxy_hookspecs import ForeignDatabaseError, SourceItem

FILES, DATABASE = toy_agent.cloxy_sources()


class OfToy:
    @pytest.fixture
    def plugins(self):
        return {"toyagent": toy_agent}

    @pytest.fixture
    def settings(self, tmp_path):
        return {"toyagent.home": str(tmp_path / "toy")}


class TestToyFiles(OfToy, SourceConformance):
    @pytest.fixture
    def provider(self):
        return FILES

    @pytest.fixture
    def logs(self, tmp_path):
        write_lines(tmp_path / "toy" / "old" / "2026" / "a.toy.jsonl")
        return tmp_path / "toy" / "old"


class TestToyDatabase(OfToy, RewrittenSourceConformance):
    @pytest.fixture
    def provider(self):
        return DATABASE

    @pytest.fixture
    def store(self, tmp_path):
        return make_store(tmp_path / "toy")

    @pytest.fixture
    def parser(self):
        return toy_agent.ToyParser()

    @pytest.fixture
    def change(self, store):
        return lambda: say(store, "t1", "user", "And now?")

    def test_500_damaged_stores(self, made, store, parser):
        path = store / "toy.db"
        whole = path.read_bytes()
        lost = 0
        for seed in range(500):
            path.write_bytes(mutate(whole, seed))
            try:
                items = found(made, store)
                results = [parsed(made, parser, item) for item in items]
            except ForeignDatabaseError:
                lost += 1
                continue
            lost += sum(len(result.messages) for result in results) < 4
        assert lost > 50, "the damage has to hit something"


class TestToyParser(OfToy, ParserConformance):
    @pytest.fixture
    def provider(self):
        (record,) = toy_agent.cloxy_parsers()
        return record

    @pytest.fixture
    def sample(self, tmp_path):
        return write_lines(tmp_path / "a.toy.jsonl")


def test_500_damaged_files_never_raise_and_each_loss_is_counted(tmp_path):
    whole = write_lines(tmp_path / "a", said=[f"words {n}" for n in range(20)]).read_bytes()
    parser = toy_agent.ToyParser()
    for seed in range(500):
        data = mutate(whole, seed)
        lines = [line for line in raw_lines(data) if line.data]
        result = parser.parse(SourceItem("/a", "1", len(data), 0), lines, {})
        counted = len(result.bad_lines) + sum(result.unknown.values())
        assert len(result.messages) + counted == len(lines)


def test_damage_is_the_same_for_the_same_seed():
    data = b"one\ntwo\nthree\n" * 9
    made = [mutate(data, seed) for seed in range(200)]
    assert made == [mutate(data, seed) for seed in range(200)]
    assert len(set(made)) > 150
    assert sum(each != data for each in made) > 180
    for seed in range(50):
        mutate(b"", seed)
