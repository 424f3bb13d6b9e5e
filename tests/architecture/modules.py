"""The source tree as the architecture tests see it."""

import ast
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE_ROOTS = {
    "cloxy_core": ROOT,
    "cloxy_hookspecs": ROOT / "hookspecs",
    "cloxy_plugins": ROOT / "plugins",
    "cloxy_templates": ROOT / "templates",
}
PLUGINS = ROOT / "plugins" / "cloxy_plugins"


@dataclass(frozen=True, slots=True)
class Import:
    """One import statement's target, and whether it stands inside a function."""

    target: str
    line: int
    inside: str | None


def source_files(package):
    root = SOURCE_ROOTS[package]
    return sorted(path for path in (root / package).rglob("*.py"))


def module_name(path):
    package = next(name for name, root in SOURCE_ROOTS.items() if path.is_relative_to(root / name))
    parts = path.relative_to(SOURCE_ROOTS[package]).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def all_modules():
    return [module_name(path) for package in SOURCE_ROOTS for path in source_files(package)]


def imports_of(path):
    """Imports that run (not those for type checkers), with the function that holds them."""
    collector = _Collector()
    collector.visit(ast.parse(path.read_text(encoding="utf-8"), str(path)))
    return collector.found


class _Collector(ast.NodeVisitor):
    def __init__(self):
        self.found = []
        self._functions = []

    def visit_FunctionDef(self, node):
        self._functions.append(node.name)
        self.generic_visit(node)
        self._functions.pop()

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_If(self, node):
        if ast.unparse(node.test) in {"TYPE_CHECKING", "typing.TYPE_CHECKING"}:
            for statement in node.orelse:
                self.visit(statement)
        else:
            self.generic_visit(node)

    def visit_Import(self, node):
        for name in node.names:
            self._add(name.name, node.lineno)

    def visit_ImportFrom(self, node):
        assert node.level == 0, "imports are absolute"
        self._add(node.module, node.lineno)

    def _add(self, target, line):
        self.found.append(Import(target, line, self._functions[0] if self._functions else None))
