"""The conformance kit on ways of the plugin fastembed that the usual ones leave out."""

import pytest
from contract.first_party import records
from tiny_models import hub_cache, tiny_cross_encoder, tiny_embedder

from cloxy_core.testing.conformance import EmbedderConformance, RerankerConformance
from cloxy_hookspecs.seats import EMBEDDERS, RERANKERS
from cloxy_plugins.fastembed.catalogue import EMBEDDERS as CATALOGUE
from cloxy_plugins.fastembed.catalogue import RERANKERS as CROSS_ENCODERS

E5 = "intfloat/multilingual-e5-small"
MARCO = "Xenova/ms-marco-MiniLM-L-6-v2"


def record(seat):
    (found,) = [each for each in records(seat) if ":fastembed:" in each.id]
    return found.values[0]


class TestQuantisedEmbedder(EmbedderConformance):
    """Its numbers depend on what is embedded together, if anything is."""

    @pytest.fixture
    def provider(self):
        return record(EMBEDDERS)

    @pytest.fixture
    def settings(self, tmp_path):
        folder = tiny_embedder(tmp_path / "tiny", batch_effect=True, file="onnx/model_int8.onnx")
        return {"embed.model": str(folder)}


class TestEmbedderOfTheCatalogue(EmbedderConformance):
    """It lies in the cache, as if it had been downloaded."""

    @pytest.fixture
    def provider(self):
        return record(EMBEDDERS)

    @pytest.fixture
    def settings(self, tmp_path):
        files = CATALOGUE[E5].files
        tiny_embedder(hub_cache(tmp_path / "cache", files.source), file=files.file, dim=384)
        return {"embed.model": E5, "embed.cache_dir": str(tmp_path / "cache")}


class TestCrossEncoderOfTheCatalogue(RerankerConformance):
    @pytest.fixture
    def provider(self):
        return record(RERANKERS)

    @pytest.fixture
    def settings(self, tmp_path):
        files = CROSS_ENCODERS[MARCO]
        tiny_cross_encoder(hub_cache(tmp_path / "cache", files.source), file=files.file)
        return {"embed.cache_dir": str(tmp_path / "cache")}
