import shutil
import sys
from pathlib import Path

import pytest

# The tests here share modules; importlib mode does not put their folder on the path.
sys.path.insert(0, str(Path(__file__).parent))

from keeping_kit import Keeper


@pytest.fixture(scope="session")
def filled(tmp_path_factory):
    """A memory, to be copied: sessions and notes, and a backup from before some were forgotten."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
        return Keeper(tmp_path_factory.mktemp("filled")).filled()


@pytest.fixture
def keeper(filled, tmp_path):
    """A memory of this test's own; its logs lie where they lay when they were read."""
    made = Keeper(tmp_path, watched=filled.watched)
    shutil.copytree(filled.data, made.data)
    return made


@pytest.fixture
def forgetful(keeper):
    """A memory whose backup `kept.db` still holds what was forgotten since."""
    return keeper.forgetting()
