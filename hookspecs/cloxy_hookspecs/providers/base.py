"""What every record has in common."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """A thing that a plugin brings.

    Attributes:
        name: `[a-z0-9-]`, unique within its seat.
        summary: one line, shown by `cloxy plugins info`.
        extra: pip extra to name when a dependency is missing.
        requires: ports that must be present, else the provider stays off.
    """

    name: str
    summary: str
    extra: str | None = None
    requires: tuple[type, ...] = ()
