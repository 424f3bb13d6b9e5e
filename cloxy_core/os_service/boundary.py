"""The one place where programs of the operating system are run, and what is known of it."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol

from cloxy_core.client_config import ClientError

SECONDS: Final = 60.0
NOT_FOUND: Final = 127
TOO_SLOW: Final = 124
# Of the Windows headers: a console program that opens no window.
_NO_WINDOW: Final = 0x08000000


class ServiceError(ClientError):
    """A service manager refused, or is not there."""

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message, code="service", hint=hint)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a program ended.

    Attributes:
        code: exit code; 127 when there is no such program, 124 when it took too long.
        output: what it printed, on both streams.
    """

    code: int
    output: str = ""


class Runner(Protocol):
    """Runs programs; a test records them instead."""

    def run(self, command: Sequence[str]) -> Outcome:
        """Run one program to its end, without a shell and without input."""
        ...


class SystemRunner:
    """Runs programs of this machine."""

    def run(self, command: Sequence[str]) -> Outcome:
        """Run one program to its end, without a shell, input or window."""
        try:
            done = subprocess.run(  # noqa: S603 - no shell, and the words are our own
                list(command),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=SECONDS,
                check=False,
                creationflags=_NO_WINDOW if sys.platform == "win32" else 0,
            )
        except FileNotFoundError:
            return Outcome(NOT_FOUND, f"{command[0]} is not on this machine")
        except subprocess.TimeoutExpired:
            return Outcome(TOO_SLOW, f"no end within {SECONDS:g} seconds")
        except OSError as error:
            return Outcome(NOT_FOUND, f"{command[0]} cannot be run: {error.strerror}")
        return Outcome(done.returncode, done.stdout.decode("utf-8", "replace").strip())


@dataclass(frozen=True, slots=True)
class Machine:
    """What the definitions depend on.

    Attributes:
        platform: as `sys.platform` has it.
        home: home directory.
        environ: environment variables.
        uid: user id; 0 where there is none.
        python: the interpreter that runs Cloxy, absolute.
        runner: runs programs.
    """

    platform: str
    home: Path
    environ: Mapping[str, str]
    uid: int
    python: Path
    runner: Runner = field(default_factory=SystemRunner)

    @classmethod
    def here(cls) -> "Machine":
        """This machine.

        Raises:
            ServiceError: the home directory is unknown.
        """
        try:
            home = Path.home()
        except RuntimeError as error:
            raise ServiceError("the home directory is not known", hint="set HOME") from error
        return cls(
            platform=sys.platform,
            home=home,
            environ=dict(os.environ),
            uid=os.getuid() if hasattr(os, "getuid") else 0,
            # Links stay: the interpreter of a virtual environment is one.
            python=Path(os.path.abspath(sys.executable)),  # noqa: PTH100 - resolve() follows links
        )
