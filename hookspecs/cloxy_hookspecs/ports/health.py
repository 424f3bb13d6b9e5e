"""Asking how the server is."""

from collections.abc import Mapping
from typing import Protocol


class HealthReader(Protocol):
    """Tells how the server is."""

    async def report(self) -> Mapping[str, object]:
        """What `GET /health` says to those who may see data: a JSON object."""
        ...
