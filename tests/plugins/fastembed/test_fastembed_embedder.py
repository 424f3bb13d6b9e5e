"""Models by name: chosen, found in the cache, missing; what stands before their texts."""

import json
import subprocess
import sys
import time
from types import SimpleNamespace

import loguru
import numpy as np
import pytest
from tiny_models import tiny_embedder

from cloxy_hookspecs import MissingExtraError, ModelError, ModelMissingError, SettingError
from cloxy_plugins.fastembed.catalogue import EMBEDDERS
from cloxy_plugins.fastembed.library import library

BGE = "BAAI/bge-small-en-v1.5"
E5 = "intfloat/multilingual-e5-small"
NOMIC = "nomic-ai/nomic-embed-text-v1.5"  # the library leaves its vectors at any length


def tiny(name, seed=1, **more):
    """Writes a small model that passes for one of the catalogue."""
    model = EMBEDDERS[name]
    return lambda folder: tiny_embedder(
        folder, file=model.files.file, dim=model.dim, seed=seed, **more
    )


def note_sizes(folder, sizes):
    """Note what was downloaded, as the library does."""
    noted = {
        f"snapshots/{folder.name}/{name}": {"size": size, "blob_id": "0"}
        for name, size in sizes.items()
    }
    (folder.parents[1] / "files_metadata.json").write_text(json.dumps(noted))


def test_default_is_known_without_loading(embedder):
    info = embedder().info
    assert (info.space.model, info.space.dim) == (BGE, 384)
    assert info.space.revision == "Qdrant/bge-small-en-v1.5-onnx-Q/model_optimized.onnx"
    assert (info.floor, info.characters) == (0.35, 1200)


def test_the_last_part_of_a_name_is_enough(embedder):
    assert embedder(embed__model="Multilingual-e5-small").info.space.model == E5


def test_capital_letters_of_a_name_do_not_count(embedder):
    assert (
        embedder(embed__model="baai/BGE-base-en-v1.5").info.space.model == "BAAI/bge-base-en-v1.5"
    )


@pytest.mark.parametrize(
    ("name", "wanted"),
    [("BAAI/bge-smal-en", BGE), ("my-model", E5), ("models/bge", "path of a folder")],
)
def test_unknown_name_says_what_there_is(embedder, name, wanted):
    with pytest.raises(SettingError, match=r"embed\.model \(CLOXY_EMBED_MODEL\)") as caught:
        embedder(embed__model=name)
    assert wanted in caught.value.hint


@pytest.mark.parametrize(
    ("environment", "wanted"),
    [
        ({}, ("query: ", "passage: ")),
        ({"CLOXY_EMBED_QUERY_PREFIX": "Q "}, ("Q ", "passage: ")),
        ({"CLOXY_EMBED_PASSAGE_PREFIX": ""}, ("query: ", "")),
        ({"CLOXY_EMBED_QUERY_PREFIX": "", "CLOXY_EMBED_PASSAGE_PREFIX": "P"}, ("", "P")),
    ],
)
def test_prefixes_are_the_models_unless_they_are_set(embedder, environment, wanted):
    space = embedder(environment, embed__model=E5).info.space
    assert (space.query_prefix, space.passage_prefix) == wanted


@pytest.mark.parametrize("name", [BGE, E5, NOMIC])
def test_model_in_the_cache_needs_no_network(embedder, cached, name):
    cached(EMBEDDERS[name].files.source, tiny(name))
    made = embedder(embed__model=name)
    rows = made.embed_passages(["the lighthouse", "the crane"])
    assert rows.shape == (2, EMBEDDERS[name].dim)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
    again = embedder(embed__model=name).embed_passages(["the lighthouse"])
    assert np.allclose(again, rows[:1], atol=1e-6)


def test_prefixes_stand_before_the_texts_once(embedder, cached):
    cached(EMBEDDERS[E5].files.source, tiny(E5))
    usual = embedder(embed__model=E5)
    plain = {"CLOXY_EMBED_QUERY_PREFIX": "", "CLOXY_EMBED_PASSAGE_PREFIX": ""}
    bare = embedder(plain, embed__model=E5)
    query, passage = usual.embed_queries(["crane"]), usual.embed_passages(["crane"])
    assert np.allclose(query, bare.embed_queries(["query: crane"]), atol=1e-6)
    assert np.allclose(passage, bare.embed_passages(["passage: crane"]), atol=1e-6)
    assert not np.allclose(query, passage, atol=1e-2)


def test_cache_is_where_the_library_has_it_elsewhere_when_that_is_set(embedder, cached, tmp_path):
    place = tmp_path / "elsewhere"
    cached(EMBEDDERS[BGE].files.source, tiny(BGE), place)
    made = embedder({"FASTEMBED_CACHE_PATH": str(place)})
    assert made.embed_queries(["crane"]).shape == (1, 384)
    assert not (tmp_path / "data" / "models").exists()


def test_long_text_is_cut_at_the_window(embedder, cached):
    cached(EMBEDDERS[BGE].files.source, tiny(BGE, limit=100_000))
    made = embedder()
    long = made.embed_passages(["crane " * 5_000, "crane " * 6_000])
    assert np.allclose(long[0], long[1], atol=1e-6)


def test_nothing_is_said_and_no_variable_is_set(embedder, cached, capfd):
    folder = cached(EMBEDDERS[BGE].files.source, tiny(BGE))
    # About this the library would complain.
    note_sizes(folder, {"config.json": 1})
    heard = []
    sink = loguru.logger.add(heard.append)
    try:
        embedder().embed_passages(["crane"] * 3)
    finally:
        loguru.logger.remove(sink)
    assert heard == []
    assert capfd.readouterr() == ("", "")


@pytest.mark.usefixtures("offline")
def test_offline_and_not_in_the_cache_says_what_to_do(embedder, tmp_path, capfd):
    made = embedder()
    with pytest.raises(ModelMissingError, match=BGE) as caught:
        made.embed_passages(["crane"])
    assert str(tmp_path / "data" / "models") in caught.value.message
    assert "HF_HUB_OFFLINE" in caught.value.message
    assert "FASTEMBED_CACHE_PATH" in caught.value.hint
    assert capfd.readouterr() == ("", "")
    assert not (tmp_path / "data").exists(), "nothing was downloaded, nothing is to be made"


@pytest.mark.usefixtures("may_try_network")
def test_no_network_says_so_at_once(embedder, tmp_path, capfd, monkeypatch):
    monkeypatch.setattr(time, "sleep", lambda seconds: pytest.fail("waits for a better time"))
    with pytest.raises(ModelMissingError, match="could not be downloaded: ") as caught:
        embedder().embed_passages(["crane"])
    assert str(tmp_path / "data" / "models") in caught.value.message
    assert "try again with a network" in caught.value.hint
    assert capfd.readouterr() == ("", "")


@pytest.mark.usefixtures("offline")
def test_a_model_that_comes_later_is_found(embedder, cached):
    made = embedder()
    with pytest.raises(ModelMissingError):
        made.embed_queries(["crane"])
    cached(EMBEDDERS[BGE].files.source, tiny(BGE))
    assert made.embed_queries(["crane"]).shape == (1, 384)


@pytest.mark.usefixtures("offline")
def test_incomplete_cache_is_no_model(embedder, cached):
    folder = cached(EMBEDDERS[BGE].files.source, tiny(BGE))
    (folder / EMBEDDERS[BGE].files.file).unlink()
    with pytest.raises(ModelMissingError, match="is not in"):
        embedder().embed_queries(["crane"])


def test_half_a_download_is_downloaded_anew(embedder, cached, monkeypatch):
    """A plain download would keep the file, as it is there."""
    file = EMBEDDERS[BGE].files.file
    folder = cached(EMBEDDERS[BGE].files.source, tiny(BGE))
    whole = (folder / file).read_bytes()
    note_sizes(folder, {file: len(whole)})
    (folder / file).write_bytes(whole[:100])
    embedding = library().TextEmbedding
    really, asked = embedding.download_files_from_huggingface, []

    def download(source, cache, *, local_files_only=False, **more):
        if local_files_only:
            return really(source, cache, local_files_only=True, **more)
        asked.append((source, more))
        (folder / file).write_bytes(whole)
        return str(folder)

    monkeypatch.setattr(embedding, "download_files_from_huggingface", download)
    assert embedder().embed_queries(["crane"]).shape == (1, 384)
    wanted = {"extra_patterns": [file], "force_download": True}
    assert asked == [(EMBEDDERS[BGE].files.source, wanted)]


def test_damaged_network_is_named(embedder, cached):
    folder = cached(EMBEDDERS[BGE].files.source, tiny(BGE))
    network = folder / EMBEDDERS[BGE].files.file
    network.write_bytes(network.read_bytes()[:100])
    with pytest.raises(ModelMissingError, match="cannot be loaded from") as caught:
        embedder().embed_queries(["crane"])
    assert str(folder) in caught.value.message
    assert "\n" not in caught.value.message


def test_missing_library_is_named_by_its_extra(embedder, hidden):
    hidden("fastembed")
    with pytest.raises(MissingExtraError) as caught:
        embedder()
    assert caught.value.hint == "pip install 'cloxy[fastembed]'"


def test_library_that_cannot_be_imported_is_named_by_its_extra(embedder, hidden):
    made = embedder()
    hidden("huggingface_hub")
    with pytest.raises(MissingExtraError, match="huggingface_hub") as caught:
        made.embed_queries(["crane"])
    assert caught.value.hint == "pip install 'cloxy[fastembed]'"


def test_closed_embedder_loads_anew(embedder, cached):
    cached(EMBEDDERS[BGE].files.source, tiny(BGE))
    made = embedder()
    before = made.embed_queries(["crane"])
    made.close()
    made.close()
    assert np.allclose(made.embed_queries(["crane"]), before, atol=1e-6)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([[0.0] * 384], "without a direction"),
        ([[float("nan")] * 384], "without a direction"),
        ([[float("inf")] * 384], "without a direction"),
        ([[1.0] * 7], "vectors of 7 numbers, not 384"),
    ],
)
def test_useless_vectors_are_refused(embedder, monkeypatch, rows, message):
    made = embedder()
    monkeypatch.setattr(made, "_load", lambda: SimpleNamespace(embed=lambda *a, **b: rows))
    with pytest.raises(ModelError, match=message):
        made.embed_queries(["crane"])


def test_failure_of_the_model_is_told_in_words(embedder, monkeypatch):
    def embed(*_arguments, **_more):
        raise RuntimeError("\nout of everything\nat line 7")

    made = embedder()
    monkeypatch.setattr(made, "_load", lambda: SimpleNamespace(embed=embed))
    with pytest.raises(ModelError, match=r"failed: out of everything$"):
        made.embed_queries(["crane"])


def test_create_imports_nothing_heavy(tmp_path):
    """In a process of its own, as this one has loaded everything."""
    code = (
        "import sys\n"
        "from plugins.fastembed.conftest import context_of\n"
        "from pathlib import Path\n"
        "from cloxy_plugins.fastembed import plugin\n"
        f"context = context_of(Path({str(tmp_path)!r}))\n"
        "for (record,) in (plugin.cloxy_embedders(), plugin.cloxy_rerankers()):\n"
        "    record.create(context)\n"
        "heavy = {'fastembed', 'onnxruntime', 'tokenizers', 'huggingface_hub', 'loguru'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    path = f"import sys; sys.path[:] = {sys.path!r}\n"
    run = subprocess.run([sys.executable, "-c", path + code], capture_output=True, text=True)
    assert (run.stdout, run.stderr) == ("[]\n", "")
