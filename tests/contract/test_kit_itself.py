"""The kit bites: for every test of it there is a provider that is wrong and that it finds out."""

import importlib
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from contract import toy_plugin
from contract.toy_index import record

from cloxy_core.testing import conformance
from cloxy_core.testing.conformance import AfterIndexConformance, Conformance, FuserConformance
from cloxy_core.testing.conformance.base import foreign_imports
from cloxy_core.testing.conformance.surface import schema_faults
from cloxy_hookspecs.seats import SEATS

ROOT = Path(__file__).parents[2]
BROKEN = {
    path: importlib.import_module(f"contract.{path.stem}").CASES
    for path in sorted(Path(__file__).parent.glob("broken_*.py"))
}
CASES = {name: case for cases in BROKEN.values() for name, case in cases.items()}
CLASSES = [getattr(conformance, name) for name in conformance.__all__]


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    """Class name -> outcomes of the test that has to fail for it."""
    report = tmp_path_factory.mktemp("broken") / "report.xml"
    wanted = [
        f"{path}::{name}::{test}"
        for path, cases in BROKEN.items()
        for name, (_class, test) in cases.items()
    ]
    options = ["-p", "no:randomly", "-o", "python_classes=Broken*", f"--junitxml={report}", "-q"]
    subprocess.run(
        [sys.executable, "-m", "pytest", *options, *wanted], cwd=ROOT, capture_output=True
    )
    found = {}
    for item in ElementTree.parse(report).iter("testcase"):
        kinds = {child.tag for child in item} & {"failure", "error", "skipped"}
        name = item.get("classname").rpartition(".")[2]
        found.setdefault(name, set()).update(kinds or {"passed"})
    return found


@pytest.mark.parametrize("name", CASES)
def test_broken_provider_is_found_out(outcomes, name):
    assert "failure" in outcomes[name]
    assert not outcomes[name] & {"error", "skipped"}


def test_no_two_broken_providers_have_one_name():
    assert len(CASES) == sum(len(cases) for cases in BROKEN.values())


def test_every_test_of_the_kit_has_a_broken_provider():
    def defined(test, cls):
        return next(base for base in cls.__mro__ if test in vars(base)).__name__, test

    tests = {defined(name, cls) for cls in CLASSES for name in dir(cls) if name.startswith("test_")}
    assert {defined(test, cls) for cls, test in CASES.values()} == tests


def test_every_seat_has_a_conformance_class():
    assert {cls.seat.hook for cls in CLASSES if hasattr(cls, "seat")} == {s.hook for s in SEATS}


class TestGoodAfterIndex(AfterIndexConformance):
    """No plugin of Cloxy brings an index of this kind yet: a good one passes."""

    @pytest.fixture
    def provider(self):
        return record()

    @pytest.fixture
    def plugins(self):
        return {"toy": toy_plugin}


def test_deleted_test_is_refused():
    with pytest.raises(TypeError, match="test_nothing_gives_nothing belongs to the conformance"):
        type("Deletes", (FuserConformance,), {"test_nothing_gives_nothing": None})


def test_replaced_test_is_refused():
    class Mixed:
        def test_nothing_gives_nothing(self):
            """Easier."""

    with pytest.raises(TypeError, match="cannot be deleted or replaced"):
        type("Replaces", (Mixed, FuserConformance), {})


def test_replaced_test_of_every_record_is_refused():
    with pytest.raises(TypeError, match="test_record_is_frozen belongs"):
        type("Replaces", (FuserConformance,), {"test_record_is_frozen": lambda self: None})


def test_failure_is_expected_only_with_a_reason():
    expected = {"test_nothing_gives_nothing": "issue 7: raises on an empty mapping"}
    cls = type("Expects", (FuserConformance,), {"expected_failures": expected})
    (mark,) = cls.test_nothing_gives_nothing.pytestmark
    assert (mark.name, mark.kwargs["reason"]) == ("xfail", expected["test_nothing_gives_nothing"])
    assert not hasattr(FuserConformance.test_nothing_gives_nothing, "pytestmark")
    for wrong in ({"test_nothing_gives_nothing": " "}, {"test_no_such": "because"}):
        with pytest.raises(TypeError, match="expected_failures"):
            type("Expects", (FuserConformance,), {"expected_failures": wrong})


def test_subclass_may_add_tests_and_fixtures():
    def test_more(self, made):
        assert made

    cls = type("Adds", (FuserConformance,), {"test_more": test_more})
    assert cls.test_more is test_more
    assert issubclass(cls, Conformance)


def test_what_an_author_sees(tmp_path):
    """A reason, an expectation that is no longer true, and what is missing."""
    (tmp_path / "test_author.py").write_text(AUTHOR)
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-rxf", "-p", "no:cacheprovider", str(tmp_path)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert "XPASS(strict)" in run.stdout
    assert "is only an example" in run.stdout
    assert "1 failed" in run.stdout
    assert "1 xfailed" in run.stdout
    assert "TestNothing: give a fixture `provider` that returns the record" in run.stdout


AUTHOR = """
import pytest
from cloxy_core.testing.conformance import OriginConformance
from cloxy_hookspecs import OriginPolicy

class TestOrigin(OriginConformance):
    expected_failures = {
        "test_values_are_those_of_the_contract": "passes in truth",
        "test_plugin_module_is_cheap_to_import": "is only an example",
    }

    @pytest.fixture
    def provider(self):
        return OriginPolicy("o", "episodic", "core", immutable=True, deduplicates=True)

class TestNothing(OriginConformance):
    pass
"""


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "whole"},
        {"$ref": "#/$defs/Nowhere"},
        {"$ref": "http://example.test/schema"},
        {"properties": {"a": {"type": ["string", "nil"]}}},
        {"required": ["a"], "properties": {}},
        {"anyOf": [{"type": "string"}, 7]},
        {"items": {"additionalProperties": {"type": "text"}}},
    ],
)
def test_faults_of_a_schema_are_found(schema):
    assert len(list(schema_faults(schema))) == 1


def test_sound_schema_has_no_fault():
    inner = {"properties": {"b": {"type": ["string", "null"]}}, "required": ["b"]}
    reference = {"items": {"$ref": "#/$defs/Inner"}}
    assert list(schema_faults({"$defs": {"Inner": inner}, "properties": {"a": reference}})) == []


def test_foreign_imports_are_named():
    assert foreign_imports("cloxy_hookspecs") == []
    assert "sqlalchemy" in foreign_imports("cloxy_hookspecs.tables")
    with pytest.raises(AssertionError, match="cannot be imported by itself"):
        foreign_imports("no_such_module_anywhere")


def test_plugin_of_pytest_imports_nothing_of_ours():
    code = (
        "import sys, cloxy_core.testing.pytest_plugin; "
        "print(*sorted(n for n in sys.modules if n.startswith('cloxy')))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    own = ["cloxy_core", "cloxy_core.testing", "cloxy_core.testing.pytest_plugin"]
    assert run.stdout.split() == own
