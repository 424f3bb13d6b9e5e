"""The key: how it may be sent, how it is compared, what wrong ones cost."""

import math
from collections.abc import Callable
from hmac import compare_digest

from cloxy_core.surfaces.http.boundary_replies import UNAUTHORIZED, Refusal, too_many_attempts
from cloxy_core.surfaces.http.boundary_rules import OWNER_HEADER_NAME, Head

FREE_FAILURES = 20
RECOVERY_SECONDS = 1.0
_MOST_FAILURES = FREE_FAILURES + 59.0
_BEARER = b"bearer "
_BLANKS = b" \t"


def given_keys(head: Head) -> list[bytes]:
    """Return every key a request carries; another scheme than Bearer gives an empty one.

    Keys in the query string are not looked for: they end up in logs and histories.
    """
    keys = [value.strip(_BLANKS) for value in head.all(b"x-api-key")]
    for value in head.all(b"authorization"):
        is_bearer = value[: len(_BEARER)].lower() == _BEARER
        keys.append(value[len(_BEARER) :].strip(_BLANKS) if is_bearer else b"")
    return keys


class KeyGate:
    """Compares keys, and slows down whoever guesses.

    The right key is always answered at once: otherwise anybody on the machine could lock
    the owner out by sending wrong ones. What stops guessing is the length of the key; the
    back-off makes guessing visible and tells an ill-configured client to stop.
    """

    def __init__(
        self,
        api_key: str | None,
        clock: Callable[[], float],
        owner_token: str | None = None,
    ) -> None:
        """Take the key, a monotonic clock in seconds, and the token of the data directory."""
        self._key = None if api_key is None else api_key.encode()
        self._token = None if owner_token is None else owner_token.encode()
        self._clock = clock
        self._failures = 0.0
        self._since = clock()

    def admits(self, head: Head) -> bool:
        """Tell whether a request may see data; a wrong key is counted.

        Without a configured key everybody may.
        """
        if self._key is None:
            return True
        keys = given_keys(head)
        if not keys:
            return False
        # No early end: the time must not tell which of several keys was right.
        matches = [compare_digest(key, self._key) for key in keys]
        if all(matches):
            return True
        self._count_failure()
        return False

    def is_owner(self, head: Head, *, admitted: bool) -> bool:
        """Tell whether the sender proves to be the owner of the data.

        The token of the data directory proves it, or the key where one is set. A token that is
        sent must be right, whatever else is; a wrong one is counted like a wrong key.

        Args:
            head: The request.
            admitted: What `admits` said.
        """
        tokens = head.all(OWNER_HEADER_NAME)
        if not tokens:
            return admitted and self._key is not None
        if self._token is None:
            return False
        matches = [compare_digest(token, self._token) for token in tokens]
        if all(matches):
            return True
        self._count_failure()
        return False

    def refusal(self, head: Head) -> Refusal:
        """Return the answer to a request that was not admitted."""
        excess = self._failures - FREE_FAILURES
        if excess <= 0 or not given_keys(head):
            return UNAUTHORIZED
        # The next wrong key counts as well, so it is let in one step later.
        return too_many_attempts(math.ceil((excess + 1) * RECOVERY_SECONDS))

    def _count_failure(self) -> None:
        now = self._clock()
        recovered = (now - self._since) / RECOVERY_SECONDS
        self._since = now
        # Bounded above, or a flood would make the announced wait longer and longer.
        self._failures = min(_MOST_FAILURES, max(0.0, self._failures - recovered) + 1.0)
