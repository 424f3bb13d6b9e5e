"""Unpacking piece by piece, wherever the pieces are cut."""

import contextlib
import gzip
import itertools
import zlib

import brotli
import pytest
from backports import zstd
from hypothesis import given
from hypothesis import strategies as st

from cloxy_hookspecs import FetchError
from cloxy_plugins.web.unpacking import PIECE, Unpacking


def raw(data):
    pack = zlib.compressobj(6, zlib.DEFLATED, -15)
    return pack.compress(data) + pack.flush()


PACKERS = {
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "deflate": zlib.compress,
    " Deflate ": raw,
    "br": brotli.compress,
    "zstd": zstd.compress,
    "identity": bytes,
    "gzip, deflate": lambda data: zlib.compress(gzip.compress(data)),
}
CUTS = st.lists(st.integers(0, 400), max_size=6)
DATA = st.one_of(st.binary(max_size=300), st.binary(max_size=20).map(lambda part: part * 20_000))


def unpacked(way, data, cuts=()):
    """All that becomes of data that comes in pieces."""
    unpacking = Unpacking([way])
    ends = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    found = b""
    for start, end in itertools.pairwise(ends):
        for piece in unpacking.feed(data[start:end]):
            assert len(piece) <= (2 * PIECE if way != "identity" else len(data))
            found += piece
    unpacking.finish()
    return found


@given(st.sampled_from(sorted(PACKERS)), DATA, CUTS)
def test_pieces_make_the_whole(way, data, cuts):
    assert unpacked(way, PACKERS[way](data), cuts) == data


@given(DATA, DATA, CUTS)
def test_members_one_after_the_other(first, second, cuts):
    assert unpacked("gzip", gzip.compress(first) + gzip.compress(second), cuts) == first + second
    assert unpacked("zstd", zstd.compress(first) + zstd.compress(second), cuts) == first + second


@given(st.sampled_from([b"\0" * 512, b"junk", b"\x1f"]), CUTS)
def test_what_stands_behind_gzip_is_no_part_of_it(behind, cuts):
    assert unpacked("gzip", gzip.compress(b"text") + behind, cuts) == b"text"


@given(
    st.sampled_from(sorted(set(PACKERS) - {"identity"})),
    st.binary(min_size=30, max_size=300),
    st.data(),
)
def test_what_is_cut_is_never_taken_for_the_whole(way, data, draw):
    packed = PACKERS[way](data)
    end = draw.draw(st.integers(1, len(packed) - 1))
    try:
        found = unpacked(way, packed[:end])
    except FetchError:
        return
    assert found == data, "only what checks the data may be missing"


@given(st.sampled_from(sorted(set(PACKERS) - {"identity"})), st.binary(max_size=200))
def test_any_bytes_are_unpacked_or_one_clean_error(way, data):
    with contextlib.suppress(FetchError):
        unpacked(way, data)


def test_nothing_is_an_empty_page():
    assert unpacked("gzip", b"") == b""


@pytest.mark.parametrize("ways", [["gzip"] * 6, ["gzip, gzip, gzip", "gzip,gzip,gzip"]])
def test_too_many_ways(ways):
    with pytest.raises(FetchError, match="more often"):
        Unpacking(ways)


@pytest.mark.parametrize("way", ["exotic", "gzip, exotic", "gzip;q=1", "g zip"])
def test_unknown_way(way):
    with pytest.raises(FetchError, match="not known"):
        Unpacking([way])


def test_window_of_zstd_is_bounded():
    options = {zstd.CompressionParameter.window_log: 27, zstd.CompressionParameter.checksum_flag: 1}
    pack = zstd.ZstdCompressor(options=options)
    data = pack.compress(bytes(1 << 20)) + pack.flush()
    with pytest.raises(FetchError):
        unpacked("zstd", data)
