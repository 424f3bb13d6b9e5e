"""Every hook is documented with an example that runs, and has tests that bear its name."""

import ast
import dataclasses
import inspect
import re
import sys
import textwrap
import types
from pathlib import Path

import pytest

import cloxy_hookspecs
from cloxy_core.kernel.manager import create_manager, register_plugin
from cloxy_core.kernel.registry import Registry
from cloxy_core.kernel.settings import Settings
from cloxy_hookspecs.seats import SEATS
from cloxy_hookspecs.specs import ALL_SPECS

TESTS = Path(__file__).resolve().parents[1]
AUTHOR = "greeter"
"""Name of the plugin that an example belongs to; settings and tables in examples bear it."""
BLOCK = re.compile(r"^ *```python\n(.*?)```", re.DOTALL | re.MULTILINE)
SPECIFIED = {
    name: function
    for specs in ALL_SPECS
    for name, function in vars(specs).items()
    if not name.startswith("_")
}


def examples(hook):
    return [textwrap.dedent(code) for code in BLOCK.findall(inspect.getdoc(SPECIFIED[hook]) or "")]


def run_example(hook, monkeypatch):
    """The example as a module of a plugin; what it imports of its author's is made up."""
    (code,) = examples(hook)
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.ImportFrom):
            for name in (node.module.partition(".")[0], node.module):
                monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
            module = sys.modules[node.module]
            for alias in node.names:
                made = {"__init__": lambda self, *context: None}
                setattr(module, alias.name, type(alias.name, (), made))
    plugin = types.ModuleType(AUTHOR)
    offered = {name: getattr(cloxy_hookspecs, name) for name in cloxy_hookspecs.__all__}
    vars(plugin).update(offered, replace=dataclasses.replace)
    exec(compile(code, hook, "exec"), vars(plugin))
    return plugin


@pytest.mark.parametrize("seat", SEATS, ids=lambda seat: seat.hook)
def test_example_of_a_hook_runs(seat, monkeypatch):
    manager = create_manager()
    register_plugin(manager, AUTHOR, run_example(seat.hook, monkeypatch))
    registry = Registry(manager, Settings())
    (record,) = registry.all(seat)
    assert isinstance(record, seat.record)
    assert list(registry.problems.all()) == []
    if hasattr(record, "create"):
        assert record.create(types.SimpleNamespace()) is not None


@pytest.mark.parametrize("hook", SPECIFIED)
def test_hook_says_what_it_is_for(hook):
    text = inspect.getdoc(SPECIFIED[hook])
    assert re.match(r"[A-Z].*\.$", text.splitlines()[0])
    assert len(examples(hook)) == 1
    assert f"def {hook}(" in examples(hook)[0]


@pytest.mark.parametrize("hook", SPECIFIED)
def test_hook_has_a_test_named_after_it(hook):
    assert hook.replace("_", "") in names_of_tests()


def test_hooks_are_the_seats():
    assert set(SPECIFIED) == {seat.hook for seat in SEATS}


def test_examples_are_tried_in_earnest(monkeypatch):
    """A wrong record in an example would be refused here as in a server."""
    manager = create_manager()
    wrong = types.ModuleType(AUTHOR)
    exec(
        "from cloxy_hookspecs import FuserProvider, hookimpl\n"
        "@hookimpl\n"
        "def cloxy_signals():\n"
        "    yield FuserProvider(name='x', summary='x', create=print)\n",
        vars(wrong),
    )
    register_plugin(manager, AUTHOR, wrong)
    registry = Registry(manager, Settings())
    (seat,) = [seat for seat in SEATS if seat.hook == "cloxy_signals"]
    assert registry.all(seat) == ()
    assert "wants SignalProvider" in str(registry.problems.all())


def names_of_tests():
    """Names of the classes and functions of all tests, without `test` and underscores."""
    found = set()
    for path in TESTS.rglob("test_*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef | ast.FunctionDef):
                plain = node.name.lower().replace("_", "")
                if plain.startswith("test"):
                    found.add(plain.removeprefix("test"))
    return found
