"""A folder of logs, and a source over it."""

import pytest
from logs.logs_kit import lines_below


@pytest.fixture
def projects(tmp_path):
    folder = tmp_path / "projects"
    folder.mkdir()
    return folder


@pytest.fixture
def source(projects):
    return lines_below(projects)
