"""Doors: how an operation is reached."""

from dataclasses import dataclass
from typing import Literal

Effect = Literal["read", "write", "admin"]


@dataclass(frozen=True, slots=True)
class Route:
    """A REST door.

    Attributes:
        method: HTTP method.
        path: path template; `{name}` binds a field of the input model.
        status: status of a success.
    """

    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
    path: str
    status: int = 200
