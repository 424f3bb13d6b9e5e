"""Parsers, chunkers and origin policies; sources have a module of their own."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest

from cloxy_core.testing.conformance.base import Conformance, CreatedConformance
from cloxy_core.testing.conformance.samples import generator, random_bytes, random_text
from cloxy_core.testing.fakes import raw_lines
from cloxy_core.testing.harness import App
from cloxy_hookspecs import (
    Author,
    Chunk,
    Chunker,
    ChunkerProvider,
    Kind,
    Message,
    OriginPolicy,
    Parser,
    ParseResult,
    RawLine,
    Role,
    SourceItem,
    Tier,
)
from cloxy_hookspecs.seats import CHUNKERS, ORIGINS, PARSERS

DAMAGED = (
    b'{"half": "of a rec',
    b"\xff\xfe\x00 not text",
    b"[" * 5_000,
    b'{"a": ' * 2_000,
    b"1" * 6_000,
    b"null",
    b"[]",
    b'""',
    b"NaN",
    b"{}",
    b'{"type": 7, "message": [], "content": {"text": null}}',
    b'{"type": "user", "message": {"role": "user", "content": [1, null, {"type": []}]}}',
    b"",
    b"   ",
)
BROKEN = DAMAGED[0]
LABEL = 64
"""Characters that a chunker may put before a message for who spoke."""


class ParserConformance(CreatedConformance, of_the_kit=True):
    """A parser. Give `provider`, and `sample`: a log file with at least three messages."""

    seat = PARSERS

    @pytest.fixture
    def sample(self) -> Path:
        """A log with at least three messages; give it in the subclass."""
        pytest.fail(f"{type(self).__name__}: give a fixture `sample` that returns a log file")

    def test_sample_is_understood(self, made: Parser, sample: Path) -> None:
        """The sample yields messages, and nothing in it is damaged."""
        result = parse(made, sample, sample.read_bytes())
        assert len(result.messages) >= 3, "a sample of at least three messages tells more"
        assert list(result.bad_lines) == []
        assert result.records >= len(result.messages)

    def test_messages_are_whole(self, made: Parser, sample: Path) -> None:
        """Every field of a message has a value that the contract allows."""
        result = parse(made, sample, sample.read_bytes())
        for message in result.messages:
            assert message.text, "a message has a text"
            assert message.uid, "a message has an id"
            assert message.role in get_args(Role)
            assert message.author in get_args(Author)
            assert message.session in result.sessions, "every session has its facts"
        for key, facts in result.sessions.items():
            assert facts.key == key

    def test_ids_are_unique_within_a_session(self, made: Parser, sample: Path) -> None:
        """Two messages with one id would be stored as one."""
        result = parse(made, sample, sample.read_bytes())
        ids = [(message.session, message.uid) for message in result.messages]
        assert len(ids) == len(set(ids))

    def test_spans_lie_on_lines_in_order(self, made: Parser, sample: Path) -> None:
        """A message's span is that of lines of the input, and spans never go back."""
        data = sample.read_bytes()
        lines = raw_lines(data)
        starts, ends = {line.start for line in lines}, {line.end for line in lines}
        places = [(message.start, message.end) for message in parse(made, sample, data).messages]
        assert all(start in starts and end in ends and start < end for start, end in places)
        assert places == sorted(places), "messages come in the order of the file"

    def test_same_lines_give_the_same(self, made: Parser, sample: Path) -> None:
        """A parser keeps nothing between runs but the state that it returns."""
        data = sample.read_bytes()
        assert parse(made, sample, data) == parse(made, sample, data)

    def test_any_split_gives_the_same_messages(self, made: Parser, sample: Path) -> None:
        """A file that grows is read in runs; the state goes through JSON in between."""
        data = sample.read_bytes()
        lines = raw_lines(data)
        whole = [message.text for message in parse(made, sample, data).messages]
        for cut in range(len(lines) + 1):
            first = made.parse(_item(sample, data), iter(lines[:cut]), {})
            state = json.loads(json.dumps(dict(first.state)))
            second = made.parse(_item(sample, data), iter(lines[cut:]), state)
            texts = [message.text for message in (*first.messages, *second.messages)]
            assert texts == whole, f"cut before line {cut + 1}"

    def test_bad_lines_are_counted_and_passed_over(self, made: Parser, sample: Path) -> None:
        """Damage costs the damaged line, is told, and never raises."""
        whole = [message.text for message in parse(made, sample, sample.read_bytes()).messages]
        for damage in DAMAGED:
            parts = [damage, *sample.read_bytes().splitlines(), damage]
            data = b"\n".join(parts) + b"\n"
            result = parse(made, sample, data)
            assert [message.text for message in result.messages] == whole, damage[:40]
            _check_bad_lines(result, data)
        result = parse(made, sample, BROKEN + b"\n" + sample.read_bytes())
        assert [(bad.start, bad.end) for bad in result.bad_lines] == [(0, len(BROKEN) + 1)]

    def test_too_long_line_is_counted(self, made: Parser, sample: Path) -> None:
        """Of a line above the limit only its place is told."""
        line = RawLine(0, 1 << 25, b"", dropped=(1 << 25) - 1)
        result = made.parse(_item(sample, b""), [line], {})
        assert list(result.messages) == []
        assert [(bad.start, bad.end) for bad in result.bad_lines] == [(0, 1 << 25)]

    def test_random_bytes_never_raise(self, made: Parser, sample: Path) -> None:
        """Five hundred arbitrary inputs, and every sample line cut short somewhere."""
        chance = generator()
        for _ in range(500):
            data = random_bytes(chance, 200)
            _check_bad_lines(parse(made, sample, data), data)
        for line in sample.read_bytes().splitlines():
            data = line[: chance.randint(0, len(line))] + b"\n"
            _check_bad_lines(parse(made, sample, data), data)

    def test_nothing_gives_nothing(self, made: Parser, sample: Path) -> None:
        """An empty run has no message, and keeps the state."""
        before = parse(made, sample, sample.read_bytes())
        after = made.parse(_item(sample, b""), (), before.state)
        assert list(after.messages) == []
        assert json.dumps(after.state, sort_keys=True) == json.dumps(before.state, sort_keys=True)


def parse(parser: Parser, path: Path, data: bytes) -> ParseResult:
    """Parse bytes as if they stood in a file."""
    return parser.parse(_item(path, data), iter(raw_lines(data)), {})


def _item(path: Path, data: bytes) -> SourceItem:
    return SourceItem(str(path), "1:1", len(data), path.stat().st_mtime_ns)


def _check_bad_lines(result: ParseResult, data: bytes) -> None:
    for bad in result.bad_lines:
        assert 0 <= bad.start < bad.end <= len(data), "a bad line lies inside the input"
        assert bad.reason.strip(), "a bad line has a reason"


class ChunkerConformance(CreatedConformance, of_the_kit=True):
    """A chunker; it is tried on conversations that the kit makes."""

    seat = CHUNKERS

    def use(self, made: Chunker, app: App) -> None:
        """Pack something."""
        del app
        made.pack(conversation(5), None)

    def test_every_message_is_in_exactly_one_place(self, made: Chunker) -> None:
        """The parts of a message, joined, are its text; nothing is lost, nothing is twice."""
        for messages in conversations():
            parts: dict[str, str] = {}
            numbers: dict[str, int] = {}
            for chunk in made.pack(messages, None):
                for piece in chunk.pieces:
                    uid = piece.message.uid
                    assert piece.part == numbers.get(uid, -1) + 1, "parts count from 0"
                    numbers[uid] = piece.part
                    parts[uid] = parts.get(uid, "") + chunk.content[piece.start : piece.end]
            assert list(parts.items()) == [(message.uid, message.text) for message in messages]

    def test_pieces_lie_in_their_chunk_in_order(self, made: Chunker) -> None:
        """Pieces do not overlap, and none is empty."""
        for messages in conversations():
            for chunk in made.pack(messages, None):
                assert chunk.pieces, "a chunk holds something"
                end = 0
                for piece in chunk.pieces:
                    assert end <= piece.start < piece.end <= len(chunk.content)
                    end = piece.end

    def test_chunks_have_the_target_size(self, made: Chunker, provider: ChunkerProvider) -> None:
        """No message is added to a chunk that has reached the target."""
        for messages in conversations():
            for chunk in made.pack(messages, None):
                if len(chunk.pieces) > 1:
                    assert chunk.pieces[-1].start <= provider.target + LABEL

    def test_only_the_last_is_open_and_only_the_first_continues(self, made: Chunker) -> None:
        """What is closed stays as it is."""
        for messages in conversations():
            chunks = made.pack(messages, None)
            assert not any(chunk.open for chunk in chunks[:-1])
            assert not any(chunk.continues for chunk in chunks), "there was no tail"

    def test_two_runs_pack_as_one(self, made: Chunker) -> None:
        """A session that grows is packed as if it had been there at once."""
        for messages in conversations(10):
            whole = [chunk.content for chunk in made.pack(messages, None)]
            for cut in range(len(messages) + 1):
                assert _packed_in_two(made, messages, cut) == whole, f"cut before {cut + 1}"

    def test_a_tail_is_kept_as_it_is(self, made: Chunker) -> None:
        """What continues the tail starts with it; its pieces are new messages only."""
        for messages in conversations():
            chunks = made.pack(messages[:1], None)
            tail = chunks[-1].content if chunks and chunks[-1].open else None
            later = made.pack(messages[1:], tail)
            for chunk in later[:1]:
                if chunk.continues:
                    assert tail is not None
                    assert chunk.content.startswith(tail)
                    assert all(piece.start >= len(tail) for piece in chunk.pieces)

    def test_nothing_gives_nothing(self, made: Chunker) -> None:
        """Without messages there is no chunk, and a tail is left alone."""
        assert list(made.pack((), None)) == []
        for chunk in made.pack((), "USER: hello"):
            assert chunk == Chunk("USER: hello", (), continues=True, open=True)


def _packed_in_two(chunker: Chunker, messages: Sequence[Message], cut: int) -> list[str]:
    first = list(chunker.pack(messages[:cut], None))
    tail = first[-1].content if first and first[-1].open else None
    second = list(chunker.pack(messages[cut:], tail))
    if second and second[0].continues:
        first.pop()
    return [chunk.content for chunk in (*first, *second)]


def conversation(count: int, salt: str = "", most: int = 600) -> Sequence[Message]:
    """Messages of one session, the same for the same arguments."""
    chance = generator(f"{count}{salt}{most}")
    roles: Sequence[tuple[Role, Author]] = (("user", "human"), ("assistant", "assistant"))
    return [
        Message(
            uid=f"m{number}",
            session="s",
            role=roles[number % 2][0],
            author=roles[number % 2][1],
            text=random_text(chance, chance.choice((20, most, most))),
            at=number,
            start=number * 1000,
            end=number * 1000 + 1000,
        )
        for number in range(count)
    ]


def conversations(most: int = 40) -> Sequence[Sequence[Message]]:
    """Short and long sessions of short and long messages, long ones without a border too."""
    plain = conversation(1)[0]
    unbroken = replace(plain, uid="unbroken", text="x" * 9_000)
    combined = replace(plain, uid="marks", text="e\u0301👩‍👩‍👧‍👦" * 900)
    return (
        [plain],
        conversation(min(most, 40)),
        conversation(min(most, 12), most=5_000),
        [*conversation(3, "a"), unbroken, *conversation(6, "a")[3:]],
        [unbroken, combined],
    )


class OriginConformance(Conformance, of_the_kit=True):
    """An origin policy, which is all data."""

    seat = ORIGINS

    def test_values_are_those_of_the_contract(self, provider: OriginPolicy) -> None:
        """Kind and tier are known words, the switches are switches."""
        assert provider.kind in get_args(Kind)
        assert provider.tier in get_args(Tier)
        assert isinstance(provider.immutable, bool)
        assert isinstance(provider.deduplicates, bool)
