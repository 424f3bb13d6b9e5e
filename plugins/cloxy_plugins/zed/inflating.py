"""Documents that are compressed with Zstandard, unpacked within bounds."""

from cloxy_hookspecs.logs.zstandard import TooLargeError, unpacked


def inflated(data: bytes, most: int) -> bytes:
    """A document unpacked, of one frame or several.

    Args:
        data: compressed bytes.
        most: bytes that it may have.

    Raises:
        ValueError: it is damaged, ends too early, or is larger; with a reason for people.
    """
    try:
        return b"".join(unpacked(data, most))
    except TooLargeError as error:
        raise ValueError(f"a thread unpacks to more than {most >> 20} MB") from error
    except ValueError as error:
        raise ValueError(f"a thread's compressed data {error}") from error
