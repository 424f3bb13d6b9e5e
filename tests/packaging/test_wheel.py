"""What the wheel holds, and that it works on its own."""

import configparser
import email
import subprocess
import sys

import pytest
from packaging.requirements import Requirement

from cloxy_core import __version__

pytestmark = pytest.mark.slow
PACKAGES = {"cloxy_core", "cloxy_hookspecs", "cloxy_plugins", "cloxy_templates"}


def metadata(wheel):
    name = next(name for name in wheel if name.endswith(".dist-info/METADATA"))
    return email.message_from_bytes(wheel[name])


def test_top_level_names_are_exactly_the_four(wheel):
    top = {name.partition("/")[0] for name in wheel}
    assert {name for name in top if not name.endswith(".dist-info")} == PACKAGES


@pytest.mark.parametrize("package", sorted(PACKAGES))
def test_package_is_marked_as_typed(wheel, package):
    assert f"{package}/py.typed" in wheel


def test_licence_and_metadata(wheel):
    facts = metadata(wheel)
    assert facts["Name"] == "cloxy"
    assert facts["Version"] == __version__
    assert facts["Requires-Python"] == ">=3.11"
    assert facts["License-Expression"] == "MIT"
    licence = next(name for name in wheel if name.endswith("/licenses/LICENSE"))
    assert b"MIT License" in wheel[licence]


def test_requirements_have_lower_bounds_and_no_upper_ones(wheel):
    for text in metadata(wheel).get_all("Requires-Dist"):
        operators = {specifier.operator for specifier in Requirement(text).specifier}
        assert operators == {">="}, text


def test_entry_points(wheel):
    name = next(name for name in wheel if name.endswith("entry_points.txt"))
    parser = configparser.ConfigParser()
    parser.read_string(wheel[name].decode())
    assert dict(parser["console_scripts"]) == {"cloxy": "cloxy_core.cli.main:main"}
    for target in parser["cloxy.plugins"].values():
        assert target.replace(".", "/") + ".py" in wheel


def test_no_test_cache_or_data_is_shipped(wheel):
    odd = [
        name
        for name in wheel
        if not name.endswith((".py", "/py.typed", ".tmpl", ".json", ".jsonl", ".txt"))
        and ".dist-info/" not in name
        and not name.startswith("cloxy_plugins/minilm/data/")
    ]
    assert odd == []
    names = [name.rpartition("/")[2] for name in wheel]
    assert not [
        name for name in names if name.startswith(("test_", "conftest")) and "tmpl" not in name
    ]


def test_the_model_is_shipped_whole_with_its_licence(wheel):
    data = "cloxy_plugins/minilm/data/"
    shipped = {name.removeprefix(data) for name in wheel if name.startswith(data)}
    assert shipped == {"model.onnx", "tokenizer.json", "manifest.json", "LICENSE", "PROVENANCE.md"}


def test_sessions_of_the_demonstration_are_shipped(wheel):
    names = [name for name in wheel if name.startswith("cloxy_core/demo/logs/")]
    assert len(names) == 8
    assert all(name.endswith(".jsonl") for name in names)


def test_templates_are_shipped(wheel):
    assert "cloxy_templates/__init__.py" in wheel


def test_wheel_alone_is_enough(wheel_path, tmp_path):
    """Outside the checkout, with the wheel first on the path of an otherwise equal environment."""
    target = tmp_path / "site"
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
    subprocess.run([*install, "--target", target, wheel_path], check=True)
    code = (
        "import sys, cloxy_core, cloxy_hookspecs, cloxy_plugins\n"
        "assert all(m.__file__.startswith(sys.argv[1])"
        " for m in (cloxy_core, cloxy_hookspecs, cloxy_plugins))\n"
        "from cloxy_core.cli.main import main\n"
        "main(sys.argv[2:])"
    )
    for arguments in (["--version"], ["--help"], ["plugins", "list", "--json"]):
        run = subprocess.run(
            [sys.executable, "-c", f"import sys; sys.path.insert(0, sys.argv[1])\n{code}", target,
             *arguments],
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )  # fmt: skip
        assert run.returncode == 0, run.stderr
        assert run.stdout.strip()
