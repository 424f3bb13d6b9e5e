"""The guard: pages of the public web, and nothing else, unless its owner says so."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from cloxy_hookspecs import BlockedURLError, HostContext, Network, Target
from cloxy_plugins.web.ranges import PRIVATE, is_own, judge, read
from cloxy_plugins.web.settings import ALLOW_PRIVATE_URLS, ALLOWED_PRIVATE_HOSTS

PORTS: Final = frozenset({80, 443, 8080, 8443})
LOCAL_SUFFIXES: Final = (
    "corp",
    "home",
    "home.arpa",
    "internal",
    "intranet",
    "lan",
    "local",
    "localdomain",
    "localhost",
    "onion",
    "private",
)
MESSAGE: Final = "this address may not be read"
OPEN: Final = (
    "CLOXY_ALLOW_PRIVATE_URLS is on: whoever can ask this server, a page that a model reads among "
    "them, can read every private address that it can reach; unset it, or name single servers in "
    "CLOXY_ALLOWED_PRIVATE_HOSTS"
)
HINT: Final = (
    "only public addresses are read, at the ports 80, 443, 8080 and 8443; for a server of your "
    "own, set CLOXY_ALLOWED_PRIVATE_HOSTS=name:port where the Cloxy server runs"
)


@dataclass(frozen=True, slots=True)
class PublicWeb:
    """Refuses what is not positively public. Its words are the same whatever is there.

    Attributes:
        network: the machine's own addresses and port.
        allowed: `(host, port)` of servers that their owner wants to be read.
        allow_private: whether all private addresses may be read.
    """

    network: Network
    allowed: Collection[tuple[str, int]] = frozenset()
    allow_private: bool = False

    @property
    def policy(self) -> str:
        """Changes whenever verdicts may change."""
        return f"{self.allow_private}:{sorted(self.allowed)}:{sorted(self.network.own_networks())}"

    def check(self, target: Target) -> None:
        """Say nothing when this may be asked.

        Raises:
            BlockedURLError: it may not.
        """
        if self._refuses(target):
            raise BlockedURLError(MESSAGE, hint=HINT)

    def _refuses(self, target: Target) -> bool:
        own = self.network.own_networks()
        if target.port == self.network.own_port() and any(
            is_own(address, own) for address in target.addresses
        ):
            # Our own answers are no pages, whoever asks for them.
            return True
        reasons = {judge(address, own) for address in target.addresses} - {None}
        if self.allow_private or (target.host, target.port) in self.allowed:
            # Secrets of clouds, and what is no plain address, are in nobody's own network.
            return not reasons <= PRIVATE
        return bool(reasons) or target.port not in PORTS or _is_local_name(target)


def _is_local_name(target: Target) -> bool:
    if read(target.host) is not None:
        return False
    host = target.host
    return "." not in host or any(host.endswith(f".{suffix}") for suffix in LOCAL_SUFFIXES)


def create_guard(context: HostContext) -> PublicWeb:
    """Make the guard from the settings, and say at once how open it is."""
    guard = made(context)
    for warning in warnings(guard):
        context.log.warning("%s", warning)
    return guard


def made(context: HostContext) -> PublicWeb:
    """The guard that the settings make."""
    return PublicWeb(
        context.service(Network),
        frozenset(context.settings[ALLOWED_PRIVATE_HOSTS]),
        context.settings[ALLOW_PRIVATE_URLS],
    )


def warnings(guard: PublicWeb) -> Sequence[str]:
    """What its owner should not forget: each thing that is let through beside the public web."""
    found = [OPEN] if guard.allow_private else []
    pairs = ", ".join(f"{host}:{port}" for host, port in sorted(guard.allowed))
    return [*found, f"private servers that may be read: {pairs}"] if pairs else found
