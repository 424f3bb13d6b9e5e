"""Reading lines by byte offset."""

import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from logs.logs_kit import write

from cloxy_core.services.logs.reading import read_lines


def read(path, offset=0, **options):
    file = os.open(path, os.O_RDONLY)
    try:
        return list(read_lines(file, offset, os.fstat(file).st_size, **options))
    finally:
        os.close(file)


@pytest.fixture
def session(projects, source):
    def make(data):
        path = projects / "s-aaa.jsonl"
        path.write_bytes(data)
        (item,) = source.discover([])
        return item

    return make


def test_lines_and_their_places(source, session):
    item = session(b"one\n\ntwo\r\nthree")

    lines = list(source.read(item, 0))

    assert [(x.start, x.end, x.data, x.finished) for x in lines] == [
        (0, 4, b"one", True),
        (4, 5, b"", True),
        (5, 10, b"two", True),
        (10, 15, b"three", False),
    ]
    assert [x.data for x in source.read(item, 5)] == [b"two", b"three"]
    assert list(source.read(item, 15)) == []
    assert list(source.read(item, 500)) == []


def test_only_newline_bytes_end_a_line(source, session):
    odd = "a\u2028b\u0085c\x0bd\x0ce\x1cf\rg".encode()

    assert [x.data for x in source.read(session(odd + b"\nnext\n"), 0)] == [odd, b"next"]


def test_half_a_character_is_left_whole(source, session):
    whole = "käse €\n".encode()
    for cut in range(1, len(whole)):
        (line,) = source.read(session(whole[:cut]), 0)
        assert not line.finished
        (line,) = source.read(session(whole), line.start)
        assert line.finished
        assert line.data == whole[:-1]


def test_line_above_the_limit_is_passed_over(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"x" * 50 + b"\nshort\n" + b"y" * 11 + b"\n" + b"z" * 10 + b"\n" + b"w" * 99)

    for block in (1, 3, 7, 64, 1000):
        lines = read(path, block=block, limit=10)
        assert [(x.start, x.end, x.data, x.dropped, x.finished) for x in lines] == [
            (0, 51, b"", 50, True),
            (51, 57, b"short", 0, True),
            (57, 69, b"", 11, True),
            (69, 80, b"z" * 10, 0, True),
            (80, 179, b"", 99, False),
        ]


@settings(deadline=None)
@given(data=st.binary(max_size=200), block=st.integers(1, 50), offset=st.integers(0, 200))
def test_lines_are_the_bytes(tmp_path_factory, data, block, offset):
    path = tmp_path_factory.mktemp("lines") / "a"
    path.write_bytes(data)

    lines = read(path, offset, block=block)

    spans = [data[x.start : x.end] for x in lines]
    assert b"".join(spans) == data[offset:]
    for line, span in zip(lines, spans, strict=True):
        assert span.endswith(b"\n") == line.finished
        assert b"\n" not in line.data
        assert line.data == (span[:-1].removesuffix(b"\r") if line.finished else span)


@settings(deadline=None)
@given(data=st.binary(max_size=200).map(lambda b: b.replace(b"0", b"\n")), cut=st.integers(0, 200))
def test_reading_in_two_passes_gives_the_same_lines(tmp_path_factory, data, cut):
    path = tmp_path_factory.mktemp("passes") / "a"
    path.write_bytes(data[:cut])
    first = [line for line in read(path) if line.finished]
    path.write_bytes(data)
    rest = read(path, first[-1].end if first else 0)

    assert first + rest == read(path)


def test_what_is_appended_meanwhile_is_left_for_the_next_time(source, session, projects):
    item = session(b"one\ntwo\n")
    lines = source.read(item, 0)
    first = next(iter(lines))
    with (projects / "s-aaa.jsonl").open("ab") as file:
        file.write(b"three\n")

    assert [first.data, *(x.data for x in lines)] == [b"one", b"two"]
    assert [x.data for x in source.read(item, 8)] == [b"three"]


def test_file_that_shrinks_meanwhile_ends_early(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"one\n" * 1000)
    file = os.open(path, os.O_RDONLY)
    try:
        lines = read_lines(file, 0, 4000, block=100)
        next(lines)
        os.truncate(path, 50)
        assert sum(1 for _ in lines) < 100
    finally:
        os.close(file)


def test_excerpt(source, session):
    item = session(b"0123456789")

    assert source.excerpt(item, 2, 5) == b"234"
    assert source.excerpt(item, 8, 500) == b"89"
    assert source.excerpt(item, 50, 60) == b""
    assert source.excerpt(item, 5, 2) == b""


def test_another_file_in_its_place_is_refused(source, session, projects):
    item = session(b"one\n")
    write(projects / "new", b"two")
    (projects / "new").rename(projects / "s-aaa.jsonl")

    with pytest.raises(OSError, match="another file"):
        list(source.read(item, 0))
    with pytest.raises(OSError, match="another file"):
        source.excerpt(item, 0, 3)


def test_link_in_its_place_is_refused(source, session, projects, tmp_path):
    item = session(b"one\n")
    (projects / "s-aaa.jsonl").rename(tmp_path / "moved")
    (projects / "s-aaa.jsonl").symlink_to(tmp_path / "moved")

    with pytest.raises(OSError):
        list(source.read(item, 0))


def test_link_in_its_path_is_refused(source, projects, tmp_path):
    write(projects / "p" / "a.jsonl", b"one")
    (item,) = source.discover([])
    (projects / "p").rename(tmp_path / "moved")
    (projects / "p").symlink_to(tmp_path / "moved")

    with pytest.raises(OSError):
        list(source.read(item, 0))


def test_pipe_in_its_place_does_not_block(source, session, projects):
    item = session(b"one\n")
    (projects / "s-aaa.jsonl").unlink()
    os.mkfifo(projects / "s-aaa.jsonl")

    with pytest.raises(OSError, match="regular"):
        list(source.read(item, 0))


def test_vanished_file_and_foreign_path_are_errors(source, session, projects, tmp_path):
    item = session(b"one\n")
    (projects / "s-aaa.jsonl").unlink()
    outside = write(tmp_path / "outside.jsonl", b"x")

    with pytest.raises(FileNotFoundError):
        list(source.read(item, 0))
    with pytest.raises(OSError, match="watched"):
        list(source.read(type(item)(str(outside), "1:1", 1, 1), 0))
