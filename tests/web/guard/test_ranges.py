"""Which IP addresses are public, at the edges of every range, and in every disguise of IPv4."""

import re
from ipaddress import IPv4Address, IPv6Address, ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cloxy_plugins.web import ranges
from cloxy_plugins.web.ranges import judge

# First and last of each block, and its neighbours outside; None where a neighbour is in no block.
BLOCKS = {
    "0.0.0.0/8": (None, "1.0.0.0"),
    "10.0.0.0/8": ("9.255.255.255", "11.0.0.0"),
    "100.64.0.0/10": ("100.63.255.255", "100.128.0.0"),
    "127.0.0.0/8": ("126.255.255.255", "128.0.0.0"),
    "169.254.0.0/16": ("169.253.255.255", "169.255.0.0"),
    "172.16.0.0/12": ("172.15.255.255", "172.32.0.0"),
    "192.0.0.0/24": ("191.255.255.255", "192.0.1.0"),
    "192.0.2.0/24": ("192.0.1.255", "192.0.3.0"),
    "192.31.196.0/24": ("192.31.195.255", "192.31.197.0"),
    "192.52.193.0/24": ("192.52.192.255", "192.52.194.0"),
    "192.88.99.0/24": ("192.88.98.255", "192.88.100.0"),
    "192.168.0.0/16": ("192.167.255.255", "192.169.0.0"),
    "192.175.48.0/24": ("192.175.47.255", "192.175.49.0"),
    "198.18.0.0/15": ("198.17.255.255", "198.20.0.0"),
    "198.51.100.0/24": ("198.51.99.255", "198.51.101.0"),
    "203.0.113.0/24": ("203.0.112.255", "203.0.114.0"),
    "224.0.0.0/4": ("223.255.255.255", None),
    "240.0.0.0/4": (None, None),
    "::/3": (None, None),
    "2001::/23": (None, "2001:200::"),
    "2001:db8::/32": ("2001:db7:ffff:ffff:ffff:ffff:ffff:ffff", "2001:db9::"),
    "2002::/16": (None, "2003::"),
    "2620:4f:8000::/48": ("2620:4f:7fff:ffff:ffff:ffff:ffff:ffff", "2620:4f:8001::"),
    "3fff::/20": ("3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff", None),
    "4000::/2": (None, None),
    "8000::/1": (None, None),
    "fc00::/7": (None, None),
    "fe80::/10": (None, None),
    "fec0::/10": (None, None),
    "ff00::/8": (None, None),
}
EDGES = [
    (text, outside)
    for block, neighbours in BLOCKS.items()
    for text, outside in (
        (str(ip_network(block)[0]), False),
        (str(ip_network(block)[-1]), False),
        *((each, True) for each in neighbours if each is not None),
    )
]


@pytest.mark.parametrize(("address", "is_public"), EDGES)
def test_edges_of_every_block(address, is_public):
    assert (judge(address, []) is None) == is_public


@pytest.mark.parametrize("address", [text for text, is_public in EDGES if not is_public])
def test_the_table_needs_no_help_of_the_standard_library(address, monkeypatch):
    for kind in (IPv4Address, IPv6Address):
        monkeypatch.setattr(kind, "is_global", True)
    assert judge(address, []) is not None


@pytest.mark.parametrize(
    "address", ["9.9.9.9", "1.1.1.1", "2606:2800::1", "2a00:1450::1", "64:ff9b::9.9.9.9"]
)
def test_public_addresses(address):
    assert judge(address, []) is None


@pytest.mark.parametrize(
    "address",
    [
        "100.100.100.200", "168.63.129.16", "169.254.169.254", "169.254.170.2", "192.0.0.192",
        "169.254.0.23", "169.254.169.253", "fd00:ec2::254", "fd20:ce::254", "fd00:42::42",
        "fd00:a9fe:a9fe::1", "fe80::a9fe:a9fe", "::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe",
        "2002:a9fe:a9fe::1", "::169.254.169.254", "fe80::5efe:a9fe:a9fe",
    ],
)  # fmt: skip
def test_where_clouds_keep_their_secrets(address):
    assert judge(address, []) == "cloud-metadata"
    assert ranges.is_metadata(ranges.read(address))


@pytest.mark.parametrize("text", ["fe80::1%eth0", "2606:2800::1%lo", "", "shop.test", "127.1"])
def test_what_is_no_plain_address_is_not_public(text):
    assert judge(text, []) is not None


OWN = ["192.168.7.20/24", "85.10.200.7/28", "2a01:4f8:1:2::20/64"]


@pytest.mark.parametrize(
    "address",
    [
        "85.10.200.7", "85.10.200.1", "2a01:4f8:1:2::20", "2a01:4f8:1:2::99",
        "64:ff9b::85.10.200.7", "64:ff9b::85.10.200.1",
    ],
)  # fmt: skip
def test_neighbours_with_public_addresses_are_not_public(address):
    assert judge(address, OWN) == "own-network"
    assert judge(address, []) is None


@pytest.mark.parametrize("address", ["85.10.200.16", "2a01:4f8:1:3::20", "64:ff9b::85.10.200.16"])
def test_behind_the_own_network_begins_the_public_one(address):
    assert judge(address, OWN) is None


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "127.9.9.9", "::1", "::", "0.0.0.0", "85.10.200.7", "::ffff:85.10.200.7",
     "64:ff9b::85.10.200.7", "2a01:4f8:1:2::20", "::ffff:127.0.0.1"],
)  # fmt: skip
def test_this_machine(address):
    assert ranges.is_own(address, OWN)


@pytest.mark.parametrize("address", ["85.10.200.8", "9.9.9.9", "2a01:4f8:1:2::21", "no address"])
def test_other_machines(address):
    assert not ranges.is_own(address, OWN)


def _low(prefix):
    return lambda number: IPv6Address(int(IPv6Address(prefix)) | number)


DISGUISES = {
    "mapped": _low("::ffff:0:0"),
    "compatible": _low("::"),
    "translated": _low("::ffff:0:0:0"),
    "nat64": _low("64:ff9b::"),
    "nat64-local": _low("64:ff9b:1::"),
    "6to4": lambda number: IPv6Address((0x2002 << 112) | (number << 80) | 1),
    "teredo": lambda number: IPv6Address((0x20010000 << 96) | (number ^ 0xFFFFFFFF)),
    "teredo-server": lambda number: IPv6Address((0x20010000 << 96) | (number << 64)),
    "isatap": _low("fe80::5efe:0:0"),
    "isatap-global": _low("2606:2800:0:1:0:5efe:0:0"),
    "isatap-universal": _low("2606:2800:0:1:200:5efe:0:0"),
}
PRIVATE_V4 = st.sampled_from(
    ["127.0.0.0/8", "10.0.0.0/8", "192.168.0.0/16", "172.16.0.0/12", "169.254.0.0/16",
     "100.64.0.0/10", "0.0.0.0/8", "224.0.0.0/4"],
).flatmap(lambda network: st.ip_addresses(v=4, network=network))  # fmt: skip
OWN_V4 = st.ip_addresses(v=4, network="85.10.200.0/28")


@given(st.one_of(PRIVATE_V4, OWN_V4), st.sampled_from(sorted(DISGUISES)))
def test_private_ipv4_is_never_public_in_disguise(address, disguise):
    assert judge(str(DISGUISES[disguise](int(address))), OWN) is not None


@given(st.ip_addresses(v=4), st.sampled_from(sorted(set(DISGUISES) - {"nat64"})))
def test_only_nat64_and_isatap_may_hide_a_public_address(address, disguise):
    if not disguise.startswith("isatap-"):
        assert judge(str(DISGUISES[disguise](int(address))), []) is not None


@given(st.ip_addresses(v=4))
def test_nat64_is_judged_like_what_it_holds(address):
    assert judge(str(DISGUISES["nat64"](int(address))), OWN) == judge(str(address), OWN)


@given(st.ip_addresses())
def test_public_means_global_to_the_standard_library_too(address):
    if judge(str(address), []) is None:
        inside = ranges.inner(address)
        assert address.is_global or IPv4Address(inside).is_global
        assert not address.is_private or inside is not None


def test_table_is_dated_and_in_order():
    assert re.fullmatch(r"20[0-9]{2}-(0[1-9]|1[0-2])", ranges.REGISTRY)
    for table in (ranges._V4, ranges._V6):
        blocks = [network for network, _reason in table]
        assert len(set(blocks)) == len(blocks)


def test_the_standard_library_knows_no_block_that_the_table_lacks():
    """Its tables are made from the same registries: one that is new there is missing here."""
    known = [*IPv4Address._constants._private_networks, *IPv6Address._constants._private_networks]
    assert len(known) > 20
    for network in known:
        for address in (network[0], network[-1]):
            assert judge(str(address), []) is not None, network
            table = ranges._V4 if network.version == 4 else ranges._V6
            assert any(address in block for block, _reason in table) or (
                network.version == 6 and address not in ranges._GLOBAL_UNICAST
            ), f"{network} is in no table of ours"
