"""The hook specifications, one class a topic."""

from cloxy_hookspecs.specs.ingest import IngestSpecs
from cloxy_hookspecs.specs.llm import LLMSpecs
from cloxy_hookspecs.specs.platform import PlatformSpecs
from cloxy_hookspecs.specs.recall import RecallSpecs
from cloxy_hookspecs.specs.surface import SurfaceSpecs
from cloxy_hookspecs.specs.vectors import VectorSpecs
from cloxy_hookspecs.specs.web import WebSpecs

ALL_SPECS = (
    PlatformSpecs,
    IngestSpecs,
    RecallSpecs,
    VectorSpecs,
    WebSpecs,
    LLMSpecs,
    SurfaceSpecs,
)

__all__ = [
    "ALL_SPECS",
    "IngestSpecs",
    "LLMSpecs",
    "PlatformSpecs",
    "RecallSpecs",
    "SurfaceSpecs",
    "VectorSpecs",
    "WebSpecs",
]
