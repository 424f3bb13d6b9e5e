"""Vectors in a real SQLite file and in the exact index."""

import numpy as np
import pytest
from exact_shelf import Shelf, clustered, sessions
from sqlalchemy import create_engine

from cloxy_core.store.library import driver
from cloxy_hookspecs.tables import CORE_METADATA
from cloxy_plugins.exact_index import codes


@pytest.fixture
def chance():
    return np.random.default_rng(20260314)


@pytest.fixture(params=["simsimd", "numpy"])
def library(request, monkeypatch):
    """Both ways to multiply bytes."""
    if request.param == "numpy":
        monkeypatch.setattr(codes, "SIMSIMD", None)
    elif codes.SIMSIMD is None:
        pytest.skip("there is no simsimd for this machine")
    return request.param


@pytest.fixture
def engine(tmp_path):
    made = create_engine(f"sqlite:///{tmp_path / 'store.db'}", module=driver)
    CORE_METADATA.create_all(made)
    yield made
    made.dispose()


@pytest.fixture
def shelf(engine):
    return Shelf(engine)


@pytest.fixture
def many(shelf, chance):
    """Three thousand passages in sessions: a hundredth, a tenth and half of them are marked."""
    numbers = [int(number) for number in chance.permutation(np.arange(1, 9001))[:3000]]
    vectors = dict(zip(numbers, clustered(chance, len(numbers)), strict=True))
    marks = chance.choice(["one", "ten", "half", "rest"], p=[0.01, 0.1, 0.5, 0.39], size=3000)
    shelf.store(vectors, dict(zip(numbers, map(str, marks), strict=True)), sessions(numbers))
    shelf.rebuild()
    return shelf
