"""What checks say when they find something, and when they cannot look."""

import asyncio
import logging

import pytest

from cloxy_core.services.health import Checks
from cloxy_hookspecs import Finding, IntegrityError, StoreBusyError


class Looking:
    def __init__(self, outcome):
        self.outcome = outcome

    async def run(self):
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome


@pytest.mark.parametrize(
    ("outcome", "severity", "healthy"),
    [
        ([Finding("ok", "well")], "ok", True),
        ([Finding("error", "broken")], "error", False),
        (StoreBusyError("busy"), "warning", True),
        (IntegrityError("damaged"), "error", False),
    ],
)
def test_only_damage_makes_it_unhealthy(outcome, severity, healthy):
    checks = Checks({"it": Looking(outcome)}, logging.getLogger("cloxy.test"))
    assert [row["severity"] for row in checks.results()] == ["unchecked"]
    asyncio.run(checks.run())
    assert [row["severity"] for row in checks.results()] == [severity]
    assert checks.healthy() is healthy
