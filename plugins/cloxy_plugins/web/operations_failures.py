"""Errors that say which page they are about."""

from collections.abc import Iterator
from contextlib import contextmanager

from cloxy_hookspecs import FetchError, InputError


class PageInputError(InputError):
    """What was asked of a page cannot be used.

    Attributes:
        url: address of the page, as it was asked for.
    """

    def __init__(self, error: InputError, url: str) -> None:
        """Say the same as another error, and which page it is about.

        Args:
            error: what is wrong.
            url: address of the page.
        """
        super().__init__(error.message, hint=error.hint)
        self.url = url


@contextmanager
def about(url: str) -> Iterator[None]:
    """Let errors of this block name the page.

    Raises:
        PageInputError: instead of an `InputError`.
        FetchError: as it came, with the address.
    """
    try:
        yield
    except FetchError as error:
        error.url = url
        raise
    except InputError as error:
        raise PageInputError(error, url) from error
