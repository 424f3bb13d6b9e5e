"""Sizes, deadlines and places: what one client may take from the others."""

import contextlib
import json
import resource
import socket
import time

import pytest
from security.boundary_server import is_closed, read_answer, running, until

from cloxy_core.surfaces.http.boundary_policy import BoundaryPolicy

HOST = b"Host: 127.0.0.1:{port}\r\n"
JSON = b"Content-Type: application/json\r\n"
POST = b"POST /ingest_text HTTP/1.1\r\n" + HOST + JSON
GET = b"GET /health HTTP/1.1\r\n" + HOST + b"\r\n"
CHUNKED = b"Transfer-Encoding: chunked\r\n\r\n"
# Long enough for a busy machine to do what a test does in time, and short enough to be waited for.
SHORT = {"head_seconds": 2.0, "body_seconds": 2.0, "idle_seconds": 3, "write_seconds": 0.5}


@pytest.fixture(scope="module")
def live():
    with running() as server:
        yield server


@pytest.fixture(scope="module")
def hasty():
    with running(**SHORT) as server:
        yield server


@pytest.fixture(autouse=True)
def fresh(request):
    for name in ("live", "hasty"):
        if name in request.fixturenames:
            request.getfixturevalue(name).calls.clear()


def chunks(size, count):
    return (b"%x\r\n" % size + b"x" * size + b"\r\n") * count + b"0\r\n\r\n"


@pytest.mark.parametrize(
    ("raw", "status", "code"),
    [
        (POST + b"Content-Length: 300000000\r\n\r\n", 413, "payload_too_large"),
        (POST + b"Content-Length: " + b"9" * 19 + b"\r\n\r\n", 413, "payload_too_large"),
        (POST.replace(b"/ingest_text", b"/recall") + b"Content-Length: 5000000\r\n\r\n", 413,
         "payload_too_large"),
        (POST + b"Content-Length: 2\r\n" + CHUNKED + b"0\r\n\r\n", 400, "bad_request"),
        (POST + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}", 400, "bad_request"),
        (POST + b"Content-Length: -2\r\n\r\n{}", 400, "bad_request"),
        (POST + b"Content-Length: two\r\n\r\n{}", 400, "bad_request"),
        (POST + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 400, "bad_request"),
        (POST + CHUNKED + b"zz\r\n", 400, "bad_request"),
        (GET[:-2] + b"X-Long: " + b"a" * 200_000 + b"\r\n\r\n", 431, "head_too_large"),
        (GET[:-2] + b"X: 1\r\n" * 20_000 + b"\r\n", 431, "head_too_large"),
        (GET[:-2] + b"X: 1\r\n" * 120 + b"\r\n", 431, "head_too_large"),
        (GET[:-2] + b"X-Some: " + b"a" * 500 + b"\r\n" * 1 + (b"Y: " + b"b" * 500 + b"\r\n") * 80
         + b"\r\n", 431, "head_too_large"),
        (GET.replace(b"/health", b"/health?" + b"a" * 100_000), 414, "uri_too_long"),
        (GET.replace(b"/health", b"/health?" + b"a" * 9_000), 414, "uri_too_long"),
        (POST + b"Expect: 100-continue\r\nContent-Length: 300000000\r\n\r\n", 413,
         "payload_too_large"),
    ],
    ids=range(16),
)  # fmt: skip
def test_requests_beyond_the_limits_are_refused(live, raw, status, code):
    answer = live.send(raw)
    assert (answer.status, answer.code) == (status, code)
    assert answer.headers["connection"] == "close"
    assert live.calls == []


def test_a_chunked_body_is_refused_once_it_is_too_large(live):
    answer = live.send(POST + CHUNKED + chunks(65_536, 400))
    assert (answer.status, answer.code) == (413, "payload_too_large")
    assert live.calls == []


def test_a_client_that_sends_everything_still_reads_why(live):
    body = b"x" * 4_500_000
    head = POST.replace(b"/ingest_text", b"/recall") + b"Content-Length: %d\r\n\r\n" % len(body)
    with live.connect() as sock:
        # Sending must not fail either: many clients look for a reply only afterwards.
        sock.sendall(live.fill(head) + body)
        assert read_answer(sock).status == 413
        assert is_closed(sock)


@pytest.mark.parametrize("character", ["a", "é", "記", "😀"])
def test_the_largest_text_fits_however_it_is_escaped(live, character):
    document = {"text": character * 2_000_000, "source": "manual"}
    for body in (json.dumps(document), json.dumps(document, ensure_ascii=False)):
        answer = (
            live.request(
                "POST", "/ingest_text", [("Content-Type", "application/json")], body.encode()
            )
            if body.isascii()
            else live.send(
                POST + b"Content-Length: %d\r\n\r\n" % len(body.encode()) + body.encode()
            )
        )
        assert answer.status == 200
        assert live.calls[-1][2] == len(body.encode())


def test_a_small_chunked_body_arrives_whole(live):
    assert live.send(POST + CHUNKED + chunks(1000, 50)).status == 200
    assert live.calls[-1][2] == 50_000


def test_the_limit_itself_is_allowed():
    with running(max_body=1000, max_plain_body=100, max_unsized_body=500) as server:
        for path, framing, size, status in (
            (b"/ingest_text", b"sized", 1000, 200),
            (b"/ingest_text", b"sized", 1001, 413),
            (b"/ingest_text", b"chunked", 500, 200),
            (b"/ingest_text", b"chunked", 501, 413),
            (b"/recall", b"sized", 100, 200),
            (b"/recall", b"sized", 101, 413),
            (b"/recall", b"chunked", 101, 413),
        ):
            head = POST.replace(b"/ingest_text", path)
            if framing == b"sized":
                raw = head + b"Content-Length: %d\r\n\r\n" % size + b"x" * size
            else:
                raw = head + CHUNKED + chunks(size, 1)
            assert server.send(raw).status == status, (path, framing, size)


def test_trailers_do_not_join_the_headers(live):
    seen = []

    async def show(scope, receive, send):
        if scope["type"] != "http":
            return
        await receive()
        seen.extend(name for name, _ in scope["headers"])
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    trailer = b"2\r\n{}\r\n0\r\nX-API-Key: late\r\nOrigin: http://x\r\n\r\n"
    with running(show) as server:
        assert server.send(POST + CHUNKED + trailer).status == 200
    assert b"host" in seen
    assert not {b"x-api-key", b"origin"} & set(seen)


def test_endless_trailers_are_refused(live):
    trailers = b"2\r\n{}\r\n0\r\n" + b"X: 1\r\n" * 20_000
    assert live.send(POST + CHUNKED + trailers).status in (400, 431)


def test_a_header_that_never_ends_is_refused_while_it_arrives(live):
    with live.connect() as sock:
        sock.sendall(live.fill(GET[:-2] + b"X-Long: "))
        with contextlib.suppress(OSError):
            for _ in range(64):
                sock.sendall(b"a" * 4096)
                time.sleep(0.001)
        assert read_answer(sock).status == 431
        assert is_closed(sock)


def test_silent_connections_are_closed(hasty):
    with hasty.connect() as sock:
        assert sock.recv(100) == b""


def test_half_sent_heads_are_closed(hasty):
    starts = [b"G", b"GET /health HTTP/1.1\r\n", GET[:-2], GET[:-1], b"\r\n\r\n", b"POST /x"]
    with contextlib.ExitStack() as stack:
        waiting = []
        for start in starts:
            sock = stack.enter_context(hasty.connect())
            sock.sendall(hasty.fill(start))
            waiting.append((start, sock))
        for start, sock in waiting:
            if start.strip():
                answer = read_answer(sock)
                assert (answer.status, answer.code) == (408, "timeout"), start
            assert is_closed(sock), start
    assert hasty.calls == []


def test_a_head_that_trickles_is_closed_all_the_same(hasty):
    with hasty.connect() as sock:
        with contextlib.suppress(OSError):
            for byte in hasty.fill(GET[:-2]) + b"X: " + b"a" * 200:
                sock.sendall(bytes([byte]))
                time.sleep(0.02)
        assert is_closed(sock)


def test_a_second_head_has_its_own_deadline(hasty):
    with hasty.connect() as sock:
        sock.sendall(hasty.fill(GET))
        assert read_answer(sock).status == 200
        sock.sendall(b"GET /hea")
        assert read_answer(sock).status == 408
        assert is_closed(sock)


def test_idle_connections_are_closed_and_busy_ones_reused(hasty):
    with hasty.connect() as sock:
        begun = time.monotonic()
        count = 0
        # Longer than an idle one is kept, without a pause of that length.
        while time.monotonic() < begun + SHORT["idle_seconds"] + 0.5:
            sock.sendall(hasty.fill(GET))
            assert read_answer(sock).status == 200
            count += 1
            time.sleep(0.5)
        assert is_closed(sock)
    assert len(hasty.calls) == count


@pytest.mark.parametrize(
    "framing",
    [b"Content-Length: 50\r\n\r\n", CHUNKED],
)
def test_slow_bodies_are_refused_and_closed(hasty, framing):
    with hasty.connect() as sock:
        sock.sendall(hasty.fill(POST + framing))
        if framing == CHUNKED:
            sock.sendall(b"32\r\n")
        with contextlib.suppress(OSError):
            for _ in range(30):
                sock.sendall(b"x")
                time.sleep(0.1)
        answer = read_answer(sock)
        assert (answer.status, answer.code) == (408, "timeout")
        assert is_closed(sock)
    assert hasty.calls == []


def test_a_client_that_leaves_in_the_middle_of_a_body_runs_no_handler():
    with running() as live:
        with live.connect() as sock:
            sock.sendall(live.fill(POST + b"Content-Length: 50\r\n\r\nhalf"))
            until(lambda: live.boundary._bodies.held == 4)
        until(lambda: not live.boundary._bodies.held)
        assert live.send(GET).status == 200
        assert [call[1] for call in live.calls] == ["/health"]


def test_a_client_that_does_not_read_is_dropped(hasty):
    until(lambda: not hasty.connections)
    with socket.socket() as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        sock.connect(("127.0.0.1", hasty.port))
        sock.sendall(hasty.fill(GET.replace(b"/health", b"/large")))
        assert sock.recv(1, socket.MSG_PEEK)
        until(lambda: not hasty.connections)
        received = 0
        with contextlib.suppress(ConnectionError):
            while piece := sock.recv(1 << 20):
                received += len(piece)
        assert received < 400 * 65536


def test_hundreds_of_half_open_connections_leave_the_server_free():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 2200 if hard == resource.RLIM_INFINITY else min(2200, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))
    count = min(800, wanted // 2 - 150)
    with running(head_seconds=2.0) as server, contextlib.ExitStack() as stack:
        half_open = [stack.enter_context(server.connect()) for _ in range(count)]
        for sock in half_open:
            sock.sendall(server.fill(GET[:20]))
        for _ in range(20):
            assert server.send(GET).status == 200
        assert all(is_closed(sock) for sock in half_open)
        assert server.send(GET).status == 200
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_health_answers_while_slow_bodies_hang(live):
    with contextlib.ExitStack() as stack:
        for _ in range(50):
            sock = stack.enter_context(live.connect())
            sock.sendall(live.fill(POST + b"Content-Length: 50\r\n\r\nx"))
        for _ in range(10):
            assert live.send(GET).status == 200


def test_an_unfinished_upgrade_does_not_spoil_the_connection(live):
    upgrade = GET[:-2] + b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n\r\n"
    answer = live.send(upgrade)
    assert answer.status == 200
    assert answer.headers["connection"] == "close"


def test_pipelined_requests_are_answered_in_order(live):
    with live.connect() as sock:
        sock.sendall(live.fill(GET + POST + b"Content-Length: 2\r\n\r\n{}" + GET))
        reader = sock.makefile("rb")
        bodies = [read_one(reader) for _ in range(3)]
    assert [b"length" in body for body in bodies] == [False, True, False]


def read_one(reader):
    length = 0
    while (line := reader.readline()) != b"\r\n":
        if line.lower().startswith(b"content-length:"):
            length = int(line.split(b":")[1])
    return reader.read(length)


def test_a_listening_descriptor_serves_too():
    with running(by_descriptor=True) as server:
        assert server.send(GET).status == 200
        with server.connect() as sock:
            for _ in range(3):
                sock.sendall(server.fill(GET))
                assert read_answer(sock).status == 200


def test_small_replies_do_not_wait_for_acknowledgements():
    with running(by_descriptor=True) as server, server.connect() as sock:
        sock.sendall(server.fill(GET))
        assert read_answer(sock).status == 200
        (connection,) = server.connections
        served = connection.transport.get_extra_info("socket")
        assert served.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_limits_by_path_and_framing():
    policy = BoundaryPolicy("127.0.0.1", 9055, None)
    assert policy.body_limit("/ingest_text", sized=True) >= 24_000_000
    assert policy.body_limit("/recall", sized=True) < 5_000_000
    assert policy.body_limit("/ingest_text", sized=False) <= 2 * 1024 * 1024
