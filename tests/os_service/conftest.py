"""A machine of each kind with a home of its own."""

import pytest
from os_service.recording import Recorder


@pytest.fixture
def runner():
    return Recorder()


@pytest.fixture
def home(tmp_path):
    folder = tmp_path / "home"
    folder.mkdir()
    return folder
