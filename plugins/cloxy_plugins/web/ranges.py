"""Which IP addresses are positively public.

From the special-purpose registries of IANA, IPv4 and IPv6 (RFC 6890 and its updates), as of
`REGISTRY`. Beside the table, the standard library must call an address global, too: its own table
changes between patch releases, ours between releases of Cloxy.
"""

from collections.abc import Sequence
from functools import lru_cache
from ipaddress import (
    IPv4Address,
    IPv4Interface,
    IPv4Network,
    IPv6Address,
    IPv6Interface,
    IPv6Network,
    ip_address,
    ip_interface,
    ip_network,
)
from typing import Final, Literal, TypeAlias

REGISTRY: Final = "2026-11"

Reason = Literal[
    "6to4",
    "cgnat",
    "cloud-metadata",
    "ipv4-compatible",
    "ipv4-mapped",
    "link-local",
    "loopback",
    "multicast",
    "not-global-unicast",
    "own-network",
    "private",
    "reserved",
    "site-local",
    "special-purpose",
    "teredo-or-ietf",
    "unspecified",
    "zone-id",
]
AnyAddress: TypeAlias = IPv4Address | IPv6Address
AnyInterface: TypeAlias = IPv4Interface | IPv6Interface

METADATA: Final = tuple(
    map(
        ip_network,
        (
            "100.100.100.200/32",  # Alibaba
            "168.63.129.16/32",  # Azure
            "169.254.0.23/32",  # Tencent
            "169.254.169.0/24",  # nearly everybody; name servers and clocks of theirs beside it
            "169.254.170.0/24",  # AWS, containers
            "192.0.0.192/32",  # Oracle
            "fd00:42::42/128",  # Scaleway
            "fd00:a9fe:a9fe::1/128",  # Linode
            "fd00:ec2::/32",  # AWS
            "fd20:ce::254/128",  # Google
            "fe80::a9fe:a9fe/128",  # OpenStack
        ),
    )
)
"""Where a machine in a cloud is told its own secrets."""

PRIVATE: Final[frozenset[Reason]] = frozenset(
    {"cgnat", "link-local", "loopback", "own-network", "private", "site-local"}
)
"""Reasons that somebody may lift for networks of their own."""

_V4_TABLE: Final[tuple[tuple[str, Reason], ...]] = (
    ("0.0.0.0/8", "unspecified"),
    ("10.0.0.0/8", "private"),
    ("100.64.0.0/10", "cgnat"),
    ("127.0.0.0/8", "loopback"),
    ("169.254.0.0/16", "link-local"),
    ("172.16.0.0/12", "private"),
    ("192.0.0.0/24", "special-purpose"),
    ("192.0.2.0/24", "special-purpose"),
    ("192.31.196.0/24", "special-purpose"),
    ("192.52.193.0/24", "special-purpose"),
    ("192.88.99.0/24", "special-purpose"),
    ("192.168.0.0/16", "private"),
    ("192.175.48.0/24", "special-purpose"),
    ("198.18.0.0/15", "special-purpose"),
    ("198.51.100.0/24", "special-purpose"),
    ("203.0.113.0/24", "special-purpose"),
    ("224.0.0.0/4", "multicast"),
    ("240.0.0.0/4", "reserved"),
)
_V6_TABLE: Final[tuple[tuple[str, Reason], ...]] = (
    ("::/128", "unspecified"),
    ("::1/128", "loopback"),
    ("::/96", "ipv4-compatible"),
    ("::ffff:0:0/96", "ipv4-mapped"),
    ("2001::/23", "teredo-or-ietf"),
    ("2001:db8::/32", "special-purpose"),
    ("2002::/16", "6to4"),
    ("2620:4f:8000::/48", "special-purpose"),
    ("3fff::/20", "special-purpose"),
    ("fc00::/7", "private"),
    ("fe80::/10", "link-local"),
    ("fec0::/10", "site-local"),
    ("ff00::/8", "multicast"),
)
_V4: Final[tuple[tuple[IPv4Network, Reason], ...]] = tuple(
    (IPv4Network(network), reason) for network, reason in _V4_TABLE
)
_V6: Final[tuple[tuple[IPv6Network, Reason], ...]] = tuple(
    (IPv6Network(network), reason) for network, reason in _V6_TABLE
)
_GLOBAL_UNICAST: Final = IPv6Network("2000::/3")
_COMPATIBLE: Final = IPv6Network("::/96")
_NAT64: Final = IPv6Network("64:ff9b::/96")
_LOW_32: Final = 0xFFFF_FFFF
_ISATAP: Final = frozenset({0x0000_5EFE, 0x0200_5EFE})


def read(text: str) -> AnyAddress | None:
    """The address of a lookup's answer; None for one with a zone, or that is none."""
    try:
        address = ip_address(text)
    except ValueError:
        return None
    return None if isinstance(address, IPv6Address) and address.scope_id else address


def inner(address: AnyAddress) -> IPv4Address | None:
    """The IPv4 address inside of an IPv6 one, in whichever of its forms; None for none."""
    if isinstance(address, IPv4Address):
        return None
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address.sixtofour is not None:
        return address.sixtofour
    if address.teredo is not None:
        return address.teredo[1]
    number = int(address)
    low = IPv4Address(number & _LOW_32)
    if address in _NAT64 or address in _COMPATIBLE or (number >> 32) & _LOW_32 in _ISATAP:
        return low
    return None


def is_metadata(address: AnyAddress) -> bool:
    """Whether a cloud tells its secrets there, in whichever spelling."""
    hidden = inner(address)
    return any(
        each in network
        for each in (address, hidden)
        if each is not None
        for network in METADATA
        if network.version == each.version
    )


def judge(text: str, own: Sequence[str]) -> Reason | None:
    """Why an address is not public; None when it is.

    Args:
        text: an answer of a lookup, or a literal.
        own: interfaces of this machine, `address/prefix`.
    """
    address = read(text)
    if address is None:
        return "zone-id"
    if is_metadata(address):
        return "cloud-metadata"
    reason = _judge_v4(address) if isinstance(address, IPv4Address) else _judge_v6(address)
    if reason is not None:
        return reason
    # A neighbour may be written as the IPv6 form of its IPv4 address.
    each = (address, inner(address))
    return "own-network" if any(a is not None and _is_near(a, own) for a in each) else None


def is_own(text: str, own: Sequence[str]) -> bool:
    """Whether an address is this very machine."""
    address = read(text)
    if address is None:
        return False
    hidden = inner(address)
    return any(
        each.is_loopback or each.is_unspecified or any(each == i.ip for i in _interfaces(own))
        for each in (address, hidden)
        if each is not None
    )


def _judge_v4(address: IPv4Address) -> Reason | None:
    found: Reason | None = next((reason for network, reason in _V4 if address in network), None)
    return found or (None if address.is_global else "special-purpose")


def _judge_v6(address: IPv6Address) -> Reason | None:
    if address in _NAT64:
        # A machine in a network of IPv6 alone gets these for every site of IPv4.
        return _judge_v4(IPv4Address(int(address) & _LOW_32))
    found: Reason | None = next((reason for network, reason in _V6 if address in network), None)
    if found is not None:
        return found
    if address not in _GLOBAL_UNICAST or not address.is_global:
        return "not-global-unicast"
    hidden = inner(address)
    return None if hidden is None else _judge_v4(hidden)


def _is_near(address: AnyAddress, own: Sequence[str]) -> bool:
    return any(
        interface.version == address.version and address in interface.network
        for interface in _interfaces(own)
    )


def _interfaces(own: Sequence[str]) -> tuple[AnyInterface, ...]:
    return _read_interfaces(tuple(own))


@lru_cache(maxsize=4)
def _read_interfaces(own: tuple[str, ...]) -> tuple[AnyInterface, ...]:
    return tuple(map(ip_interface, own))
