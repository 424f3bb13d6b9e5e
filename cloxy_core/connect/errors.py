"""What can go wrong while a client's configuration is read or changed."""

from cloxy_core.client_config import ClientError


class ConnectError(ClientError):
    """A client's configuration cannot be read or changed; it was left as it is."""

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message, code="connect", hint=hint)


class TextFault(Exception):
    """A text that is not what its format wants.

    Attributes:
        reason: what is wrong, without a place.
        line: line of the fault, from 1.
        column: character in that line, from 1.
    """

    def __init__(self, reason: str, line: int, column: int) -> None:
        super().__init__(f"line {line}, column {column}: {reason}")
        self.reason = reason
        self.line = line
        self.column = column
