import sys
from pathlib import Path

import pytest

# The tests here share modules; importlib mode does not put their folder on the path.
sys.path.insert(0, str(Path(__file__).parent))

from gemini_kit import Folder


@pytest.fixture
def folder(tmp_path):
    return Folder(tmp_path)
