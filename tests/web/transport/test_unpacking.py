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
from cloxy_plugins.web import unpacking_brotli
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


# Brotli with a window of 1 GiB (RFC 9841), as the library's encoder makes it at quality 5: a short
# text 100 times, and 64 MiB of zeros.
LARGE_TEXT = bytes.fromhex("115e8c1a001070c89146d032cb8343b9093a862545c70a2fbd227a2ee6671201")
LARGE_ZEROS = bytes.fromhex(
    "111effffff01900088c70221f7fe9fffffff004800c46101a07bffcfffff7f002400e2b000d0bdffe7ffff3f001200"
    "715800e8deff0f"
)


@given(CUTS)
def test_brotli_with_a_large_window(cuts):
    assert unpacked("br", LARGE_TEXT, cuts) == b"<p>plain text</p>" * 100
    assert unpacked("gzip, br", brotli.compress(gzip.compress(b"text")), cuts) == b"text"


def test_brotli_with_a_large_window_that_is_cut_or_goes_on_is_an_error():
    for end in range(1, len(LARGE_TEXT)):
        with pytest.raises(FetchError):
            unpacked("br", LARGE_TEXT[:end])
    with pytest.raises(FetchError):
        unpacked("br", LARGE_TEXT + b"more")


def test_window_of_brotli_does_not_grow_without_end():
    """Those zeros may be packed themselves, and become nothing: nobody else would count them."""
    unpacking = Unpacking(["br"])
    found = 0
    with pytest.raises(FetchError):
        for piece in unpacking.feed(LARGE_ZEROS):
            found += len(piece)
    assert 500_000 < found <= 8 * 1024 * 1024


def test_brotli_with_a_large_window_where_the_library_does_not_show_its_functions(monkeypatch):
    unpacking_brotli._library.cache_clear()
    monkeypatch.setattr(unpacking_brotli, "_NATIVE", "zlib")
    with pytest.raises(FetchError, match="not packed in the way"):
        unpacked("br", LARGE_TEXT)
    assert unpacked("br", brotli.compress(b"text")) == b"text"


def frame(data, told, *, flag, single=True, checksum=False):
    """A frame of Zstandard, made anew around its blocks, with a header that says what we want."""
    pack = zstd.ZstdCompressor(options={zstd.CompressionParameter.checksum_flag: int(checksum)})
    plain = pack.compress(data) + pack.flush()
    assert plain[4] & 0b1110_0011 == 0, "window, no size, no dictionary"
    size = (1, 2, 4, 8)[flag] if single or flag else 0
    written = (told - 256 if flag == 1 else told).to_bytes(8, "little")[:size]
    descriptor = plain[4] | flag << 6 | single << 5
    window = b"" if single else plain[5:6]
    return plain[:4] + bytes([descriptor]) + window + written + plain[6:]


@given(
    st.sampled_from([(0, 10), (1, 300), (1, 65_000), (2, 10), (2, 1 << 31), (3, 10), (3, 1 << 60)]),
    st.booleans(),
    st.booleans(),
    DATA,
    CUTS,
)
def test_size_that_a_frame_of_zstd_tells_is_not_believed(told, single, checksum, data, cuts):
    flag, size = told
    lying = frame(data, size, flag=flag, single=single, checksum=checksum)
    assert unpacked("zstd", lying + zstd.compress(b"more"), cuts) == data + b"more"


def test_header_of_zstd_in_single_bytes():
    packed = zstd.compress(b"text" * 100)
    assert unpacked("zstd", packed, range(1, 12)) == b"text" * 100


def test_dictionary_of_zstd_is_still_asked_for():
    words = zstd.ZstdDict(b"the words of a dictionary " * 20, is_raw=True)
    packed = zstd.compress(b"text", zstd_dict=words)
    named = packed[:4] + bytes([packed[4] | 0b01]) + b"\x07" + packed[5:]
    with pytest.raises(FetchError):
        unpacked("zstd", named)


def test_window_of_zstd_is_bounded():
    options = {zstd.CompressionParameter.window_log: 27, zstd.CompressionParameter.checksum_flag: 1}
    pack = zstd.ZstdCompressor(options=options)
    data = pack.compress(bytes(1 << 20)) + pack.flush()
    with pytest.raises(FetchError):
        unpacked("zstd", data)
