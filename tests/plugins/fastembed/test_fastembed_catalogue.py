"""What is offered by name is what the library has, and is used as its authors say."""

import pytest

from cloxy_plugins.fastembed.catalogue import (
    DEFAULT_EMBEDDER,
    DEFAULT_RERANKER,
    EMBEDDERS,
    RERANKERS,
    traits_of,
)
from cloxy_plugins.fastembed.library import library
from cloxy_plugins.fastembed.plugin import cloxy_embedders

KNOWN = [name for name, model in EMBEDDERS.items() if not model.averaged]


def of_library(kind, name):
    (found,) = [each for each in kind.list_supported_models() if each["model"] == name]
    return found


def files(found):
    return found["sources"]["hf"], found["model_file"], tuple(found["additional_files"])


@pytest.mark.parametrize("name", KNOWN)
def test_model_is_what_the_library_runs(name):
    found, model = of_library(library().TextEmbedding, name), EMBEDDERS[name]
    assert found["dim"] == model.dim
    assert files(found) == (model.files.source, model.files.file, model.files.more)
    assert found["license"] in {"mit", "apache-2.0"}


@pytest.mark.parametrize("name", KNOWN)
def test_model_has_prefixes_where_the_library_says_that_they_are_necessary(name):
    description = of_library(library().TextEmbedding, name)["description"]
    assert ("documents: necessary" in description) == bool(EMBEDDERS[name].traits.query_prefix)


def test_averaged_models_are_those_that_the_library_does_not_know():
    (averaged,) = [name for name, model in EMBEDDERS.items() if model.averaged]
    kinds = library().TextEmbedding.EMBEDDINGS_REGISTRY
    built_in = {
        each.model.lower()
        for kind in kinds
        if kind.__name__ != "CustomTextEmbedding"
        for each in kind._list_supported_models()
    }
    assert averaged == "intfloat/multilingual-e5-small"
    assert averaged not in built_in
    assert DEFAULT_EMBEDDER.lower() in built_in


@pytest.mark.parametrize("name", RERANKERS)
def test_cross_encoder_is_what_the_library_runs(name):
    found = of_library(library("fastembed.rerank.cross_encoder").TextCrossEncoder, name)
    assert files(found) == (RERANKERS[name].source, RERANKERS[name].file, RERANKERS[name].more)
    assert found["license"] in {"mit", "apache-2.0"}


def test_defaults_come_first_and_are_those_of_5_1():
    (record,) = cloxy_embedders()
    assert record.models[0] == DEFAULT_EMBEDDER == "BAAI/bge-small-en-v1.5"
    assert next(iter(RERANKERS)) == DEFAULT_RERANKER == "Xenova/ms-marco-MiniLM-L-6-v2"


def test_last_parts_of_names_differ():
    for names in (EMBEDDERS, RERANKERS):
        assert len({name.rpartition("/")[2].lower() for name in names}) == len(names)


@pytest.mark.parametrize("model", EMBEDDERS.values(), ids=str)
def test_numbers_are_usable(model):
    traits = model.traits
    assert 0 < traits.weight < 1
    assert 0 <= traits.floor < 1
    assert 300 <= traits.characters <= 1200


@pytest.mark.parametrize(
    "name",
    [
        "intfloat/multilingual-e5-large",
        "multilingual-e5",
        "someone/Multilingual-E5-tuned",
        "e5-small-v2",
        "intfloat/e5-base",
        "my-e5-finetune",
    ],
)
def test_e5_models_want_their_prefixes(name):
    traits = traits_of(name)
    assert (traits.query_prefix, traits.passage_prefix) == ("query: ", "passage: ")


@pytest.mark.parametrize("name", ["minilm", "e5", "base5-model", "e5-models/minilm", "e5x-large"])
def test_other_models_want_none(name):
    assert (traits_of(name).query_prefix, traits_of(name).passage_prefix) == ("", "")


def test_a_folder_named_as_a_model_is_used_as_that_model():
    assert traits_of("BGE-base-en-v1.5") == EMBEDDERS["BAAI/bge-base-en-v1.5"].traits
    assert traits_of("snowflake-arctic-embed-xs").query_prefix.startswith("Represent")
