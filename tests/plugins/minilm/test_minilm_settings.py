"""Names of the model, prefixes, and the settings that only a benchmark may use."""

import json

import numpy as np
import pytest
from onnx_files import random_table, write_network

from cloxy_hookspecs import ModelError, ModelMissingError, SettingError
from cloxy_plugins.minilm.names import MODEL, MODELS

TEXT = "the crane overheats"


@pytest.mark.parametrize("name", ["", *MODELS, MODEL.upper()])
def test_each_name_of_the_model_means_the_same_space(make, name):
    assert make(embed__model=name).info == make().info
    assert make(embed__model=name).info.space.model == MODEL


def test_other_model_is_refused(make):
    with pytest.raises(SettingError, match="bge-small") as caught:
        make(embed__model="BAAI/bge-small-en-v1.5")
    assert "embed.provider" in caught.value.hint


def test_there_are_no_prefixes_unless_set(make):
    space = make().info.space

    assert (space.query_prefix, space.passage_prefix) == ("", "")


def test_prefixes_stand_before_their_own_kind_of_text(make):
    plain, prefixed = make(), make(embed__query_prefix="ask ", embed__passage_prefix="say ")

    wanted = plain.embed_passages(["ask " + TEXT, "say " + TEXT])
    assert np.array_equal(prefixed.embed_queries([TEXT])[0], wanted[0])
    assert np.array_equal(prefixed.embed_passages([TEXT])[0], wanted[1])
    assert plain.info.space.fingerprint != prefixed.info.space.fingerprint


@pytest.mark.parametrize("name", ["embed.model_dir", "embed.space_id"])
@pytest.mark.parametrize("value", [None, "", "0", "yes"])
def test_setting_for_benchmarks_is_refused_elsewhere(make, monkeypatch, tmp_path, name, value):
    if value is not None:
        monkeypatch.setenv("CLOXY_BENCH", value)

    with pytest.raises(SettingError, match="CLOXY_BENCH=1") as caught:
        make(**{name: str(tmp_path)})
    assert name in str(caught.value)


def test_refusal_names_the_variable_that_was_set(make):
    with pytest.raises(SettingError, match="CLOXY_EMBED_MODEL_DIR: '/srv/model' cannot be used"):
        make(environment={"CLOXY_EMBED_MODEL_DIR": "/srv/model"})


def test_empty_setting_for_benchmarks_is_none(make):
    assert make(embed__model_dir="", embed__space_id="").info == make().info


def test_space_id_stands_for_the_revision(make, bench):
    space = make(embed__space_id="run 7").info.space

    assert space.revision == "run 7"
    assert make(embed__space_id="run 7").embed_passages([TEXT]).shape == (1, space.dim)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [("a\0b", "there is no NUL"), ("~no-such-user-at-all/model", "somebody who exists")],
)
def test_what_cannot_be_a_folder_is_refused(make, bench, text, wanted):
    with pytest.raises(SettingError, match=f"embed.model_dir .* wants a folder, .* {wanted}"):
        make(embed__model_dir=text)


def test_folder_is_pooled_and_normalised_here(make, folder):
    """The vector is the mean of the words' vectors: those of the first and last token as well."""
    embedder = make(embed__model_dir=str(folder))
    words = random_table()[[101, 1996, 11308, 102]]  # [CLS] the crane [SEP]

    assert embedder.info.space.dim == 6
    mean = words.mean(axis=0)
    assert np.allclose(embedder.embed_passages(["the crane"])[0], mean / np.linalg.norm(mean))


def test_revision_of_a_folder_is_that_of_its_files(make, folder):
    first = make(embed__model_dir=str(folder)).info.space
    assert make(embed__model_dir=str(folder)).info.space == first

    write_network(folder / "model.onnx", random_table(seed=6))

    assert make(embed__model_dir=str(folder)).info.space.revision != first.revision
    named = make(embed__model_dir=str(folder), embed__space_id="mine").info.space
    assert named.revision == "mine"


def test_window_of_a_folder_is_no_longer_than_its_positions(make, folder):
    config = {"hidden_size": 6, "max_position_embeddings": 4}
    (folder / "config.json").write_text(json.dumps(config))

    first, second = make(embed__model_dir=str(folder)).embed_passages(["the crane", TEXT])
    assert np.array_equal(first, second)


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json", "config.json"])
@pytest.mark.parametrize("space", ["", "mine"])
def test_missing_file_of_a_folder_is_named(make, folder, name, space):
    (folder / name).unlink()

    with pytest.raises(ModelMissingError, match=name) as caught:
        make(embed__model_dir=str(folder), embed__space_id=space)
    assert "embed.model_dir" in caught.value.hint


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"hidden_size": "many"}', "null"])
def test_description_of_a_folder_that_is_none_is_refused(make, folder, content):
    (folder / "config.json").write_text(content)

    with pytest.raises(ModelMissingError, match=r"config\.json does not describe a model"):
        make(embed__model_dir=str(folder))


def test_file_that_is_no_network_is_an_error_of_the_model(make, folder):
    (folder / "model.onnx").write_bytes(b"no network")

    with pytest.raises(ModelError, match="cannot be loaded"):
        make(embed__model_dir=str(folder)).embed_passages([TEXT])


def test_failing_run_is_raised_and_not_printed(make, folder, capfd):
    """The table is too small for the tokens of the text."""
    write_network(folder / "model.onnx", random_table(tokens=200))

    with pytest.raises(ModelError, match="the network failed"):
        make(embed__model_dir=str(folder)).embed_passages([TEXT])
    assert capfd.readouterr() == ("", "")


def test_network_with_other_inputs_is_an_error_of_the_model(make, folder):
    write_network(folder / "model.onnx", random_table(), inputs=("input_ids", "pixels"))

    with pytest.raises(ModelError, match="pixels"):
        make(embed__model_dir=str(folder)).embed_passages([TEXT])


@pytest.mark.parametrize("number", [np.nan, np.inf, 0.0])
def test_answer_that_is_no_vector_is_an_error_of_the_model(make, folder, number):
    write_network(folder / "model.onnx", np.full_like(random_table(), number))

    with pytest.raises(ModelError, match="no usable vector"):
        make(embed__model_dir=str(folder)).embed_passages([TEXT])


def test_vector_of_another_length_than_described_is_an_error_of_the_model(make, folder):
    (folder / "config.json").write_text('{"hidden_size": 7}')

    with pytest.raises(ModelError, match="no usable vector"):
        make(embed__model_dir=str(folder)).embed_passages([TEXT])
