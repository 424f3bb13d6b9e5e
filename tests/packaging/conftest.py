"""The wheel, built once for all tests here."""

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = (
    "cloxy_core", "hookspecs", "plugins", "templates", "pyproject.toml", "README.md", "LICENSE",
    "CONTRIBUTING.md",
)  # fmt: skip


@pytest.fixture(scope="session")
def wheel_path(tmp_path_factory):
    """Build without isolation, so without an index, from a copy that holds only the sources."""
    source = tmp_path_factory.mktemp("source")
    for name in SOURCES:
        if (ROOT / name).is_dir():
            shutil.copytree(
                ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__")
            )
        elif (ROOT / name).exists():
            shutil.copy(ROOT / name, source / name)
    target = tmp_path_factory.mktemp("wheel")
    run = subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", target, source],
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    return next(target.glob("*.whl"))


@pytest.fixture(scope="session")
def wheel(wheel_path):
    """Names and contents of the wheel's files."""
    with zipfile.ZipFile(wheel_path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}
