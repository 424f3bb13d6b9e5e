import sys
from pathlib import Path

import pytest

# The tests here share modules; importlib mode does not put their folder on the path.
sys.path.insert(0, str(Path(__file__).parent))

from ingest_support import Server


@pytest.fixture
def server(tmp_path):
    """A server without a watcher over an empty watched folder."""
    with Server(tmp_path) as running:
        yield running
