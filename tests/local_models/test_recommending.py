"""The catalogue, and what of it fits which machine."""

import re
from datetime import date

import pytest

from cloxy_core.local_models.catalogue import find_entry, load_catalogue
from cloxy_core.local_models.hardware import GB, Hardware
from cloxy_core.local_models.recommending import advise, budget_gb
from cloxy_core.local_models.repo_name import is_repo_id, is_safe_path
from cloxy_hookspecs.errors import NotFoundError

GIB = 1024**3
CATALOGUE = load_catalogue()


def machine(gib, *, apple=False, limited=False):
    total = gib * GIB
    limit = (total * 3 // 4 if gib > 36 else total * 2 // 3) if apple else None
    return Hardware("chip", apple, total, limited=limited, gpu_limit=limit)


def test_every_entry_makes_sense():
    for entry in CATALOGUE:
        assert is_repo_id(entry.id), entry
        assert (entry.file is not None) == (entry.format == "gguf"), entry
        assert entry.file is None or (is_safe_path(entry.file) and entry.file.endswith(".gguf"))
        assert 0.1 < entry.size_gb < entry.load_gb < 300, entry
        assert entry.load_gb == pytest.approx(entry.needs_gb(8192), abs=0.06), entry
        assert 0 < entry.active_share <= 1
        assert entry.context_tokens >= 4096
        assert set(entry.confirmed) <= {"id", "file", "size"}
        assert entry.licence
        assert not entry.run_here
        assert date.fromisoformat(entry.looked_up) <= date(2026, 11, 30)
        assert re.fullmatch("tiny|small|medium|large|xlarge|absurd", entry.tier)


def test_names_are_unique_in_their_format_and_the_old_ones_are_kept():
    keys = [(entry.name, entry.format) for entry in CATALOGUE]
    assert len(set(keys)) == len(keys)
    older = [entry for entry in CATALOGUE if entry.older]
    assert len(older) == 8
    assert all(entry.id.startswith("mlx-community/") for entry in older)


def test_both_formats_reach_from_small_to_large():
    for kind in ("gguf", "mlx"):
        sizes = [entry.size_gb for entry in CATALOGUE if entry.format == kind]
        assert min(sizes) < 0.7
        assert max(sizes) > 18


@pytest.mark.parametrize("name", ["Qwen3 4B", "qwen3-4b", "QWEN3_4B", "Qwen/Qwen3-4B-GGUF"])
def test_names_are_found_however_they_are_written(name):
    assert find_entry(CATALOGUE, name, "gguf").id == "Qwen/Qwen3-4B-GGUF"


def test_names_that_differ_by_a_point_are_not_mixed_up():
    assert find_entry(CATALOGUE, "qwen3.5 4b", "gguf").name == "Qwen3.5 4B"
    assert find_entry(CATALOGUE, "qwen35 4b", "gguf") is None


def test_the_other_format_is_told():
    with pytest.raises(NotFoundError, match="for mlx only"):
        find_entry(CATALOGUE, "Qwen 2.5 7B", "gguf")


@pytest.mark.parametrize(
    ("gib", "share"), [(16, 0.55), (24, 0.65), (32, 0.65), (64, 0.72), (128, 0.78)]
)
def test_larger_machines_give_a_larger_share(gib, share):
    assert budget_gb(machine(gib)) == pytest.approx(gib * GIB / GB * share)


def test_system_and_editor_keep_their_room():
    total = 8 * GIB / GB
    assert budget_gb(machine(8)) == pytest.approx(total - 4)
    assert budget_gb(machine(2)) == 0
    assert budget_gb(machine(8, limited=True)) == pytest.approx(total * 0.55)


def test_the_graphics_part_sets_a_limit_of_its_own():
    small = Hardware("Apple", True, 64 * GIB, gpu_limit=10 * GB)
    assert budget_gb(small) == 10


@pytest.mark.parametrize("gib", [8, 12, 16, 24, 32, 48, 64, 96, 128, 256, 512])
@pytest.mark.parametrize("apple", [False, True])
def test_what_is_recommended_fits(gib, apple):
    advice = advise(machine(gib, apple=apple), CATALOGUE)
    assert advice.format == ("mlx" if apple else "gguf")
    best = advice.recommended
    assert best.fits
    assert best.needs_gb <= advice.budget_gb
    assert not best.entry.older
    assert not best.slow
    assert "id" in best.entry.confirmed
    for fit in advice.fits:
        assert fit.entry.format == advice.format
        assert fit.fits == (fit.needs_gb <= advice.budget_gb)


def test_more_memory_never_recommends_less():
    for apple in (False, True):
        sizes = [
            advise(machine(gib, apple=apple), CATALOGUE).recommended.entry.size_gb
            for gib in (8, 16, 32, 64, 128, 512)
        ]
        assert sizes == sorted(sizes)
        assert sizes[0] < sizes[-1]


def test_without_a_fast_graphics_part_large_models_are_marked_slow():
    fits = {fit.entry.name: fit for fit in advise(machine(128), CATALOGUE).fits}
    assert fits["Qwen3 32B"].slow
    assert not fits["Qwen3 30B A3B"].slow  # few of its weights are read for a token
    assert not any(fit.slow for fit in advise(machine(128, apple=True), CATALOGUE).fits)


def test_the_context_takes_memory_too():
    fits = {fit.entry.name: fit for fit in advise(machine(16), CATALOGUE).fits}
    assert fits["Qwen3 8B"].context < fits["Qwen3.5 9B"].context == 32768


def test_nothing_fits_and_why():
    advice = advise(machine(4), CATALOGUE)
    assert advice.recommended is None
    assert "this machine has 4.3 GB" in advice.reason
    assert "--server" in advice.reason
    assert "this container" in advise(machine(1, limited=True), CATALOGUE).reason
    assert "any Hugging Face id" in advise(machine(64), ()).reason


def test_present_models_come_before_older_ones_and_large_before_small():
    fits = advise(machine(128, apple=True), CATALOGUE).fits
    keys = [(fit.entry.older, -fit.entry.size_gb) for fit in fits]
    assert keys == sorted(keys)
