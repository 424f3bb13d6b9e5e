"""The parser and the source over session logs made by the tests."""

import pytest
from claude_logs import Logs, source_of


@pytest.fixture
def logs():
    return Logs()


@pytest.fixture
def projects(tmp_path):
    folder = tmp_path / "projects"
    folder.mkdir()
    return folder


@pytest.fixture
def source(projects):
    return source_of([projects])
