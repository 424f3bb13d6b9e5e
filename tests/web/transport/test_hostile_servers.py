"""What servers do that want to harm, or that are broken; each a real server on this machine."""

import asyncio
import gzip
import itertools
import time
import zlib

import brotli
import pytest
from backports import zstd
from web.world import Names, fetcher, hop, ok, origin, says

from cloxy_hookspecs import FetchError, FetchTimeoutError, HopResponse
from cloxy_plugins.web import fetcher as web_fetcher

MOST = 500_000
BOMB = 64 * 1024 * 1024
PATIENCE = 60.0
DEADLINE = 0.6


def ask(answer, *, most=MOST, seconds=PATIENCE, **headers):
    """One request to a server that answers in some way."""

    async def run():
        async with origin(answer) as port:
            names = Names(routes={"any": port})
            request = hop(most=most, seconds=seconds, **headers)
            return await fetcher(names).fetch(request)

    return asyncio.run(run())


def packed(body, encoding):
    """An answer with a packed body."""
    return says(ok(body, "Content-Type: text/html", f"Content-Encoding: {encoding}"))


def gzipped(size):
    pack = zlib.compressobj(9, zlib.DEFLATED, 31)
    pieces = [pack.compress(bytes(1 << 20)) for _ in range(size >> 20)]
    return b"".join([*pieces, pack.flush()])


def frames(count):
    return zstd.compress(bytes(1 << 20)) * count


def lying_frame(size):
    """A frame of Zstandard that says it has ten bytes."""
    pack = zstd.ZstdCompressor()
    plain = pack.compress(bytes(size)) + pack.flush()
    return plain[:4] + b"\x20\x0a" + plain[6:]


def brotli_packed(size):
    pack = brotli.Compressor(quality=5)
    pieces = [pack.process(bytes(1 << 20)) for _ in range(size >> 20)]
    return b"".join([*pieces, pack.finish()])


def raw_deflated(size):
    pack = zlib.compressobj(9, zlib.DEFLATED, -15)
    pieces = [pack.compress(bytes(1 << 20)) for _ in range(size >> 20)]
    return b"".join([*pieces, pack.flush()])


# 64 MiB of zeros in Brotli with a window of 1 GiB (RFC 9841), made by the library's encoder.
LARGE_ZEROS = bytes.fromhex(
    "111effffff01900088c70221f7fe9fffffff004800c46101a07bffcfffff7f002400e2b000d0bdffe7ffff3f001200"
    "715800e8deff0f"
)
BOMBS = {
    "gzip": lambda: (gzipped(BOMB), "gzip"),
    "x-gzip": lambda: (gzipped(BOMB), "X-GZip"),
    "gzip twice": lambda: (gzip.compress(gzipped(BOMB)), "gzip, gzip"),
    "zlib": lambda: (zlib.compress(bytes(BOMB)), "deflate"),
    "raw deflate": lambda: (raw_deflated(BOMB), "deflate"),
    "brotli": lambda: (brotli_packed(BOMB), "br"),
    "brotli with a large window": lambda: (LARGE_ZEROS, "br"),
    "zstd": lambda: (zstd.compress(bytes(BOMB)), "zstd"),
    "zstd frames": lambda: (frames(2_000), "zstd"),
    "zstd that says it is small": lambda: (lying_frame(BOMB), "zstd"),
}


@pytest.mark.parametrize("make", BOMBS.values(), ids=BOMBS)
def test_bomb_is_cut_after_unpacking(make):
    response = ask(packed(*make()))
    assert (response.status, response.truncated) == (200, True)
    assert response.body == bytes(MOST)


GOOD_TEXT = b"<p>plain text</p>" * 100


HONEST = {
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": brotli.compress,
    "zstd": zstd.compress,
    "identity": bytes,
    "": bytes,
    "deflate, gzip": lambda body: gzip.compress(zlib.compress(body)),
}


@pytest.mark.parametrize("encoding", HONEST)
def test_honest_packing_is_unpacked(encoding):
    response = ask(packed(HONEST[encoding](GOOD_TEXT), encoding))
    assert (response.body, response.truncated) == (GOOD_TEXT, False)


def test_exactly_as_much_as_may_be_is_whole():
    assert ask(says(ok(bytes(1_000))), most=1_000) == HopResponse(
        200, {"content-length": "1000"}, bytes(1_000), truncated=False
    )
    assert ask(says(ok(bytes(1_001))), most=1_000).truncated


CLEAN = {
    "encodings without number": packed(b"x", ",".join(["gzip"] * 2_000)),
    "encodings in many headers": says(ok(b"x", *["Content-Encoding: gzip"] * 6)),
    "unknown encoding": packed(b"x", "exotic"),
    "unknown encoding among others": packed(gzip.compress(b"x"), "exotic, gzip"),
    "not what it says": packed(b"plain", "gzip"),
    "not brotli": packed(b"plain, and more of it", "br"),
    "not zstd": packed(b"plain, and more of it", "zstd"),
    "packed larger than unpacked": packed(gzip.compress(b"", 0) * 40_000, "gzip"),
    "shorter than told": says(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n0123456789"),
    "two lengths": says(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n123456"),
    "negative length": says(b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n123456"),
    "no status line": says(b"<html>hello</html>\r\n\r\n"),
    "status 000": says(b"HTTP/1.1 000 Nothing\r\n\r\n"),
    "status 99": says(b"HTTP/1.1 99 Nothing\r\n\r\n"),
    "status of words": says(b"HTTP/1.1 OK\r\n\r\n"),
    "another protocol": says(b"SSH-2.0-OpenSSH_9.9\r\n\r\n"),
    "chunk without a length": says(
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n"
    ),
    "nothing": says(b""),
    "switches protocols": says(
        b"HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\n\r\n\x81\x05hello"
    ),
    "header with a line break": says(b"HTTP/1.1 200 OK\r\nX y: a\r\n\r\n"),
    "large header": says(b"HTTP/1.1 200 OK\r\nX-A: " + b"a" * 2_000_000),
}


@pytest.mark.parametrize("answer", CLEAN.values(), ids=CLEAN)
def test_what_does_not_keep_to_the_protocol_is_one_clean_error(answer):
    with pytest.raises(FetchError) as error:
        ask(answer)
    assert type(error.value) is FetchError
    assert len(str(error.value)) < 400


def endless(start, piece):
    """An answer that has no end."""

    async def answer(_head, _reader, writer):
        writer.write(start)
        while True:
            writer.write(piece)
            await writer.drain()

    return answer


WITHOUT_END = {
    "headers": (b"HTTP/1.1 200 OK\r\n", b"X-A: a\r\n" * 1_000),
    "one header": (b"HTTP/1.1 200 OK\r\nX-A: ", b"a" * 10_000),
    "early hints": (b"", b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" * 100),
    "chunk extension": (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;", b"a" * 10_000),
    "trailers": (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n",
        b"X-A: a\r\n" * 1_000,
    ),
    "status line": (b"HTTP/1.1 200 ", b"O" * 10_000),
    "gzip that unpacks to nothing": (
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n",
        gzip.compress(b"") * 1_000,
    ),
    "zstd frames to be skipped": (
        b"HTTP/1.1 200 OK\r\nContent-Encoding: zstd\r\n\r\n",
        (b"\x50\x2a\x4d\x18" + (1_000).to_bytes(4, "little") + bytes(1_000)) * 20,
    ),
}


@pytest.mark.parametrize(("start", "piece"), WITHOUT_END.values(), ids=WITHOUT_END)
def test_what_has_no_end_beside_the_body_is_an_error_before_the_deadline(start, piece):
    with pytest.raises(FetchError) as error:
        ask(endless(start, piece), seconds=PATIENCE)
    assert not isinstance(error.value, FetchTimeoutError)


def test_endless_body_is_cut_and_no_more_is_taken():
    taken = []

    async def answer(_head, _reader, writer):
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
        while True:
            writer.write(b"a" * 1_000)
            taken.append(1_000)
            await writer.drain()

    response = ask(answer)
    assert (len(response.body), response.truncated) == (MOST, True)
    assert sum(taken) < MOST + 8_000_000, "what the system holds for both ends, and no more"


@pytest.mark.parametrize(
    ("data", "body"),
    [
        (b"Content-Length: 10\r\n\r\n" + b"0123456789" + b"x" * 100_000, b"0123456789"),
        (
            b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
            b"hello",
        ),
        (b"\r\nto the end", b"to the end"),
        (b"Content-Length: 0\r\n\r\n", b""),
    ],
    ids=["longer than told", "length beside chunks", "no length", "nothing in it"],
)
def test_body_ends_where_the_protocol_says(data, body):
    assert ask(says(b"HTTP/1.1 200 OK\r\n" + data)).body == body


def test_half_a_gzip_member_is_never_taken_for_the_whole():
    whole = gzip.compress(bytes(range(256)) * 400)
    answer = packed(whole[: len(whole) // 2], "gzip")
    with pytest.raises(FetchError):
        ask(answer)


@pytest.mark.parametrize("status", [204, 304, 206, 400, 404, 500, 999])
def test_odd_status(status):
    body = b"" if status in (204, 304) else b"some"
    response = ask(says(ok(body, status=f"{status} Odd")))
    assert (response.status, response.body) == (status, body)


def test_bytes_of_any_kind_in_headers_are_given_as_text():
    response = ask(says(ok(b"x", "X-A: \xe4\xff", "X-A: second", "Content-Type: a/b; c=\xe4")))
    assert response.headers["x-a"].startswith("ä") or response.headers["x-a"]
    assert "second" not in response.headers["x-a"]


def drips(start, piece, pause=0.02):
    """An answer that comes slowly, for ever."""

    async def answer(_head, _reader, writer):
        writer.write(start)
        while True:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(pause)

    return answer


async def silence(_head, _reader, _writer):
    await asyncio.Event().wait()


async def stalls(_head, _reader, writer):
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n" + bytes(400_000))
    await asyncio.Event().wait()


SLOW = {
    "body": drips(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n", b"a"),
    "headers": drips(b"HTTP/1.1 200 OK\r\n", b"X-A: a\r\n"),
    "early hints": drips(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n"),
    "chunks": drips(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\na\r\n"),
    "trailers": drips(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", b"X-A: a\r\n"),
    "silence": silence,
    "stalls": stalls,
}


@pytest.mark.parametrize("slow", SLOW.values(), ids=SLOW)
def test_slow_server_is_left_at_the_deadline(slow):
    """And the server sees the connection end."""
    asked, left = asyncio.Event(), asyncio.Event()

    async def answer(head, reader, writer):
        asked.set()
        answering = asyncio.create_task(slow(head, reader, writer))
        try:
            while await reader.read(1_000):
                pass
        finally:
            left.set()
            answering.cancel()
            await asyncio.gather(answering, return_exceptions=True)

    async def run():
        async with origin(answer) as port:
            names = Names(routes={"any": port})
            with pytest.raises(FetchTimeoutError):
                await fetcher(names).fetch(hop(seconds=DEADLINE))
            if asked.is_set():  # else it was left before it had anything to see
                await asyncio.wait_for(left.wait(), PATIENCE)

    start = time.monotonic()
    asyncio.run(run())
    assert time.monotonic() - start >= DEADLINE


def test_silence_ends_before_the_deadline_by_the_limit_of_one_operation():
    async def run():
        async with origin(silence) as port:
            names = Names(routes={"any": port})
            with pytest.raises(FetchTimeoutError):
                await fetcher(names, seconds=0.2).fetch(hop(seconds=600.0))

    asyncio.run(run())


def test_handshake_that_never_ends():
    async def run():
        async with origin(silence) as port:
            names = Names(routes={"any": port})
            with pytest.raises(FetchTimeoutError):
                await fetcher(names).fetch(hop("https://good.test/", seconds=DEADLINE))

    asyncio.run(run())


def test_body_in_single_bytes_leaves_turns_to_others():
    """Others get a turn at least every few hundred pieces, not only when all is read."""
    turns = []
    pieces = 60_000
    start = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    data = start + b"1\r\na\r\n" * pieces + b"0\r\n\r\n"

    async def count():
        while True:
            turns.append(1)
            await asyncio.sleep(0)

    async def run():
        async with origin(says(data)) as port:
            names = Names(routes={"any": port})
            counting = asyncio.create_task(count())
            response = await fetcher(names).fetch(hop(seconds=60.0))
            counting.cancel()
            return response

    assert asyncio.run(run()).body == b"a" * pieces
    assert len(turns) > pieces / 300


@pytest.mark.parametrize("packing", ["", "Content-Encoding: gzip\r\n"])
def test_bodies_in_single_bytes_leave_others_most_of_the_time(monkeypatch, packing):
    """Each pause is twice as long as what came before it took, and only one pauses at a time."""
    pieces, ticks = 2_000, itertools.count()
    body = b"a" * pieces if not packing else gzip.compress(b"") * (pieces // 20)
    start = f"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n{packing}\r\n".encode()
    data = start + b"".join(b"1\r\n%c\r\n" % byte for byte in body) + b"0\r\n\r\n"
    pausing, pauses, real = [], [], asyncio.sleep

    async def sleep(seconds):
        if seconds:
            assert not pausing, "the other one pauses already"
            pausing.append(1)
            pauses.append(seconds)
            await real(0.001)
            pausing.clear()
        else:
            await real(0)

    monkeypatch.setattr(web_fetcher.time, "thread_time", lambda: 0.01 * next(ticks))
    monkeypatch.setattr(web_fetcher.asyncio, "sleep", sleep)

    async def run():
        async with origin(says(data)) as port:
            one = fetcher(Names(routes={"any": port}))
            await asyncio.gather(*(one.fetch(hop(seconds=PATIENCE)) for _ in range(2)))

    asyncio.run(run())
    assert len(pauses) >= 2 * pieces // 64
    assert min(pauses) > 0.019
    assert max(pauses) <= web_fetcher.MOST_IDLE


def test_body_in_honest_pieces_is_not_held_up(monkeypatch):
    monkeypatch.setattr(web_fetcher, "IDLE", float("inf"))
    monkeypatch.setattr(web_fetcher, "MOST_IDLE", float("inf"))
    start = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    chunk = b"4e20\r\n" + bytes(20_000) + b"\r\n"
    response = ask(says(start + chunk * 20 + b"0\r\n\r\n"))
    assert len(response.body) == 400_000
