"""One class of tests for each seat: subclass it, and give the fixture `provider`.

The tests of these classes can be neither deleted nor replaced; one that cannot pass yet is named
in `expected_failures`, with the reason.
"""

from cloxy_core.testing.conformance.base import Conformance, CreatedConformance
from cloxy_core.testing.conformance.embedders import EmbedderConformance
from cloxy_core.testing.conformance.endpoints import EndpointConformance
from cloxy_core.testing.conformance.fetching import FetcherConformance, GuardConformance
from cloxy_core.testing.conformance.indexes import AfterIndexConformance, CommitIndexConformance
from cloxy_core.testing.conformance.ingest import (
    ChunkerConformance,
    OriginConformance,
    ParserConformance,
)
from cloxy_core.testing.conformance.llm import HostedModelConformance, LLMConformance
from cloxy_core.testing.conformance.platform import (
    CheckConformance,
    MigrationConformance,
    SettingConformance,
)
from cloxy_core.testing.conformance.recall import (
    ExpanderConformance,
    FuserConformance,
    SignalConformance,
)
from cloxy_core.testing.conformance.rerankers import RerankerConformance
from cloxy_core.testing.conformance.rewritten import RewrittenSourceConformance
from cloxy_core.testing.conformance.sources import SourceConformance
from cloxy_core.testing.conformance.surface import OperationConformance
from cloxy_core.testing.conformance.vector_indexes import VectorIndexConformance
from cloxy_core.testing.conformance.web import ExtractorConformance, SanitizerConformance

__all__ = [
    "AfterIndexConformance",
    "CheckConformance",
    "ChunkerConformance",
    "CommitIndexConformance",
    "Conformance",
    "CreatedConformance",
    "EmbedderConformance",
    "EndpointConformance",
    "ExpanderConformance",
    "ExtractorConformance",
    "FetcherConformance",
    "FuserConformance",
    "GuardConformance",
    "HostedModelConformance",
    "LLMConformance",
    "MigrationConformance",
    "OperationConformance",
    "OriginConformance",
    "ParserConformance",
    "RerankerConformance",
    "RewrittenSourceConformance",
    "SanitizerConformance",
    "SettingConformance",
    "SignalConformance",
    "SourceConformance",
    "VectorIndexConformance",
]
