"""What a plugin's source file tells without being run."""

import ast
import sys
from collections.abc import Sequence
from functools import partial
from importlib.machinery import ModuleSpec
from pathlib import Path

from cloxy_core.kernel.containment import Failure, contained


def locate(target: str) -> str:
    """File of the module that an entry point names, found without running any code of it.

    Args:
        target: `module` or `module:attribute`, or the path of a file.

    Returns:
        The path; empty when it cannot be found in this way.
    """
    if target.endswith(".py"):
        return target
    folders: Sequence[str] | None = None
    parts = target.partition(":")[0].strip().split(".")
    for depth in range(1, len(parts) + 1):
        spec = _find(".".join(parts[:depth]), folders)
        if spec is None:
            return ""
        folders = spec.submodule_search_locations
        if depth == len(parts):
            return spec.origin or ""
        if folders is None:
            return ""
    return ""


def _find(name: str, folders: Sequence[str] | None) -> ModuleSpec | None:
    """Ask the finders themselves: importlib's own function would import the parent package."""
    for finder in sys.meta_path:
        find_spec = getattr(finder, "find_spec", None)
        if find_spec is None:
            continue
        found = contained(partial(find_spec, name, folders))
        if not isinstance(found, Failure) and isinstance(found.value, ModuleSpec):
            return found.value
    return None


def summary_of(file: str) -> str:
    """First line of a module's docstring; empty when there is none or the file is unreadable.

    Args:
        file: path of the source file, or empty.
    """
    if not file.endswith(".py"):
        return ""
    read = contained(Path(file).read_bytes)
    return "" if isinstance(read, Failure) else first_line(read.value)


def first_line(source: bytes) -> str:
    """First line of the docstring in a module's source; empty when there is none.

    Args:
        source: a Python file; one that cannot be parsed has none.
    """
    try:
        docstring = ast.get_docstring(ast.parse(source))
    except (SyntaxError, ValueError, RecursionError):  # loading it will say so
        return ""
    return docstring.splitlines()[0] if docstring else ""
