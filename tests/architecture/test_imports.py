"""Who imports what, and what a command loads; the layers themselves are in `.importlinter`."""

import json
import os
import subprocess
import sys
import tomllib

import pytest
from architecture.modules import (
    PLUGINS,
    ROOT,
    SOURCE_ROOTS,
    all_modules,
    imports_of,
    module_name,
    source_files,
)

HEAVY = {
    "fastapi", "mcp", "numpy", "onnxruntime", "pluggy", "pydantic", "sqlalchemy", "sqlmodel",
    "starlette", "stevedore", "uvicorn",
}  # fmt: skip
# Where an import inside a function is the rule: a hook's body brings in the plugin's own modules
# when its seat is used, and a command's body what only that command needs.
LOCAL_IMPORTS_ALLOWED = ("cloxy_core.cli.",)
PROBE = """
import json, sys
sys.argv = ["cloxy", *{arguments!r}]
from cloxy_core.cli.main import main
try:
    main()
except SystemExit:
    pass
sys.__stderr__.write("\\n" + json.dumps(sorted(name.partition(".")[0] for name in sys.modules)))
"""

PARTS = 8
IMPORT_EACH = """
import importlib, json, os, sys, traceback
import fastapi, pluggy, pydantic, sqlalchemy.dialects.sqlite, sqlmodel, stevedore, uvicorn
failed = 0
for module in json.loads(sys.argv[1]):
    child = os.fork()
    if child == 0:
        try:
            importlib.import_module(module)
        except ModuleNotFoundError as error:
            # A library that runs models need not be there; who needs it runs with its extra alone.
            if (error.name or "").partition(".")[0] in {"llama_cpp", "mlx", "mlx_lm"}:
                os._exit(0)
            print(module, error, flush=True)
            os._exit(1)
        except BaseException:
            print(module, traceback.format_exc(), sep="\\n", flush=True)
            os._exit(1)
        os._exit(0)
    failed += os.waitpid(child, 0)[1] != 0
sys.exit(1 if failed else 0)
"""


def top_level(target):
    return target.partition(".")[0]


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("part", range(PARTS))
def test_each_module_can_be_imported_alone_without_a_warning(part):
    """In a fresh process each; only foreign libraries are there already, to save minutes."""
    modules = json.dumps(all_modules()[part::PARTS])
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", IMPORT_EACH, modules],
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stdout + run.stderr


def loaded_by(arguments):
    run = subprocess.run(
        [sys.executable, "-c", PROBE.format(arguments=arguments)],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(json.loads(run.stderr.rpartition("\n")[2]))


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["--version"],
        ["recall", "--help"],
        ["recall", "which", "port"],
        ["status"],
        ["status", "--json"],
        ["ingest"],
        ["mcp"],
        ["stop"],
        ["start", "-d", "--help"],
    ],
    ids=" ".join,
)
def test_thin_command_loads_nothing_heavy(arguments, monkeypatch):
    monkeypatch.setenv("CLOXY_URL", "http://127.0.0.1:1")
    loaded = loaded_by(arguments)
    assert "click" in loaded
    assert not loaded & HEAVY
    assert "cloxy_hookspecs" not in loaded


def test_relay_has_no_event_loop_and_no_metadata(monkeypatch):
    monkeypatch.setenv("CLOXY_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("CLOXY_AUTOSTART", "0")
    code = PROBE.format(arguments=["mcp"]).replace('name.partition(".")[0]', "name")
    run = subprocess.run(
        [sys.executable, "-c", code],
        input='{"jsonrpc": "2.0", "id": 1, "method": "server/discover"}',
        capture_output=True,
        text=True,
        check=True,
    )
    assert "no server at" in json.loads(run.stdout)["error"]["message"]
    loaded = set(json.loads(run.stderr.rpartition("\n")[2]))
    assert not loaded & {"asyncio", "concurrent.futures", "importlib.metadata", "sqlite3"}


def test_recall_and_status_read_no_package_metadata(monkeypatch):
    monkeypatch.setenv("CLOXY_URL", "http://127.0.0.1:1")
    code = PROBE.format(arguments=["recall", "x"]).replace('name.partition(".")[0]', "name")
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "importlib.metadata" not in json.loads(run.stderr.rpartition("\n")[2])


def plugin_folders():
    return sorted(path.name for path in PLUGINS.iterdir() if (path / "__init__.py").is_file())


def test_entry_points_are_the_plugin_folders():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    table = project["entry-points"]["cloxy.plugins"]
    assert table == {name: f"cloxy_plugins.{name}.plugin" for name in plugin_folders()}


@pytest.mark.parametrize("name", plugin_folders())
def test_plugin_module_loads_only_the_contract(name):
    path = PLUGINS / name / "plugin.py"
    foreign = [
        item
        for item in imports_of(path)
        if item.inside is None
        and top_level(item.target) != "cloxy_hookspecs"
        and top_level(item.target) not in sys.stdlib_module_names
    ]
    assert foreign == []


@pytest.mark.parametrize("name", plugin_folders())
def test_importing_a_plugin_loads_nothing_heavy(name):
    code = f"import sys, json, cloxy_plugins.{name}.plugin; print(json.dumps(list(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = json.loads(run.stdout)
    assert not {top_level(module) for module in loaded} & (HEAVY - {"pluggy"})
    siblings = {m for m in loaded if m.startswith(f"cloxy_plugins.{name}.")}
    assert siblings == {f"cloxy_plugins.{name}.plugin"}


@pytest.mark.parametrize("path", source_files("cloxy_plugins"), ids=module_name)
def test_plugin_imports_of_ours_only_the_contract_and_itself(path):
    own = ".".join(module_name(path).split(".")[:2])
    foreign = [
        item
        for item in imports_of(path)
        if top_level(item.target) in SOURCE_ROOTS
        and top_level(item.target) != "cloxy_hookspecs"
        and not (item.target == own or item.target.startswith(own + "."))
    ]
    assert foreign == []


@pytest.mark.parametrize("path", source_files("cloxy_hookspecs"), ids=module_name)
def test_contract_imports_the_standard_library_and_pluggy(path):
    allowed = {"cloxy_hookspecs", "pluggy"}
    if path.name == "tables.py":
        allowed |= {"sqlmodel", "sqlalchemy"}
    if path.parent.name == "logs":
        allowed |= {"orjson"}
    foreign = [
        item
        for item in imports_of(path)
        if top_level(item.target) not in allowed | sys.stdlib_module_names
    ]
    assert foreign == []


@pytest.mark.parametrize(
    "path",
    [path for package in SOURCE_ROOTS for path in source_files(package)],
    ids=module_name,
)
def test_no_import_inside_a_function(path):
    module = module_name(path)
    if module.startswith(LOCAL_IMPORTS_ALLOWED):
        return
    inside = [item for item in imports_of(path) if item.inside is not None]
    if path.name == "plugin.py" and path.is_relative_to(PLUGINS):
        inside = [item for item in inside if not item.inside.startswith("cloxy_")]
    assert inside == []


IMPORTED_AS = {
    "backports.zstd": "backports",
    "google_re2": "re2",
    "llama_cpp_python": "llama_cpp",
    "readability_lxml": "readability",
}


def test_third_party_imports_are_declared():
    """What the product imports comes with it, not by the kindness of some other package."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared = {
        requirement.partition(";")[0].strip().split(">")[0].split("[")[0].lower().replace("-", "_")
        for requirement in project["dependencies"]
    }
    # An extra's package is imported by its plugin alone, which says how to get it.
    extras = project["optional-dependencies"]
    declared |= {
        each.split(">")[0].replace("-", "_")
        for extra in extras
        if extra != "dev"
        for each in extras[extra]
    }
    # Packages that are imported by another name than they have.
    declared |= {IMPORTED_AS[name] for name in declared & set(IMPORTED_AS)}
    # What mlx-lm is made of, at the version that it chooses.
    declared |= {"mlx"}
    # In the standard library from 3.14 on; until then it is a package of its own.
    declared |= {"compression"}
    # Always there: these are what the declared ones are made of, at versions that they choose.
    declared |= {"pydantic", "sqlalchemy", "starlette"}
    # The kit runs inside of pytest, which its users have; nothing else imports it.
    declared |= {"pytest"}
    used = {
        top_level(item.target)
        for package in SOURCE_ROOTS
        for path in source_files(package)
        for item in imports_of(path)
    }
    third_party = used - sys.stdlib_module_names - set(SOURCE_ROOTS)
    assert third_party - declared == set()
