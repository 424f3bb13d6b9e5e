"""A one-file plugin: an embedder that is never done with its work, inside a library of C++."""

import os
from pathlib import Path

import numpy as np

from cloxy_hookspecs import EmbedderInfo, EmbedderProvider, EmbeddingSpace, hookimpl
from cloxy_plugins import minilm


class Busy:
    info = EmbedderInfo(
        EmbeddingSpace("busy", "1", 8), weight=0.3, floor=0.0, batch=8, characters=300
    )

    def embed_passages(self, _texts):
        import onnxruntime

        file = Path(minilm.__file__).parent / "data" / "model.onnx"
        session = onnxruntime.InferenceSession(str(file))
        words = {each.name: np.ones((8, 64), dtype=np.int64) for each in session.get_inputs()}
        Path(os.environ["BUSY_MARK"]).touch()
        while True:
            session.run(None, words)

    def embed_queries(self, texts):
        return self.embed_passages(texts)


@hookimpl
def cloxy_embedders():
    yield EmbedderProvider(
        name="busy", summary="Busy for ever", models=("busy",), create=lambda _context: Busy()
    )
