"""A model that is not what it should be is refused in words, and the server lives on."""

import json

import pytest
from onnx_files import random_table, write_network

from cloxy_hookspecs import ModelMissingError
from cloxy_plugins.minilm.files import DATA, file_hash, is_whole, read_manifest
from cloxy_plugins.minilm.names import DIMENSIONS, REVISION, TOKENS

FILES = ("manifest.json", "model.onnx", "tokenizer.json")
REPAIR = "pip install --force-reinstall --no-deps ."


def rewrite(path, content):
    path.unlink()
    path.write_bytes(content)


def change_manifest(data, change):
    facts = json.loads((data / "manifest.json").read_bytes())
    change(facts)
    rewrite(data / "manifest.json", json.dumps(facts).encode())


def missing(path):
    path.unlink()


def half_written(path):
    content = path.read_bytes()
    rewrite(path, content[: len(content) // 2])


def replaced(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    rewrite(path, bytes(content))


def empty(path):
    rewrite(path, b"")


def folder_in_its_place(path):
    path.unlink()
    path.mkdir()


def test_model_that_comes_with_cloxy_is_what_the_code_says():
    """Whoever builds the model anew writes its revision into names.py."""
    manifest = read_manifest(DATA)

    assert manifest.revision == REVISION
    assert (manifest.dimensions, manifest.tokens) == (DIMENSIONS, TOKENS)
    assert {name: file_hash(DATA / name) for name in manifest.files} == {
        name: file.sha256 for name, file in manifest.files.items()
    }


@pytest.mark.parametrize("damage", [missing, half_written, empty, folder_in_its_place])
@pytest.mark.parametrize("name", FILES)
def test_damaged_file_is_named_with_its_remedy(make, data, name, damage):
    whole = make().info
    damage(data / name)

    embedder = make()
    assert embedder.info == whole
    with pytest.raises(ModelMissingError) as caught:
        embedder.embed_passages(["tide table"])
    assert str(data / name) in caught.value.message
    assert REPAIR in caught.value.hint


def test_half_written_file_is_told_by_its_size(make, data):
    half_written(data / "tokenizer.json")

    with pytest.raises(ModelMissingError, match="233,066 of 466,132 bytes"):
        make().embed_passages(["tide table"])


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_replaced_file_of_the_same_size_is_found_by_its_hash(make, data, name):
    replaced(data / name)

    with pytest.raises(ModelMissingError, match="another hash") as caught:
        make().embed_queries(["tide table"])
    assert str(data / name) in caught.value.message


def test_whole_folder_may_be_gone_and_come_back(make, data):
    whole = make().info
    data.rename(data.with_name("away"))
    embedder = make()
    assert embedder.info == whole
    with pytest.raises(ModelMissingError, match=r"manifest\.json is missing"):
        embedder.embed_passages(["tide table"])

    data.with_name("away").rename(data)

    assert embedder.embed_passages(["tide table"]).shape == (1, whole.space.dim)


def test_nothing_is_checked_for_no_text(make, data):
    missing(data / "model.onnx")

    assert make().embed_passages([]).shape == (0, DIMENSIONS)


@pytest.mark.parametrize(
    "change",
    [
        lambda facts: facts.pop("revision"),
        lambda facts: facts.update(revision=7),
        lambda facts: facts.update(dimensions="384"),
        lambda facts: facts.update(max_tokens=0),
        lambda facts: facts.update(files=[]),
        lambda facts: facts["files"].pop("model.onnx"),
        lambda facts: facts["files"].update({"../elsewhere": {"sha256": "0", "size": 1}}),
        lambda facts: facts["files"]["model.onnx"].pop("sha256"),
    ],
)
def test_manifest_that_does_not_say_what_it_should_is_damaged(make, data, change):
    change_manifest(data, change)

    with pytest.raises(ModelMissingError, match=r"manifest\.json is damaged"):
        make().embed_passages(["tide table"])


def test_model_that_is_replaced_while_the_server_runs_wants_a_restart(make, data):
    """Its vectors would be kept as those of the model that was there at the start."""
    embedder = make()
    change_manifest(data, lambda facts: facts.update(revision="another"))

    with pytest.raises(ModelMissingError, match="restart Cloxy"):
        embedder.embed_passages(["tide table"])
    assert make().embed_passages(["tide table"]).shape == (1, DIMENSIONS)
    assert make().info.space.revision == "another"


def test_weights_in_another_file_are_not_read(make, folder):
    write_network(folder / "model.onnx", random_table(), weights_elsewhere=True)
    assert (folder / "weights.bin").stat().st_size == random_table().nbytes

    embedder = make(embed__model_dir=str(folder))
    with pytest.raises(ModelMissingError, match="weights in another file"):
        embedder.embed_passages(["tide table"])


@pytest.mark.parametrize("before", [0, 1, (1 << 20) - 5, (1 << 20) + 3])
def test_mark_of_another_file_is_found_wherever_it_stands(tmp_path, before):
    path = tmp_path / "model.onnx"
    path.write_bytes(b"\0" * before + b"\x0a\x08location" + b"\0" * 30)
    assert not is_whole(path)
    path.write_bytes(b"\0" * before + b"\x0a\x09locations" + b"\0" * 30)
    assert is_whole(path)
