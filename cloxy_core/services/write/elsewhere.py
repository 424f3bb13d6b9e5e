"""Files beside the database that may hold what is to be forgotten."""

from dataclasses import dataclass
from typing import Protocol

from cloxy_core.services.write.forgetting import Traces
from cloxy_hookspecs import StillHeld


@dataclass(frozen=True, slots=True)
class Cleaned:
    """What was done to them.

    Attributes:
        rewritten: how many copies made by Cloxy itself do not hold it any more.
        removed: such copies that had to be removed.
        still_in: files that hold it and are not Cloxy's to change.
    """

    rewritten: int = 0
    removed: tuple[str, ...] = ()
    still_in: tuple[StillHeld, ...] = ()


class Elsewhere(Protocol):
    """Takes what is to be forgotten out of every other file."""

    async def clean(self, traces: Traces) -> Cleaned:
        """Clean what is Cloxy's own, and name the rest.

        Raises:
            StoreFullError: there is too little room; nothing was forgotten yet.
        """
        ...

    async def still_in(self, traces: Traces) -> tuple[StillHeld, ...]:
        """The copies that a person made, as far as they hold it; for when it is forgotten.

        One that was being made while it was forgotten is known only now.
        """
        ...
