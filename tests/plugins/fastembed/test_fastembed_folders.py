"""Models in folders: what is read from the files around the network."""

import json
import shutil
import tempfile

import numpy as np
import pytest
from tiny_models import DIM, WINDOW, tiny_embedder

from cloxy_hookspecs import ModelError, ModelMissingError, SettingError


@pytest.fixture
def folder(tmp_path):
    return tiny_embedder(tmp_path / "tiny")


def facts(path, **changes):
    """Change a JSON file; None takes a key away."""
    path.parent.mkdir(exist_ok=True)
    now = json.loads(path.read_text()) if path.exists() else {}
    kept = {key: value for key, value in {**now, **changes}.items() if value is not None}
    path.write_text(json.dumps(kept))


def space(embedder, folder):
    return embedder(embed__model=str(folder)).info.space


def vectors(embedder, folder, *texts):
    return embedder(embed__model=str(folder)).embed_passages(texts or ["the crane overheats"])


@pytest.mark.parametrize(
    "file",
    [
        "model.onnx",
        "onnx/model.onnx",
        "model_optimized.onnx",
        "onnx/model_quantized.onnx",
        "onnx/model_quint8_avx2.onnx",
        "of-my-own.onnx",
        "onnx/of-my-own.onnx",
    ],
)
def test_network_has_one_of_many_names(embedder, tmp_path, file):
    assert vectors(embedder, tiny_embedder(tmp_path / "tiny", file=file)).shape == (1, DIM)


@pytest.mark.parametrize("usual", ["model.onnx", "onnx/model.onnx", "onnx/model_int8.onnx"])
def test_usual_name_counts_more_than_others(embedder, tmp_path, usual):
    folder = tiny_embedder(tmp_path / "tiny", file=usual)
    (folder / usual).with_name("a.onnx").write_bytes(b"no network")
    assert vectors(embedder, folder).shape == (1, DIM)


def test_several_networks_are_too_many_unless_one_is_usual(embedder, folder):
    shutil.copy(folder / "model.onnx", folder / "one.onnx")
    assert space(embedder, folder).dim == DIM
    (folder / "model.onnx").rename(folder / "two.onnx")
    with pytest.raises(ModelMissingError, match=r"there are 2 files \*\.onnx") as caught:
        space(embedder, folder)
    assert "model.onnx" in caught.value.hint


@pytest.mark.parametrize("file", ["model.onnx", "tokenizer.json", "tokenizer_config.json"])
def test_missing_file_is_named(embedder, folder, file):
    (folder / file).unlink()
    with pytest.raises(ModelMissingError, match=r"\*\.onnx" if "model" in file else file):
        space(embedder, folder)


def test_missing_folder_is_named(embedder, tmp_path):
    with pytest.raises(ModelMissingError, match="there is no folder"):
        space(embedder, tmp_path / "nowhere")


def test_home_is_understood(embedder, folder, monkeypatch):
    monkeypatch.setenv("HOME", str(folder.parent))
    assert space(embedder, "~/tiny").model == "tiny"


def test_folder_below_the_one_that_one_is_in(embedder, folder, monkeypatch):
    wanted = space(embedder, folder)
    monkeypatch.chdir(folder.parent)
    assert space(embedder, "tiny") == wanted


def test_home_of_nobody_is_refused(embedder):
    with pytest.raises(SettingError, match="nobody-such"):
        space(embedder, "~nobody-such/model")


@pytest.mark.parametrize(
    ("file", "content"),
    [("config.json", "{"), ("config.json", "[]"), ("1_Pooling/config.json", "7")],
)
def test_damaged_facts_are_named(embedder, folder, file, content):
    (folder / file).parent.mkdir(exist_ok=True)
    (folder / file).write_text(content)
    with pytest.raises(ModelMissingError, match=file):
        space(embedder, folder)


@pytest.mark.parametrize("key", ["hidden_size", "n_embd", "dim", "d_model"])
def test_length_of_a_vector_is_known_without_loading(embedder, folder, key):
    facts(folder / "config.json", **{"hidden_size": None, key: 77})
    assert space(embedder, folder).dim == 77


def test_length_that_the_pooling_says_counts_more(embedder, folder):
    facts(folder / "config.json", hidden_size=7)
    facts(folder / "1_Pooling" / "config.json", word_embedding_dimension=DIM)
    assert vectors(embedder, folder).shape == (1, DIM)


def test_unknown_length_is_an_error(embedder, folder):
    facts(folder / "config.json", hidden_size=None)
    with pytest.raises(ModelMissingError, match="how long a vector is"):
        space(embedder, folder)


def test_wrong_length_is_found_out_by_the_first_text(embedder, folder):
    facts(folder / "config.json", hidden_size=DIM + 1)
    with pytest.raises(ModelError, match=f"vectors of {DIM} numbers, not {DIM + 1}"):
        vectors(embedder, folder)


def table(folder):
    """The network's vectors, and the pieces of a text."""
    import onnx
    from onnx import numpy_helper
    from tokenizers import Tokenizer

    (found,) = onnx.load(folder / "model.onnx").graph.initializer
    pieces = Tokenizer.from_file(str(folder / "tokenizer.json"))
    return numpy_helper.to_array(found), lambda text: pieces.encode(text).ids


@pytest.mark.parametrize(
    ("pooling", "pooled"),
    [
        ({}, lambda rows: rows.mean(axis=0)),
        ({"pooling_mode_mean_tokens": True}, lambda rows: rows.mean(axis=0)),
        ({"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}, lambda rows: rows[0]),
        ({"pooling_mode": "cls"}, lambda rows: rows[0]),
        ({"pooling_mode_lasttoken": True}, lambda rows: rows[-1]),
    ],
)
def test_pooling_is_that_of_the_model(embedder, folder, pooling, pooled):
    facts(folder / "1_Pooling" / "config.json", **pooling)
    rows, pieces = table(folder)
    wanted = pooled(rows[pieces("the crane overheats")])
    (found,) = vectors(embedder, folder)
    assert np.allclose(found, wanted / np.linalg.norm(wanted), atol=1e-5)


@pytest.mark.parametrize(
    "pooling",
    [
        {"pooling_mode_max_tokens": True},
        {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": True},
        {"pooling_mode": "weightedmean"},
    ],
)
def test_pooling_that_cannot_be_done_is_refused(embedder, folder, pooling):
    facts(folder / "1_Pooling" / "config.json", **pooling)
    with pytest.raises(ModelError, match="pooling"):
        space(embedder, folder)


def test_network_that_pools_by_itself_is_left_alone(embedder, tmp_path):
    pooled = tiny_embedder(tmp_path / "pooled", pooled=True)
    plain = tiny_embedder(tmp_path / "plain")
    facts(pooled / "1_Pooling" / "config.json", pooling_mode_mean_tokens=True)
    assert np.allclose(vectors(embedder, pooled), vectors(embedder, plain), atol=1e-5)


@pytest.mark.parametrize(("limit", "wanted"), [(WINDOW, WINDOW), (7, 7), (None, 4 * WINDOW)])
def test_window_is_that_of_the_sentences(embedder, folder, limit, wanted):
    """The library alone would read the longer limit of tokenizer_config.json."""
    facts(folder / "sentence_bert_config.json", max_seq_length=limit)
    rows, pieces = table(folder)
    ids = pieces("ab " * 400)
    mean = rows[[*ids[: wanted - 1], ids[-1]]].mean(axis=0)
    (found,) = vectors(embedder, folder, "ab " * 400)
    assert np.allclose(found, mean / np.linalg.norm(mean), atol=1e-5)


def test_name_of_the_folder_counts_and_its_place_does_not(embedder, folder, tmp_path):
    before = space(embedder, folder)
    moved = shutil.copytree(folder, tmp_path / "elsewhere" / "tiny")
    assert space(embedder, moved) == before
    named = shutil.copytree(folder, tmp_path / "tiny-e5-mine")
    assert space(embedder, named).query_prefix == "query: "
    assert space(embedder, named).revision == before.revision


@pytest.mark.parametrize(
    "change",
    [
        lambda folder: tiny_embedder(folder, seed=2),
        lambda folder: (folder / "model.onnx_data").write_bytes(b"weights"),
        lambda folder: (folder / "model.onnx").rename(folder / "other.onnx"),
        lambda folder: facts(folder / "sentence_bert_config.json", max_seq_length=9),
        lambda folder: facts(folder / "1_Pooling" / "config.json", pooling_mode_cls_token=True),
        lambda folder: facts(folder / "tokenizer_config.json", truncation_side="left"),
    ],
)
def test_whatever_changes_vectors_changes_the_revision(embedder, folder, change):
    before = space(embedder, folder).revision
    change(folder)
    assert space(embedder, folder).revision != before


def test_edges_of_large_weights_count(embedder, folder):
    weights = folder / "model.onnx_data"
    found = set()
    for first, last in ((0, 0), (1, 0), (0, 1)):
        weights.write_bytes(bytes([first]) + b"\0" * (3 << 20) + bytes([last]))
        found.add(space(embedder, folder).revision)
    assert len(found) == 3


def test_what_does_not_change_vectors_does_not_count(embedder, folder):
    before = space(embedder, folder).revision
    (folder / "README.md").write_text("A model")
    assert space(embedder, folder).revision == before


def test_nothing_is_written_anywhere(embedder, folder, tmp_path, monkeypatch):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    before = sorted(folder.rglob("*"))
    vectors(embedder, folder)
    assert sorted(folder.rglob("*")) == before
    assert list(temporary.iterdir()) == []
    assert not (tmp_path / "data").exists()
