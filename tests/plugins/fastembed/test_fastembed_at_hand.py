"""Whether a model can be loaded without a download, found out without one."""

import pytest
from tiny_models import tiny_embedder

from cloxy_plugins.fastembed import plugin
from cloxy_plugins.fastembed.catalogue import EMBEDDERS

BGE = "BAAI/bge-small-en-v1.5"
FILES = EMBEDDERS[BGE].files


def is_at_hand(context):
    (record,) = plugin.cloxy_embedders()
    return record.at_hand(context)


def write(folder):
    return tiny_embedder(folder, file=FILES.file, dim=384, seed=1)


def test_a_model_in_the_cache_is(context, cached):
    cached(FILES.source, write)
    assert is_at_hand(context())
    assert is_at_hand(context(embed__model="bge-small-en-v1.5"))


@pytest.mark.usefixtures("offline")
def test_a_model_that_was_never_fetched_is_not(context, cached, tmp_path):
    assert not is_at_hand(context())
    assert not (tmp_path / "data").exists(), "nothing is made either"
    cached(FILES.source, write)
    assert not is_at_hand(context(embed__model="BAAI/bge-base-en-v1.5"))


def test_nobody_is_asked_for_one_whose_file_is_missing(context, cached):
    """The guard of the tests would refuse any look at the network."""
    folder = cached(FILES.source, write)
    (folder / FILES.file).unlink()
    assert not is_at_hand(context())


def test_without_the_library_none_is(context, cached, hidden):
    cached(FILES.source, write)
    hidden("fastembed")
    assert not is_at_hand(context())


def test_a_folder_is_when_a_model_is_in_it(context, tmp_path):
    assert not is_at_hand(context(embed__model=str(tmp_path / "nowhere")))
    made = tmp_path / "mine"
    tiny_embedder(made, file="model.onnx", dim=16, seed=1)
    assert is_at_hand(context(embed__model=str(made)))
