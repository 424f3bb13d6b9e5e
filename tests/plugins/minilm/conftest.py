"""The built-in model in a folder that may be damaged, and folders with small models."""

import json
from types import SimpleNamespace

import pytest
from onnx_files import random_table, write_network

from cloxy_core.core_settings import load_settings
from cloxy_plugins.minilm import creation, plugin
from cloxy_plugins.minilm.files import DATA


def context_of(folder, environment, settings):
    """The part of a host context that the embedder asks: checked settings."""
    texts = {name.replace("__", "."): text for name, text in settings.items()}
    values = load_settings({"CLOXY_DATA_DIR": str(folder), **(environment or {})}, texts)
    values.declare(plugin.cloxy_settings())
    values.check()
    return SimpleNamespace(settings=values)


@pytest.fixture
def make(tmp_path):
    """Makes an embedder by way of the plugin: `make(embed__model="minilm")`."""
    made = []

    def embedder(*, environment=None, **settings):
        (record,) = plugin.cloxy_embedders()
        made.append(record.create(context_of(tmp_path / "data", environment, settings)))
        return made[-1]

    yield embedder
    for each in made:
        each.close()


@pytest.fixture
def data(tmp_path, monkeypatch):
    """The folder of the built-in model, for this test alone; its files are links."""
    folder = tmp_path / "model"
    folder.mkdir()
    for path in DATA.iterdir():
        (folder / path.name).symlink_to(path)
    monkeypatch.setattr(creation, "DATA", folder)
    return folder


@pytest.fixture
def bench(monkeypatch):
    """A benchmark is running."""
    monkeypatch.setenv("CLOXY_BENCH", "1")


@pytest.fixture
def folder(tmp_path, bench):
    """A folder with a small model in the layout of a hub, for `embed.model_dir`."""
    place = tmp_path / "other"
    place.mkdir()
    write_network(place / "model.onnx", random_table())
    (place / "tokenizer.json").symlink_to(DATA / "tokenizer.json")
    config = {"hidden_size": 6, "max_position_embeddings": 512}
    (place / "config.json").write_text(json.dumps(config))
    return place
