"""Test classes whose providers are wrong, made from a conformance class and fixtures."""

import sys

import pytest


class Cases(dict):
    """Class name -> (its conformance class, the test that has to fail).

    Each file `broken_*.py` beside this one has one of these, called `CASES`.
    """

    def __init__(self, module, prefix):
        super().__init__()
        self._module = vars(sys.modules[module])
        self._prefix = f"Broken{prefix}"

    def add(self, conformance, test, provider, **fixtures):
        """Put a test class into the module whose provider breaks a test."""
        name = f"{self._prefix}{len(self) + 1:03}"
        given = {key: pytest.fixture(value) for key, value in fixtures.items()}
        given["provider"] = pytest.fixture(lambda self: provider)
        self._module[name] = type(name, (conformance,), given)
        self[name] = (conformance, test)
