"""Data that is compressed with Zstandard: what comes of it, and the bounds that it has."""

import os
import subprocess
import sys

import pytest

from cloxy_hookspecs.logs.zstandard import TooLargeError, unpacked

try:
    from compression import zstd
except ImportError:
    from backports import zstd

MOST = 1 << 20


def whole(data, **more):
    return b"".join(unpacked(data, MOST, **more))


@pytest.mark.parametrize("piece", [1, 7, 1 << 20])
def test_several_frames_are_one_thing(piece):
    data = zstd.compress(b"one\n") + zstd.compress(b"") + zstd.compress(b"two")
    assert whole(data, piece=piece) == b"one\ntwo"
    assert max(map(len, unpacked(data, MOST, piece))) <= piece


def test_nothing_is_nothing():
    assert whole(b"") == b""


def test_what_unpacks_to_too_much_is_refused_before_it_fills_the_memory():
    bomb = zstd.compress(b"\n" * 50_000_000)
    assert len(bomb) < 10_000
    seen = 0
    with pytest.raises(TooLargeError, match="unpacks to more than 1,000,000 bytes"):
        for part in unpacked(bomb, 1_000_000, 1_000):
            seen += len(part)
    assert seen == 1_000_000
    assert len(b"".join(unpacked(zstd.compress(b"a" * 1_000), 1_000))) == 1_000


def test_a_window_that_would_fill_the_memory_is_refused():
    options = {zstd.CompressionParameter.window_log: 28}
    if zstd.CompressionParameter.window_log.bounds()[1] < 28:
        pytest.skip("no such window on this machine")
    packer = zstd.ZstdCompressor(options=options)
    data = packer.compress(b"a" * 100) + packer.flush()
    with pytest.raises(ValueError, match="is damaged"):
        whole(data)


def test_damage_is_told_after_what_came_before_it():
    data = zstd.compress(os.urandom(200_000))
    for broken, reason in ((data[:-40], "ends too early"), (b"no zstd", "is damaged")):
        with pytest.raises(ValueError, match=reason) as told:
            whole(broken)
        assert not isinstance(told.value, TooLargeError)
    parts = []
    with pytest.raises(ValueError, match="is damaged"):
        for part in unpacked(zstd.compress(b"one") + b"no zstd", MOST):
            parts.append(part)
    assert parts == [b"one"]


def test_the_library_is_loaded_with_the_first_data_only():
    code = (
        "import sys; from cloxy_hookspecs.logs.zstandard import unpacked;"
        "names = ('compression.zstd', 'backports.zstd');"
        "loaded = lambda: any(name in sys.modules for name in names);"
        "before = loaded(); list(unpacked(b'', 1)); print(before, loaded())"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["False", "True"]
