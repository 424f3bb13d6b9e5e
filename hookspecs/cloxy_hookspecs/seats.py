"""Seats: which record a hook takes, and how many of them are used."""

from dataclasses import dataclass
from enum import Enum
from typing import Any, Generic, TypeVar

from cloxy_hookspecs.providers.ingest import ChunkerProvider, ParserProvider, SourceProvider
from cloxy_hookspecs.providers.llm import HostedModelProvider, LLMProvider
from cloxy_hookspecs.providers.platform import CheckProvider, Migration
from cloxy_hookspecs.providers.recall import (
    AfterIndexProvider,
    CommitIndexProvider,
    ExpanderProvider,
    FuserProvider,
    IndexProvider,
    SignalProvider,
)
from cloxy_hookspecs.providers.surface import EndpointProvider, OperationProvider
from cloxy_hookspecs.providers.vectors import (
    EmbedderProvider,
    RerankerProvider,
    VectorIndexProvider,
)
from cloxy_hookspecs.providers.web import (
    ExtractorProvider,
    FetcherProvider,
    GuardProvider,
    SanitizerProvider,
)
from cloxy_hookspecs.types.memory import OriginPolicy
from cloxy_hookspecs.types.settings import Setting

P_co = TypeVar("P_co", covariant=True)


class Arity(Enum):
    """How many records of a seat are used."""

    ONE = "exactly one, named by a setting"
    OPTIONAL = "none or one, named by a setting"
    KEYED = "one for each key"
    ANY = "all that are enabled, looked up by name"
    CHAIN = "all that are enabled, in order"


@dataclass(frozen=True, slots=True)
class Seat(Generic[P_co]):
    """One place that plugins can fill.

    Attributes:
        hook: name of the hook that is asked.
        record: classes of record that it yields.
        arity: how many are used.
        key: attribute of the record that is the key of a KEYED seat.
        setting: setting that names the winner of a ONE or OPTIONAL seat.
        default: name of the default winner.
    """

    hook: str
    record: tuple[type, ...]
    arity: Arity
    key: str | None = None
    setting: str | None = None
    default: str | None = None


SETTINGS: Seat[Setting[object]] = Seat("cloxy_settings", (Setting,), Arity.ANY)
MIGRATIONS: Seat[Migration] = Seat("cloxy_migrations", (Migration,), Arity.CHAIN)
CHECKS: Seat[CheckProvider] = Seat("cloxy_checks", (CheckProvider,), Arity.ANY)
SOURCES: Seat[SourceProvider] = Seat("cloxy_sources", (SourceProvider,), Arity.ANY)
PARSERS: Seat[ParserProvider] = Seat("cloxy_parsers", (ParserProvider,), Arity.ANY)
CHUNKERS: Seat[ChunkerProvider] = Seat("cloxy_chunkers", (ChunkerProvider,), Arity.ANY)
ORIGINS: Seat[OriginPolicy] = Seat("cloxy_origins", (OriginPolicy,), Arity.ANY)
EXPANDERS: Seat[ExpanderProvider] = Seat("cloxy_expanders", (ExpanderProvider,), Arity.CHAIN)
EMBEDDERS: Seat[EmbedderProvider] = Seat(
    "cloxy_embedders",
    (EmbedderProvider,),
    Arity.OPTIONAL,
    setting="embed.provider",
    default="minilm",
)
INDEXES: Seat[IndexProvider | VectorIndexProvider] = Seat(
    "cloxy_indexes",
    (CommitIndexProvider, AfterIndexProvider, VectorIndexProvider),
    Arity.KEYED,
    key="channel",
)
FUSERS: Seat[FuserProvider] = Seat(
    "cloxy_fusers", (FuserProvider,), Arity.ONE, setting="recall.fuser", default="weighted"
)
SIGNALS: Seat[SignalProvider] = Seat("cloxy_signals", (SignalProvider,), Arity.CHAIN)
RERANKERS: Seat[RerankerProvider] = Seat(
    "cloxy_rerankers", (RerankerProvider,), Arity.OPTIONAL, setting="recall.reranker"
)
GUARDS: Seat[GuardProvider] = Seat("cloxy_guards", (GuardProvider,), Arity.CHAIN)
FETCHERS: Seat[FetcherProvider] = Seat(
    "cloxy_fetchers", (FetcherProvider,), Arity.KEYED, key="scheme"
)
SANITIZERS: Seat[SanitizerProvider] = Seat("cloxy_sanitizers", (SanitizerProvider,), Arity.CHAIN)
EXTRACTORS: Seat[ExtractorProvider] = Seat("cloxy_extractors", (ExtractorProvider,), Arity.CHAIN)
OPERATIONS: Seat[OperationProvider[Any, Any]] = Seat(
    "cloxy_operations", (OperationProvider,), Arity.ANY
)
ENDPOINTS: Seat[EndpointProvider] = Seat("cloxy_endpoints", (EndpointProvider,), Arity.ANY)
LLMS: Seat[LLMProvider | HostedModelProvider] = Seat(
    "cloxy_llms", (LLMProvider, HostedModelProvider), Arity.ANY
)

SEATS: tuple[Seat[Any], ...] = (
    SETTINGS,
    MIGRATIONS,
    CHECKS,
    SOURCES,
    PARSERS,
    CHUNKERS,
    ORIGINS,
    EXPANDERS,
    EMBEDDERS,
    INDEXES,
    FUSERS,
    SIGNALS,
    RERANKERS,
    GUARDS,
    FETCHERS,
    SANITIZERS,
    EXTRACTORS,
    OPERATIONS,
    ENDPOINTS,
    LLMS,
)
