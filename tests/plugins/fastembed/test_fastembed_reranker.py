"""The cross-encoder: from a folder, from the cache, missing."""

from types import SimpleNamespace

import numpy as np
import pytest
from tiny_models import tiny_cross_encoder

from cloxy_hookspecs import MissingExtraError, ModelError, ModelMissingError, SettingError
from cloxy_plugins.fastembed.catalogue import RERANKERS

NAME = "Xenova/ms-marco-MiniLM-L-6-v2"
QUESTION = "why does the crane overheat"
PASSAGES = ["the gate is blue", "the crane does overheat", "why", ""]


@pytest.fixture
def folder(tmp_path):
    return tiny_cross_encoder(tmp_path / "tiny")


def cache_one(cached, name=NAME):
    source, file = RERANKERS[name].source, RERANKERS[name].file
    return cached(source, lambda folder: tiny_cross_encoder(folder, file=file))


def test_model_in_a_folder_prefers_what_answers(reranker, folder):
    scores = reranker(recall__rerank_model=str(folder)).scores(QUESTION, PASSAGES)
    assert scores.dtype == np.float32
    assert scores.argmax() == 1


def test_two_folders_are_two_models(reranker, folder, tmp_path):
    other = tiny_cross_encoder(tmp_path / "other", turned=True)
    first = reranker(recall__rerank_model=str(folder)).scores(QUESTION, PASSAGES)
    second = reranker(recall__rerank_model=str(other)).scores(QUESTION, PASSAGES)
    assert np.allclose(first, -second, atol=1e-6)


@pytest.mark.parametrize("text", ["", NAME, NAME.upper()])
def test_default_model_is_found_in_the_cache(reranker, cached, text, capfd):
    cache_one(cached)
    assert reranker(recall__rerank_model=text).scores(QUESTION, PASSAGES).argmax() == 1
    assert capfd.readouterr() == ("", "")


def test_variable_of_5_1_names_the_model(reranker, folder):
    made = reranker({"CLOXY_RERANK_MODEL": str(folder)})
    assert made.scores(QUESTION, PASSAGES).argmax() == 1


@pytest.mark.usefixtures("offline")
def test_offline_and_not_in_the_cache_says_what_to_do(reranker, tmp_path, capfd):
    made = reranker({"CLOXY_RERANK": "1"})
    assert made.scores(QUESTION, []).shape == (0,)
    with pytest.raises(ModelMissingError, match=NAME) as caught:
        made.scores(QUESTION, PASSAGES)
    assert str(tmp_path / "data" / "models") in caught.value.message
    assert "FASTEMBED_CACHE_PATH" in caught.value.hint
    assert capfd.readouterr() == ("", "")


def test_a_question_alone_downloads_nothing(reranker):
    """The guard of the tests would notice an attempt."""
    with pytest.raises(ModelMissingError, match=f"{NAME} is not in") as caught:
        reranker().scores(QUESTION, PASSAGES)
    assert "CLOXY_RERANK=1" in caught.value.hint


@pytest.mark.usefixtures("may_try_network")
@pytest.mark.parametrize(
    "environment",
    [{"CLOXY_RERANK": "1"}, {"CLOXY_RERANK_MODEL": "Xenova/ms-marco-MiniLM-L-12-v2"}],
)
def test_a_model_that_is_switched_on_may_be_downloaded(reranker, environment):
    with pytest.raises(ModelMissingError, match="could not be downloaded"):
        reranker(environment).scores(QUESTION, PASSAGES)


def test_unknown_name_says_what_there_is(reranker):
    with pytest.raises(
        SettingError, match=r"recall\.rerank_model \(CLOXY_RERANK_MODEL\)"
    ) as caught:
        reranker(recall__rerank_model="ms-marco-minilm")
    assert NAME in caught.value.hint


def test_missing_folder_is_named(reranker, tmp_path):
    with pytest.raises(ModelMissingError, match="there is no folder"):
        reranker(recall__rerank_model=str(tmp_path / "nowhere"))


def test_damaged_network_is_named(reranker, folder):
    (folder / "model.onnx").write_bytes(b"no network")
    made = reranker(recall__rerank_model=str(folder))
    with pytest.raises(ModelMissingError, match="tiny cannot be loaded from"):
        made.scores(QUESTION, PASSAGES)


def test_missing_library_is_named_by_its_extra(reranker, hidden):
    hidden("fastembed")
    with pytest.raises(MissingExtraError) as caught:
        reranker()
    assert caught.value.hint == "pip install 'cloxy[fastembed]'"


def test_passages_are_cut_at_the_window(reranker, folder):
    made = reranker(recall__rerank_model=str(folder))
    early, late, other = (
        "the " * count + word for count, word in ((5, "crane"), (60, "crane"), (60, "blue"))
    )
    scores = made.scores("crane", [early, late, other])
    assert scores[0] > scores[1] == scores[2]


def test_score_depends_on_its_own_pair(reranker, tmp_path):
    folder = tiny_cross_encoder(tmp_path / "tiny", batch_effect=True)
    made = reranker(recall__rerank_model=str(folder))
    together = made.scores(QUESTION, PASSAGES)
    alone = [made.scores(QUESTION, [passage])[0] for passage in PASSAGES]
    assert np.allclose(together, alone, atol=1e-6)


@pytest.mark.parametrize("score", [float("nan"), float("inf")])
def test_useless_score_is_refused(reranker, monkeypatch, score):
    made = reranker()
    monkeypatch.setattr(made, "_load", lambda: SimpleNamespace(rerank=lambda *a, **b: [score]))
    with pytest.raises(ModelError, match="not a number"):
        made.scores(QUESTION, ["crane"])


def test_failure_of_the_model_is_told_in_words(reranker, monkeypatch):
    def rerank(*_arguments, **_more):
        raise RuntimeError("out of everything")

    made = reranker()
    monkeypatch.setattr(made, "_load", lambda: SimpleNamespace(rerank=rerank))
    with pytest.raises(ModelError, match="L-6-v2 failed: out of everything"):
        made.scores(QUESTION, ["crane"])
