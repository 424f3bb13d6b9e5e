"""What the upgrade needs of layers above the store: cleaning, projects, and whom to tell."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

Cleaned = tuple[str, Mapping[str, int]]
"""A text as it may be stored, and how many secrets of each kind were taken out of it."""


@dataclass(frozen=True, slots=True)
class Helpers:
    """Functions that the upgrade calls.

    Attributes:
        clean: takes secrets, and characters that cannot be stored, out of a text.
        project_of: the project of a working directory.
        tell: is given sentences about how far it is.
    """

    clean: Callable[[str], Cleaned]
    project_of: Callable[[str], str]
    tell: Callable[[str], None]
