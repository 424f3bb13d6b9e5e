"""A one-file plugin: vectors of words, at once, and held up where a test wants it.

`WORDS_GATE` names a folder. From the 100th passage on the embedder writes the file `reached` there
and waits for the file `go`. `WORDS_SLOW` names one, too: until the file `go` is there, each passage
takes `WORDS_SLOWLY` seconds, between which questions are answered. A passage that holds the word
UNREADABLE cannot be embedded, and with `WORDS_REFUSED` no passage can.
"""

import hashlib
import os
import time
from pathlib import Path

import numpy as np

from cloxy_hookspecs import (
    EMBED_PASSAGE_PREFIX,
    EMBED_QUERY_PREFIX,
    EmbedderInfo,
    EmbedderProvider,
    EmbeddingSpace,
    ModelError,
    hookimpl,
)

DIM = 32
FREE = 100
SLOWLY = float(os.environ.get("WORDS_SLOWLY", "0.2"))


def vector(prefix, text):
    """A sum of a direction for each word with the prefix before it."""
    total = np.zeros(DIM)
    for word in text.split():
        digest = hashlib.sha256(f"{prefix}{word}".encode()).digest()
        total += np.frombuffer(digest, dtype=np.uint8) - 127.5
    return (total / np.linalg.norm(total)).astype("float32")


class WordEmbedder:
    def __init__(self, settings):
        # One prefix for both sides: then a question is as similar to its own words as can be.
        self.prefix = settings[EMBED_PASSAGE_PREFIX] or ""
        query = settings[EMBED_QUERY_PREFIX] or ""
        space = EmbeddingSpace("words", "1", DIM, query, self.prefix)
        self.info = EmbedderInfo(space, weight=0.3, floor=0.0, batch=8, characters=300)
        self.gate = Path(os.environ["WORDS_GATE"]) if "WORDS_GATE" in os.environ else None
        self.slow = Path(os.environ["WORDS_SLOW"]) if "WORDS_SLOW" in os.environ else None
        self.count = 0

    def embed_passages(self, texts):
        self.count += len(texts)
        if self.gate is not None and self.count >= FREE:
            (self.gate / "reached").touch()
            while not (self.gate / "go").exists():
                time.sleep(0.01)
        if self.slow is not None and not (self.slow / "go").exists():
            (self.slow / "reached").touch()
            time.sleep(SLOWLY * len(texts))
        if "WORDS_REFUSED" in os.environ or any("UNREADABLE" in text for text in texts):
            raise ModelError("a word cannot be read")
        return self._all(texts)

    def embed_queries(self, texts):
        return self._all(texts)

    def _all(self, texts):
        rows = [vector(self.prefix, text) for text in texts]
        return np.array(rows, dtype="float32").reshape(len(rows), DIM)


@hookimpl
def cloxy_embedders():
    yield EmbedderProvider(
        name="words",
        summary="Vectors of words",
        models=("words",),
        create=lambda context: WordEmbedder(context.settings),
    )
