"""Rounding to bytes, and products of bytes."""

import subprocess
import sys

import numpy as np
import pytest
from exact_shelf import clustered, unit

from cloxy_plugins.exact_index import codes


@pytest.mark.parametrize("rows", [1, 2, 511, 512, 513, 1500])
@pytest.mark.parametrize("dim", [1, 7, 384, 1025])
def test_products_are_those_of_whole_numbers(library, chance, rows, dim):
    many = chance.integers(-127, 128, size=(rows, dim)).astype(np.int8)
    out = np.full(rows + 1, 7, dtype=np.float32)
    codes.products(many, many[0], out[:rows])
    wanted = many.astype(np.int64) @ many[0].astype(np.int64)
    assert out[:rows] == pytest.approx(wanted, rel=1e-6)
    assert out[rows] == 7


def test_greatest_products_do_not_run_over(library):
    many = np.full((3, 4096), 127, dtype=np.int8)
    many[1] = -127
    out = np.empty(3, dtype=np.float32)
    codes.products(many, many[0], out)
    assert out == pytest.approx([127**2 * 4096, -(127**2) * 4096, 127**2 * 4096])


def test_no_reference_is_lost(library, chance):
    """A library that gave None away once too often would end the server after a while."""
    many = chance.integers(-127, 128, size=(64, 16)).astype(np.int8)
    out = np.empty(64, dtype=np.float32)
    before = [sys.getrefcount(each) for each in (None, many, out)]
    for _ in range(1000):
        codes.products(many, many[0], out)
    after = [sys.getrefcount(each) for each in (None, many, out)]
    assert after == pytest.approx(before, abs=100)


def test_rounding_keeps_directions(chance):
    vectors = clustered(chance, 200, 384)
    rounded = codes.quantise(vectors)
    back = rounded.codes * rounded.scales[:, None]
    assert np.einsum("ij,ij->i", back, vectors) == pytest.approx(np.ones(200), abs=1e-4)
    assert np.linalg.norm(back, axis=1) == pytest.approx(np.ones(200), abs=1e-5)
    assert np.abs(rounded.codes).max(axis=1).tolist() == [127] * 200
    steps = np.abs(vectors).max(axis=1) / 127
    assert (rounded.lost <= 384 * (steps / 2) ** 2).all()
    assert (rounded.lost > 0).all()


def test_nothing_can_be_rounded():
    for shape in ((0, 0), (0, 5)):
        assert codes.quantise(np.empty(shape, dtype=np.float32)).codes.shape == shape


def test_stored_vectors_are_read_and_the_unfit_left_out(chance):
    good = clustered(chance, 3, 8)
    long = (1.04 * good[0], 1.06 * good[0], 0.94 * good[0], np.full(8, np.nan), good[0, :7])
    blobs = [np.asarray(v, dtype="<f4").tobytes() for v in (*good, *long)]
    matrix, places = codes.unit_rows(blobs, 8)
    assert places.tolist() == [0, 1, 2, 3]
    assert matrix == pytest.approx(np.array([unit(v) for v in (*good, good[0])]), abs=1e-6)
    assert codes.unit_rows([], 8)[0].shape == (0, 8)


def test_index_goes_without_simsimd(monkeypatch):
    monkeypatch.setitem(sys.modules, "simsimd", None)
    assert codes._simsimd() is None


def test_plugin_loads_numpy_only_when_an_index_is_made():
    code = "import sys, cloxy_plugins.exact_index.plugin as p; list(p.cloxy_indexes());"
    code += "print({'numpy', 'simsimd'} & set(sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "set()\n"
