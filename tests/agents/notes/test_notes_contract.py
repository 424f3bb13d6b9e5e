"""The conformance kit on what the plugin brings."""

import pytest
from agents.contract import OfPlugin, ParserOfPlugin, StoreOfPlugin
from notes_kit import NOTE, records

import cloxy_plugins.notes.plugin as plugin
from cloxy_core.testing.conformance import OriginConformance
from cloxy_hookspecs import FolderSource
from cloxy_hookspecs.logs.turns import raw_lines

(SOURCE,) = plugin.cloxy_sources()
(ORIGIN,) = plugin.cloxy_origins()


class TestSource(StoreOfPlugin):
    plugin = plugin
    record = SOURCE

    @pytest.fixture
    def settings(self, store):
        return {"notes.dirs": str(store)}

    @pytest.fixture
    def store(self, tmp_path):
        store = tmp_path / "notes"
        store.mkdir()
        (store / "plan.md").write_text(NOTE)
        (store / "Other.MARKDOWN").write_text("Only words.\n")
        return store

    @pytest.fixture
    def change(self, store):
        return lambda: (store / "plan.md").write_text(NOTE + "\n## Lamp\n\nIs bright.\n")

    def test_it_is_no_source_of_just_any_folder(self, made):
        assert not isinstance(made, FolderSource)


class TestParser(ParserOfPlugin):
    plugin = plugin

    @pytest.fixture
    def sample(self, tmp_path):
        path = tmp_path / "records.jsonl"
        path.write_bytes(b"".join(line.data + b"\n" for line in raw_lines(records(NOTE), 0)))
        return path


class TestOrigin(OfPlugin, OriginConformance):
    plugin = plugin
    record = ORIGIN


def test_the_source_says_what_has_to_be_set():
    assert "CLOXY_NOTES_DIRS" in SOURCE.note
    assert (SOURCE.origin, SOURCE.chunker, SOURCE.rewritten) == (ORIGIN.name, "notes", True)
