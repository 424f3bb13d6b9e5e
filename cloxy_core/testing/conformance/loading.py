"""Libraries of models are loaded by the first use, never by what the server makes at its start."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec
from types import ModuleType

import pytest

from cloxy_core.testing.conformance.base import foreign_imports
from cloxy_core.testing.harness import App
from cloxy_hookspecs import EMBED_MODEL

MODEL_LIBRARIES = (
    "ctransformers",
    "fastembed",
    "gensim",
    "llama_cpp",
    "mlx",
    "onnxruntime",
    "openvino",
    "sentence_transformers",
    "tensorflow",
    "tokenizers",
    "torch",
    "transformers",
)
"""What takes long to load, and is to be loaded by the first text."""


@contextmanager
def no_model_library(app: App, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Fail when a library of models is loaded inside; one may look whether it is installed."""
    assert app.context.settings[EMBED_MODEL] is not None, "opened before the barrier is there"
    with monkeypatch.context() as patch:
        for library in MODEL_LIBRARIES:
            patch.delitem(sys.modules, library, raising=False)
        patch.setattr(sys, "meta_path", [_Barrier(), *sys.meta_path])
        yield


def assert_loads_late(made: object) -> None:
    """The module of an object that runs a model does not load the library when it is imported."""
    module = type(made).__module__
    if find_spec(module) is not None:
        early = set(foreign_imports(module)) & set(MODEL_LIBRARIES)
        assert early == set(), f"import these in the method that loads the model, not {module}"


class _Barrier(MetaPathFinder, Loader):
    """Finds the libraries of models, so that one may look for them, and fails if one is loaded."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """What the import system asks of everything that finds modules."""
        del path, target
        known = fullname in MODEL_LIBRARIES and PathFinder.find_spec(fullname)
        return ModuleSpec(fullname, self) if known else None

    def create_module(self, spec: ModuleSpec) -> None:
        """What the import system asks of everything that loads modules."""
        pytest.fail(f"`create` loads {spec.name}: load it with the first text")

    def exec_module(self, module: ModuleType) -> None:
        """Never comes this far."""
        raise AssertionError(module)
