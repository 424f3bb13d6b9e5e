"""Embeddings in the form of OpenAI's API."""

import base64
import struct

import pytest
from llm.openai_kit import Api

from cloxy_core.testing.harness import App
from cloxy_plugins.model_api.openai_embeddings import MOST_CHARACTERS, MOST_TEXTS

PATH = "/v1/embeddings"


@pytest.fixture
def api(tmp_path):
    with App(tmp_path, settings={"embed.provider": "none"}) as app:
        yield Api(app)


def test_a_text_becomes_floats(api):
    answer = api.answer(PATH, {"input": "four", "model": "any"})
    (item,) = answer["data"]
    assert (answer["object"], answer["model"]) == ("list", "fake/words")
    assert (item["object"], item["index"], len(item["embedding"])) == ("embedding", 0, 384)
    assert item["embedding"][0] == pytest.approx(0.004)
    assert answer["usage"] == {"prompt_tokens": 2, "total_tokens": 2}


def test_order_is_kept(api):
    texts = ["aaa", "a", "aa", "a"]
    answer = api.answer(PATH, {"input": texts, "encoding_format": "float"})
    assert api.embedder.asked == [texts]
    assert [item["index"] for item in answer["data"]] == [0, 1, 2, 3]
    assert [round(item["embedding"][0] * 1000) for item in answer["data"]] == [3, 1, 2, 1]


def test_base64_is_little_endian_float32(api):
    floats = api.answer(PATH, {"input": "four"})["data"][0]["embedding"]
    coded = api.answer(PATH, {"input": "four", "encoding_format": "base64"})["data"][0]["embedding"]
    assert list(struct.unpack("<384f", base64.b64decode(coded))) == pytest.approx(floats)


@pytest.mark.parametrize(
    ("fields", "param", "word"),
    [
        ({}, "input", "missing"),
        ({"input": []}, "input", "at least one"),
        ({"input": ""}, "input", "empty"),
        ({"input": ["a", " "]}, "input[1]", "empty"),
        ({"input": [1, 2]}, "input", "token ids"),
        ({"input": [[1], [2]]}, "input", "token ids"),
        ({"input": [None]}, "input[0]", "null"),
        ({"input": [True]}, "input[0]", "boolean"),
        ({"input": {"a": 1}}, "input", "an object"),
        ({"input": ["a"] * (MOST_TEXTS + 1)}, "input", str(MOST_TEXTS)),
        ({"input": "a" * (MOST_CHARACTERS + 1)}, "input", str(MOST_CHARACTERS)),
        ({"input": "a", "encoding_format": "int8"}, "encoding_format", "base64"),
        ({"input": "a", "dimensions": 0}, "dimensions", "1"),
        ({"input": "a", "dimensions": 96}, "dimensions", "384"),
        ({"input": "a", "model": 5}, "model", "string"),
    ],
)
def test_what_cannot_be_embedded_is_named(api, fields, param, word):
    status, error = api.refused(PATH, fields)
    assert (status, error["type"], error["param"]) == (400, "invalid_request_error", param)
    assert word in error["message"]


def test_the_length_that_vectors_have_may_be_asked_for(api):
    assert len(api.answer(PATH, {"input": "a", "dimensions": 384})["data"]) == 1
