import sys
from pathlib import Path

import pytest

# The tests here share modules; importlib mode does not put their folder on the path.
sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "ingest"))

from embedding_support import Place, Words

from cloxy_core.services import indexing
from cloxy_core.services.embedding import service


@pytest.fixture(autouse=True)
def soon(monkeypatch):
    """What is tried again after a minute is tried again at once."""
    monkeypatch.setattr(service, "RETRY_SECONDS", 0.01)
    monkeypatch.setattr(service, "STORE_SECONDS", 0.01)
    monkeypatch.setattr(service, "PAUSE_SECONDS", 0.01)
    monkeypatch.setattr(service, "ANSWER_SECONDS", 60.0)  # a busy machine may need them
    monkeypatch.setattr(indexing, "AGAIN_SECONDS", 0.01)


@pytest.fixture
def words():
    """An embedder that tests control."""
    return Words()


@pytest.fixture
def place(tmp_path, words):
    """A server without HTTP, with that embedder and an index of vectors in memory."""
    with Place(tmp_path, words) as made:
        yield made
