"""The one way in which other programs are found and run."""

import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

_PATIENCE: Final = 60.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a program ended.

    Attributes:
        code: its exit code.
        text: what it said, both streams.
    """

    code: int
    text: str


class Commands(Protocol):
    """Finds and runs programs."""

    def find(self, name: str) -> str | None:
        """The whole path of a program; None when there is none."""
        ...

    def run(self, command: Sequence[str]) -> Outcome:
        """Run a program to its end."""
        ...


class SystemCommands:
    """The programs of this computer."""

    def find(self, name: str) -> str | None:
        """See Commands."""
        return shutil.which(name)

    def run(self, command: Sequence[str]) -> Outcome:
        """See Commands."""
        try:
            done = subprocess.run(  # noqa: S603 - a fixed program, and a list, so no shell
                list(command),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=_PATIENCE,
                check=False,
                env=dict(os.environ),
            )
        except subprocess.TimeoutExpired:
            return Outcome(-1, f"it did not end within {_PATIENCE:.0f} seconds")
        except OSError as error:
            return Outcome(-1, error.strerror or str(error))
        return Outcome(done.returncode, done.stdout.decode(errors="replace"))
