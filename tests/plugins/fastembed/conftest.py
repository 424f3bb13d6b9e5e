"""Contexts with checked settings, and a cache as the hub's client fills it."""

import sys
from types import SimpleNamespace

import pytest
from tiny_models import hub_cache

from cloxy_core.core_settings import load_settings
from cloxy_plugins.fastembed import plugin


def context_of(folder, environment=None, **settings):
    """The part of a host context that the plugin asks: settings and folders."""
    texts = {name.replace("__", "."): text for name, text in settings.items()}
    values = load_settings({"CLOXY_DATA_DIR": str(folder), **(environment or {})}, texts)
    values.declare(plugin.cloxy_settings())
    values.check()
    return SimpleNamespace(settings=values, paths=SimpleNamespace(data=folder))


@pytest.fixture
def context(tmp_path):
    """Makes contexts: `context(environment, embed__model="…")`."""

    def make(environment=None, **settings):
        return context_of(tmp_path / "data", environment, **settings)

    return make


@pytest.fixture
def embedder(context):
    """Makes an embedder by way of the plugin."""

    def make(environment=None, **settings):
        (record,) = plugin.cloxy_embedders()
        return record.create(context(environment, **settings))

    return make


@pytest.fixture
def reranker(context):
    """Makes a reranker by way of the plugin."""

    def make(environment=None, **settings):
        (record,) = plugin.cloxy_rerankers()
        return record.create(context(environment, **settings))

    return make


@pytest.fixture
def cached(tmp_path):
    """Has a model written into a cache as if it had been downloaded: `cached(source, write)`."""

    def fill(source, write, cache=tmp_path / "data" / "models"):
        return write(hub_cache(cache, source))

    return fill


@pytest.fixture
def offline(monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")


@pytest.fixture
def hidden(monkeypatch):
    """Hides libraries: `hidden("fastembed")`."""

    def hide(name):
        for module in [each for each in sys.modules if each.partition(".")[0] == name]:
            monkeypatch.delitem(sys.modules, module)
        monkeypatch.setattr(sys, "meta_path", [_NoSuch(name, tuple(sys.meta_path))])

    return hide


class _NoSuch:
    """Asks the other finders, but not for one library."""

    def __init__(self, name, others):
        self.name, self.others = name, others

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == self.name:
            return None
        found = (finder.find_spec(name, path, target) for finder in self.others)
        return next((spec for spec in found if spec is not None), None)
