"""What a bomb takes of the memory, measured in a process of its own."""

import subprocess
import sys
from pathlib import Path

import pytest

ALLOWED = 50_000_000
PROGRAM = """
import asyncio, resource, sys, zlib
import brotli
from backports import zstd
from web.world import Names, fetcher, hop, origin

UNIT = 1 if sys.platform == "darwin" else 1024
ZEROS = bytes(1 << 20)

def gzip():
    pack = zlib.compressobj(9, zlib.DEFLATED, 31)
    while True:
        yield pack.compress(ZEROS) + pack.flush(zlib.Z_SYNC_FLUSH)

def br():
    pack = brotli.Compressor(quality=1)
    while True:
        yield pack.process(ZEROS) + pack.flush()

def large_br():
    # A window of 1 GiB, in blocks of 16 MiB of zeros.
    yield bytes.fromhex("111effffff01900088c70221f7fe9fffffff004800c46101a07bffcf")
    yield bytes.fromhex("ffff7f002400e2b000d0bdffe7ffff3f001200715800e8deff0f")

def zstd_that_says_ten_bytes():
    pack = zstd.ZstdCompressor()
    first = pack.compress(ZEROS, pack.FLUSH_BLOCK)
    yield first[:4] + bytes([0x20, 10]) + first[6:]
    while True:
        yield pack.compress(ZEROS, pack.FLUSH_BLOCK)

def zstd_frames():
    frame = zstd.compress(ZEROS)
    while True:
        yield frame

def plain():
    while True:
        yield ZEROS

def headers():
    while True:
        yield b"X-A: " + ZEROS

WAYS = {"gzip": gzip, "br": br, "zstd": zstd_frames, "br-large": large_br,
        "zstd-small": zstd_that_says_ten_bytes, "identity": plain, "headers": headers}

async def answer(head, reader, writer):
    way = head.split()[1].strip("/")
    end = "" if way == "headers" else "\\r\\n"
    packed = way.partition("-")[0]
    writer.write(f"HTTP/1.1 200 OK\\r\\nContent-Encoding: {packed}\\r\\n{end}".encode())
    for number, piece in zip(range(10_000), WAYS[way]()):
        writer.write(piece)
        await writer.drain()
        await asyncio.sleep(0)

async def main():
    async with origin(answer) as port:
        one = fetcher(Names(routes={"any": port}), seconds=30.0)
        for turn, way in enumerate(["gzip", sys.argv[1]]):
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            try:
                most = 500_000 if turn else 1_000
                found = await one.fetch(hop(f"http://good.test/{way}", seconds=60.0, most=most))
                assert found.truncated
            except Exception as error:
                assert way == "headers", error
    print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * UNIT)

asyncio.run(main())
"""


@pytest.mark.process
@pytest.mark.parametrize(
    "way", ["gzip", "br", "br-large", "zstd", "zstd-small", "identity", "headers"]
)
def test_ten_gigabytes_take_little(way):
    tests = Path(__file__).parents[2]
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM, way],
        cwd=tests, env={"PYTHONPATH": str(tests)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    assert int(run.stdout) < ALLOWED
