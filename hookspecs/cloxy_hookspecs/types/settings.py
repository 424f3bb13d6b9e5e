"""Settings as data."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting(Generic[T_co]):
    """One setting, declared once.

    Attributes:
        name: dotted name, `group.key`; `[group] key` in config.toml.
        default: value when nobody sets it.
        parse: text from the environment or the command line to a value; raises ValueError with
            words that say what is wanted.
        help: one line for the documentation.
        env: environment variable; by default `CLOXY_<GROUP>_<KEY>`.
        secret: whether the value is masked wherever it is shown.
        restart: whether a change needs a restart of the server.
        empty_is_value: whether the empty string differs from "not set".
    """

    name: str
    default: T_co
    parse: Callable[[str], T_co]
    help: str
    env: str = ""
    secret: bool = False
    restart: bool = True
    empty_is_value: bool = False

    @property
    def variable(self) -> str:
        """The environment variable of this setting."""
        return self.env or "CLOXY_" + self.name.replace(".", "_").replace("-", "_").upper()
