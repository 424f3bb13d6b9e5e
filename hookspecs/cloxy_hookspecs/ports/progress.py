"""Telling whoever waits how far a long piece of work is."""

from typing import Protocol


class Progress(Protocol):
    """Reaches the door that called the operation, if it can show progress; else nothing happens."""

    def report(self, done: float, total: float | None = None, message: str = "") -> None:
        """Say how far it is; cheap, and never an error.

        Args:
            done: what is done, growing.
            total: all there is to do, in the same unit; None when nobody knows.
            message: a few words on what is going on, without quoted text.
        """
        ...
