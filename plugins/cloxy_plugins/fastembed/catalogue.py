"""Models that are offered by name, and what is known of them without loading them.

Only models that embed both questions and passages, run at a bearable speed on one thread, and
whose licence is MIT or Apache. Any other model can be used from a folder.
"""

from collections.abc import Mapping
from dataclasses import dataclass

DEFAULT_EMBEDDER = "BAAI/bge-small-en-v1.5"
DEFAULT_RERANKER = "Xenova/ms-marco-MiniLM-L-6-v2"

LONGEST_WINDOW = 512
"""Tokens of a text that are read; a window of 8,192 would need gigabytes for one text."""

_SEARCHING = "Represent this sentence for searching relevant passages: "
_SHORT, _LONG = 300, 1200
_MODEL, _OPTIMIZED, _ROOT = "onnx/model.onnx", "model_optimized.onnx", "model.onnx"


@dataclass(frozen=True, slots=True)
class HubFiles:
    """Where a model's files are.

    Attributes:
        source: repository at the hub.
        file: the ONNX file in it.
        more: further files that the model needs, for example its weights.
    """

    source: str
    file: str
    more: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Traits:
    """How a model is used.

    Attributes:
        query_prefix: put before a question, as the model's authors say.
        passage_prefix: put before a passage.
        weight: share of meaning in the fusion.
        floor: similarity under which a passage has nothing to do with a question.
        characters: characters of a passage that are given to the model.
    """

    query_prefix: str = ""
    passage_prefix: str = ""
    weight: float = 0.3
    floor: float = 0.0
    characters: int = _SHORT


@dataclass(frozen=True, slots=True)
class EmbeddingModel:
    """An embedding model of the catalogue.

    Attributes:
        files: where it is.
        dim: length of a vector.
        traits: how it is used.
        averaged: the library does not know it; its vector is the mean of its token vectors.
    """

    files: HubFiles
    dim: int
    traits: Traits
    averaged: bool = False


def _model(
    source: str, file: str, dim: int, traits: Traits, *more: str, averaged: bool = False
) -> EmbeddingModel:
    return EmbeddingModel(HubFiles(source, file, more), dim, traits, averaged)


# Weights and floors are not measured by us: the models are not in this repository. The weight is
# that of the built-in model, and a little more for models that were trained to find passages.
# A floor is a careful guess below the scores that a family is known to give to unrelated texts,
# or 0 where nothing is known: too low lets noise through, too high hides what was asked for.
_BGE = Traits(weight=0.4, floor=0.35, characters=_LONG)
_GTE = Traits(weight=0.4, floor=0.6, characters=_LONG)
_ARCTIC = Traits(_SEARCHING, weight=0.4, floor=0.1, characters=_LONG)
_MIXEDBREAD = Traits(_SEARCHING, weight=0.4, floor=0.2, characters=_LONG)
_NOMIC = Traits("search_query: ", "search_document: ", weight=0.4, floor=0.4, characters=_LONG)
_E5 = Traits("query: ", "passage: ", weight=0.4, floor=0.7, characters=_LONG)
_JINA = Traits(weight=0.4, characters=_LONG)
_GRANITE = Traits(weight=0.4, characters=_LONG)
_PARAPHRASE = Traits(weight=0.3, floor=0.1, characters=_SHORT)

EMBEDDERS: Mapping[str, EmbeddingModel] = {
    DEFAULT_EMBEDDER: _model("Qdrant/bge-small-en-v1.5-onnx-Q", _OPTIMIZED, 384, _BGE),
    "BAAI/bge-base-en-v1.5": _model("Qdrant/bge-base-en-v1.5-onnx-Q", _OPTIMIZED, 768, _BGE),
    "BAAI/bge-large-en-v1.5": _model("Qdrant/bge-large-en-v1.5-onnx", _ROOT, 1024, _BGE),
    "BAAI/bge-small-zh-v1.5": _model("Qdrant/bge-small-zh-v1.5", _OPTIMIZED, 512, _BGE),
    "ibm-granite/granite-embedding-small-english-r2": _model(
        "onnx-community/granite-embedding-small-english-r2-ONNX",
        _MODEL,
        384,
        _GRANITE,
        "onnx/model.onnx_data",
    ),
    "intfloat/multilingual-e5-small": _model(
        "intfloat/multilingual-e5-small", _MODEL, 384, _E5, averaged=True
    ),
    "intfloat/multilingual-e5-large": _model(
        "Qdrant/multilingual-e5-large-onnx", _ROOT, 1024, _E5, "model.onnx_data"
    ),
    "jinaai/jina-embeddings-v2-small-en": _model(
        "Xenova/jina-embeddings-v2-small-en", _MODEL, 512, _JINA
    ),
    "jinaai/jina-embeddings-v2-base-en": _model(
        "Xenova/jina-embeddings-v2-base-en", _MODEL, 768, _JINA
    ),
    **{
        f"jinaai/jina-embeddings-v2-base-{language}": _model(
            f"jinaai/jina-embeddings-v2-base-{language}", _MODEL, 768, _JINA
        )
        for language in ("code", "de", "es", "zh")
    },
    "mixedbread-ai/mxbai-embed-large-v1": _model(
        "mixedbread-ai/mxbai-embed-large-v1", _MODEL, 1024, _MIXEDBREAD
    ),
    "nomic-ai/nomic-embed-text-v1.5": _model("nomic-ai/nomic-embed-text-v1.5", _MODEL, 768, _NOMIC),
    "nomic-ai/nomic-embed-text-v1.5-Q": _model(
        "nomic-ai/nomic-embed-text-v1.5", "onnx/model_quantized.onnx", 768, _NOMIC
    ),
    "sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2": _model(
        "Qdrant/paraphrase-multilingual-MiniLM-L12-v2-onnx-Q", _OPTIMIZED, 384, _PARAPHRASE
    ),
    "sentence-transformers/paraphrase-multilingual-mpnet-base-v2": _model(
        "Xenova/paraphrase-multilingual-mpnet-base-v2", _MODEL, 768, _PARAPHRASE
    ),
    **{
        f"snowflake/snowflake-arctic-embed-{size}": _model(
            f"Snowflake/snowflake-arctic-embed-{size}", _MODEL, dim, _ARCTIC
        )
        for size, dim in (("xs", 384), ("s", 384), ("m", 768), ("m-long", 768), ("l", 1024))
    },
    "thenlper/gte-base": _model("thenlper/gte-base", _MODEL, 768, _GTE),
    "thenlper/gte-large": _model("Qdrant/gte-large-onnx", _ROOT, 1024, _GTE),
}
"""Name -> model, the default first."""

RERANKERS: Mapping[str, HubFiles] = {
    DEFAULT_RERANKER: HubFiles(DEFAULT_RERANKER, _MODEL),
    "Xenova/ms-marco-MiniLM-L-12-v2": HubFiles("Xenova/ms-marco-MiniLM-L-12-v2", _MODEL),
    "BAAI/bge-reranker-base": HubFiles("BAAI/bge-reranker-base", _MODEL),
    "BAAI/bge-reranker-v2-m3": HubFiles(
        "onnx-community/bge-reranker-v2-m3-ONNX", _MODEL, ("onnx/model.onnx_data",)
    ),
    "BAAI/bge-reranker-v2-m3-int8": HubFiles(
        "onnx-community/bge-reranker-v2-m3-ONNX", "onnx/model_int8.onnx"
    ),
    "jinaai/jina-reranker-v1-tiny-en": HubFiles("jinaai/jina-reranker-v1-tiny-en", _MODEL),
    "jinaai/jina-reranker-v1-turbo-en": HubFiles("jinaai/jina-reranker-v1-turbo-en", _MODEL),
}
"""Name -> files of cross-encoders, the default first."""


def traits_of(name: str) -> Traits:
    """How a model is used that has this name, or lies in a folder of this name.

    A folder that is named as a model of the catalogue is taken for that model. The E5 models want
    prefixes and give high similarities whoever trained them further, so their names count, too.
    """
    last = name.rpartition("/")[2].lower()
    for known, model in EMBEDDERS.items():
        if last == known.rpartition("/")[2].lower():
            return model.traits
    if last.startswith(("e5-", "multilingual-e5")) or "-e5-" in last:
        return _E5
    return Traits()
