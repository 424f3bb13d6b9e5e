"""The pages are complete, their links work, and what they show runs."""

import ast
import asyncio
import re
import subprocess
import sys
import tomllib
import types
from pathlib import Path

import pytest

from cloxy_core.cli.main import COMMANDS
from cloxy_core.core_settings import CORE_SETTINGS
from cloxy_hookspecs import CheckProvider, MemoryReader, ProjectSummary
from cloxy_hookspecs.seats import SEATS
from cloxy_hookspecs.specs import ALL_SPECS

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS.rglob("*.md")])
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def page_id(path):
    return str(path.relative_to(ROOT))


def text_of(name):
    return (DOCS / name).read_text(encoding="utf-8")


def headings(text):
    return re.findall(r"^#+ (.+)$", FENCE.sub("", text), re.MULTILINE)


def anchor(heading):
    plain = re.sub(r"[^\w\- ]", "", heading.lower())
    return plain.replace(" ", "-")


def blocks(text, language):
    return [body for kind, body in FENCE.findall(text) if kind == language]


def test_generated_parts_are_up_to_date():
    run = subprocess.run(
        [sys.executable, DOCS / "generate.py", "--check"], capture_output=True, text=True
    )
    assert run.returncode == 0, run.stdout + run.stderr


def test_generator_notices_a_page_that_differs(tmp_path):
    copy = tmp_path / "docs"
    for path in [DOCS / "generate.py", *DOCS.rglob("*.md")]:
        target = copy / path.relative_to(DOCS)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(path.read_bytes())
    page = copy / "reference" / "settings.md"
    page.write_text(page.read_text(encoding="utf-8").replace("`CLOXY_PORT`", "`CLOXY_P`"))
    command = [sys.executable, copy / "generate.py"]
    check = subprocess.run([*command, "--check"], capture_output=True, text=True)
    assert check.returncode == 1
    assert "reference/settings.md differs" in check.stdout
    assert subprocess.run(command, capture_output=True).returncode == 0
    assert page.read_bytes() == (DOCS / "reference" / "settings.md").read_bytes()


@pytest.mark.parametrize("path", PAGES, ids=page_id)
def test_no_link_is_dead(path):
    text = FENCE.sub("", path.read_text(encoding="utf-8"))
    for target in LINK.findall(text):
        if re.match(r"[a-z]+:", target):
            continue
        file, _, fragment = target.partition("#")
        linked = (path.parent / file).resolve() if file else path
        assert linked.is_file(), f"{target} leads nowhere"
        if fragment:
            anchors = {anchor(heading) for heading in headings(linked.read_text(encoding="utf-8"))}
            assert fragment in anchors, f"{target} has no such heading"


@pytest.mark.parametrize("path", [p for p in PAGES if p.is_relative_to(DOCS)], ids=page_id)
def test_every_page_can_be_reached(path):
    if path.parent.name == "changelog" or path.name == "index.md":
        return
    linked = {
        (page.parent / target.partition("#")[0]).resolve()
        for page in PAGES
        for target in LINK.findall(page.read_text(encoding="utf-8"))
    }
    assert path in linked


@pytest.mark.parametrize("setting", CORE_SETTINGS, ids=lambda setting: setting.name)
def test_every_setting_has_its_heading(setting):
    assert setting.name in headings(text_of("reference/settings.md"))
    assert f"`{setting.variable}`" in text_of("reference/settings.md")


@pytest.mark.parametrize("seat", SEATS, ids=lambda seat: seat.hook)
def test_every_hook_has_its_heading_and_an_example(seat):
    text = text_of("plugins/seats.md")
    assert seat.hook in headings(text)
    section = text.partition(f"### {seat.hook}\n")[2].partition("\n### ")[0]
    examples = blocks(section, "python")
    assert examples
    for example in examples:
        assert f"def {seat.hook}" in example
        ast.parse(example)


def test_every_specification_is_a_seat():
    specified = {name for specs in ALL_SPECS for name in vars(specs) if name.startswith("cloxy_")}
    assert specified == {seat.hook for seat in SEATS}


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_its_heading(name):
    assert f"cloxy {name}" in headings(text_of("reference/cli.md"))


def test_quick_start_is_two_lines_that_need_only_python():
    first, second = blocks((ROOT / "README.md").read_text(encoding="utf-8"), "sh")[:2]
    start = "python3 -m venv .venv && .venv/bin/pip install . && .venv/bin/cloxy start\n"
    assert first == start
    tests = "python3 -m venv .venv && .venv/bin/pip install -e '.[dev]' && .venv/bin/pytest\n"
    assert second == tests


def test_gate_runs_the_readme_line():
    """The script's own way of finding the line finds exactly that line."""
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    function = script.partition("readme_block() {")[2].partition("\n}")[0]
    run = subprocess.run(
        ["bash", "-c", f"readme_block() {{{function}\n}}\nreadme_block 2"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert run.stdout == blocks((ROOT / "README.md").read_text(encoding="utf-8"), "sh")[1]


DAY_MS = 24 * 60 * 60 * 1000


class Context:
    """As much of a host as the example asks for."""

    def __init__(self, module, last_seen):
        self.settings = {module.DAYS: module.DAYS.default}
        self.clock = types.SimpleNamespace(now_ms=lambda: 100 * DAY_MS)
        self.last_seen = last_seen

    def service(self, port):
        assert port is MemoryReader
        return self

    async def projects(self):
        return [ProjectSummary("/p", 1, 1, 0, seen) for seen in self.last_seen]


@pytest.fixture
def example():
    code = blocks(text_of("plugins/write-a-plugin.md"), "python")[0]
    module = types.ModuleType("example_plugin")
    exec(compile(code, "write-a-plugin.md", "exec"), vars(module))
    return module


def test_example_package_ships_the_module_that_it_names():
    """Hatchling finds a folder by itself only if it has an `__init__.py`, which is not shown."""
    package = tomllib.loads(blocks(text_of("plugins/write-a-plugin.md"), "toml")[0])
    target = package["project"]["entry-points"]["cloxy.plugins"]["quiet"]
    shipped = package["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    assert shipped == [target.partition(".")[0]]


@pytest.mark.parametrize(
    ("last_seen", "severity"),
    [
        ([], "ok"),
        ([99 * DAY_MS], "ok"),
        ([50 * DAY_MS, 92 * DAY_MS], "warning"),
        ([None], "warning"),
    ],
)
def test_example_plugin_works(example, last_seen, severity):
    (record,) = example.cloxy_checks()
    assert isinstance(record, CheckProvider)
    check = record.create(Context(example, last_seen))
    (finding,) = asyncio.run(check.run())
    assert finding.severity == severity


def test_example_setting_refuses_nonsense(example):
    (setting,) = example.cloxy_settings()
    assert setting.parse(" 3 ") == 3
    for text in ("0", "-1", "soon", "", "1.5"):
        with pytest.raises(ValueError, match="a whole number of days"):
            setting.parse(text)
