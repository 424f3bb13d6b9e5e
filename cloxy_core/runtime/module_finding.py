"""Finding a module by its name, or by its file where it has no name that could be found."""

import importlib
import importlib.util
import sys
from types import ModuleType


def found_module(name: str, file: str | None) -> ModuleType:
    """A module, imported.

    Args:
        name: its name.
        file: its file: a plugin that is one file cannot be found by its name.

    Raises:
        ImportError: it cannot be found, or cannot be imported.
    """
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name or file is None:
            raise
    return run_file(name, file)


def run_file(name: str, file: str) -> ModuleType:
    """A file, run as a module of a name.

    Raises:
        ImportError: it is not a Python file; else whatever the file raises.
    """
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise ImportError(f"{file} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module
