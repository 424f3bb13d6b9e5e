import sys
from pathlib import Path

import pytest

# The tests here share modules; importlib mode does not put their folder on the path.
sys.path.insert(0, str(Path(__file__).parent))

from doctor_kit import Patient


@pytest.fixture
def patient(tmp_path):
    """A data directory with five sessions and two notes, and nobody who has it open."""
    return Patient(tmp_path).filled()
