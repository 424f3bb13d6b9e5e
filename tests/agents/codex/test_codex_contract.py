"""The conformance kit on what the plugin brings."""

import pytest
from agents.contract import LogsOfPlugin, ParserOfPlugin, StoreOfPlugin
from codex_kit import START, THREAD, Log, uuid7

import cloxy_plugins.codex.plugin as codex

try:
    from compression import zstd
except ImportError:
    from backports import zstd

(PLAIN, COMPRESSED) = codex.cloxy_sources()
NAME = f"rollout-2026-05-02T11-00-00-{THREAD}.jsonl"


def rollout(folder):
    log = Log().meta().turn(uuid7(START, 1)).both("Why does the crane overheat?", "It never idles.")
    log.event("token_count", info=None).both("Add a test for Ünïcödé 港", "Done.")
    path = folder / "sessions" / "2026" / "05" / "02" / NAME
    path.parent.mkdir(parents=True)
    path.write_bytes(log.data())
    return path


def pack(path):
    path.with_name(path.name + ".zst").write_bytes(zstd.compress(path.read_bytes()))
    path.unlink()


class TestRollouts(LogsOfPlugin):
    plugin = codex
    record = PLAIN

    @pytest.fixture
    def logs(self, tmp_path, monkeypatch):
        monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex"))
        rollout(tmp_path / "codex")
        return tmp_path / "codex" / "sessions"


class TestCompressedRollouts(StoreOfPlugin):
    plugin = codex
    record = COMPRESSED

    @pytest.fixture
    def store(self, tmp_path, monkeypatch):
        monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex"))
        pack(rollout(tmp_path / "codex"))
        return tmp_path / "codex" / "sessions"

    @pytest.fixture
    def change(self, store):
        def change():
            (packed,) = store.rglob("*.zst")
            more = Log().turn(uuid7(START, 2)).both("And the other crane?", "It idles.").data()
            packed.write_bytes(zstd.compress(zstd.decompress(packed.read_bytes()) + more))

        return change


class TestParser(ParserOfPlugin):
    plugin = codex

    @pytest.fixture
    def sample(self, tmp_path):
        return rollout(tmp_path / "codex")


def test_both_sources_are_of_one_agent_and_one_format():
    for provider in (PLAIN, COMPRESSED):
        assert (provider.agent, provider.parser) == ("codex", "codex-rollout")
        assert provider.resume == ("codex", "resume", "{session}")
        assert provider.title == "Codex CLI"
    assert (PLAIN.rewritten, COMPRESSED.rewritten) == (False, True)
