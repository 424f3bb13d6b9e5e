"""The small parts of the relay: header values, lines, ids, events."""

import io
import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mcp.shared.inbound import (  # noqa: TID253 - the other end's own rules
    decode_header_value,
    encode_header_value,
)

from cloxy_core.relay.answers import AnswerError, event_data, received
from cloxy_core.relay.headers import encoded
from cloxy_core.relay.messages import (
    InvalidMessageError,
    as_message,
    error_line,
    key_of,
    one_line,
    parse_line,
)
from cloxy_core.relay.streams import Writer, lines


@given(st.text(st.characters(exclude_categories=["Cs"])))
@settings(max_examples=200, deadline=None)
def test_header_values_are_as_the_other_end_makes_and_reads_them(value):
    assert encoded(value) == encode_header_value(value)
    assert decode_header_value(encoded(value)) == value


@pytest.mark.parametrize("value", ["a", " a", "=?base64?YQ==?=", "é", "a\nb", "", "\ud800"])
def test_header_values_are_plain_text(value):
    assert encoded(value).isascii()
    assert encoded(value).isprintable()


def read(data, limit, piece):
    reading, writing = os.pipe()
    os.write(writing, data)
    os.close(writing)
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("cloxy_core.relay.streams._PIECE", piece)
            return list(lines(reading, limit))
    finally:
        os.close(reading)


@pytest.mark.parametrize("piece", [1, 2, 3, 7, 4096])
def test_lines_whatever_the_pieces(piece):
    data = b"one\n\ntoo long\nlimit\nlonger\nrest"
    assert read(data, 5, piece) == [b"one", b"", None, b"limit", None, b"rest"]
    assert read(b"too long", 5, piece) == [None]
    assert read(b"", 5, piece) == []


def test_writer_notes_that_nobody_reads():
    reading, writing = os.pipe()
    writer = Writer(writing)
    writer.write(b"a")
    assert os.read(reading, 10) == b"a\n"
    os.close(reading)
    writer.write(b"b")
    os.close(writing)
    assert writer.broken.is_set()


def test_ids_keep_their_kind():
    assert key_of(1) != key_of("1")
    assert key_of(1) == key_of(1)
    with pytest.raises(InvalidMessageError):
        as_message({"jsonrpc": "2.0", "id": 1.5, "method": "ping"})


def test_version_comes_from_the_envelope():
    key = "io.modelcontextprotocol/protocolVersion"
    for params, version in [
        ({"_meta": {key: "2026-07-28"}}, "2026-07-28"),
        ({"_meta": {key: 5}}, "5"),
        ({"_meta": {}}, None),
        ({"_meta": []}, None),
        ([], None),
        (None, None),
    ]:
        message = as_message({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": params})
        assert message.version == version


def test_own_errors_are_one_line():
    line = error_line("é\n", -1, "two\nlines\u2028three", {"a": "\r"})
    assert len(line.decode().splitlines()) == 1
    assert parse_line(line)["error"]["message"] == "two\nlines\u2028three"


def test_what_the_server_sends_becomes_one_line():
    for payload in (b'{"a":\n"b"}', '{"a": "\u2028\u2029\x85"}'.encode(), b' {"a": 1}\r'):
        message = received(payload)
        line = one_line(payload, message.value)
        assert len(line.decode().splitlines()) == 1
        assert parse_line(line) == message.value


def events(data, limit=100):
    return list(event_data(io.BytesIO(data), limit))


def test_events():
    assert events(b": ping\r\n\r\nevent: message\r\ndata: a\r\n\r\n") == [b"a"]
    assert events(b"data: a\ndata:b\n\nid: 1\ndata:\n\ndata: c\n\n") == [b"a\nb", b"c"]
    assert events(b"data: unfinished\n") == []
    with pytest.raises(AnswerError, match="larger than 100"):
        events(b"data: " + b"x" * 100 + b"\n\n")
    with pytest.raises(AnswerError, match="larger than 100"):
        events((b"data: " + b"x" * 40 + b"\n") * 3 + b"\n")
