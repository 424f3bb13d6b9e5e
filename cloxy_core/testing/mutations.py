"""Damage as it happens to files: the same for the same seed, so that a failure can be repeated."""

from collections.abc import Callable, Sequence
from random import Random
from typing import Final

_PIECES: Final[Sequence[bytes]] = (
    b"",
    b"\x00",
    b"\xff\xfe",
    b"\xed\xa0\x80",
    b"\n",
    b'"',
    b"}",
    b"{",
    b"[[[[",
    b"null",
    b"-1e999",
    b"\\ud800",
    b"9" * 400,
)


def mutate(data: bytes, seed: int) -> bytes:
    """Bytes with one to four kinds of damage.

    Args:
        data: what a program wrote.
        seed: decides what happens to it.
    """
    return _mutated(data, seed)[0]


def kinds_of_damage(data: bytes, seed: int) -> Sequence[str]:
    """What `mutate` does with the same arguments, in order, each as a short name."""
    return _mutated(data, seed)[1]


def _mutated(data: bytes, seed: int) -> tuple[bytes, Sequence[str]]:
    chance = Random(seed)  # noqa: S311 - damage, no secret
    names: list[str] = []
    for _ in range(chance.randint(1, 4)):
        kind = chance.choice(_KINDS)
        data = kind(data, chance)
        names.append(kind.__name__.strip("_"))
    return data, names


def _cut(data: bytes, chance: Random) -> bytes:
    """The end is missing."""
    return data[: chance.randint(0, len(data))]


def _flip(data: bytes, chance: Random) -> bytes:
    """Some bytes are others."""
    changed = bytearray(data)
    for _ in range(min(len(changed), chance.randint(1, 8))):
        changed[chance.randrange(len(changed))] = chance.randrange(256)
    return bytes(changed)


def _delete(data: bytes, chance: Random) -> bytes:
    """Some bytes are missing."""
    start, end = _range(data, chance)
    return data[:start] + data[end:]


def _duplicate(data: bytes, chance: Random) -> bytes:
    """Some bytes come twice."""
    start, end = _range(data, chance)
    return data[:end] + data[start:]


def _insert(data: bytes, chance: Random) -> bytes:
    """Something is put in between."""
    place = chance.randint(0, len(data))
    return data[:place] + chance.choice(_PIECES) + data[place:]


def _zero(data: bytes, chance: Random) -> bytes:
    """A stretch was never written."""
    start, end = _range(data, chance)
    return data[:start] + bytes(end - start) + data[end:]


def _swap_lines(data: bytes, chance: Random) -> bytes:
    """Two lines changed places."""
    lines = data.split(b"\n")
    one, other = chance.randrange(len(lines)), chance.randrange(len(lines))
    lines[one], lines[other] = lines[other], lines[one]
    return b"\n".join(lines)


def _drop_line(data: bytes, chance: Random) -> bytes:
    """A line is missing."""
    lines = data.split(b"\n")
    del lines[chance.randrange(len(lines))]
    return b"\n".join(lines)


def _repeat_line(data: bytes, chance: Random) -> bytes:
    """A line comes twice."""
    lines = data.split(b"\n")
    place = chance.randrange(len(lines))
    return b"\n".join([*lines[: place + 1], *lines[place:]])


def _range(data: bytes, chance: Random) -> tuple[int, int]:
    start = chance.randint(0, len(data))
    return start, min(len(data), start + chance.randint(1, 64))


_KINDS: Final[Sequence[Callable[[bytes, Random], bytes]]] = (
    _cut,
    _flip,
    _delete,
    _duplicate,
    _insert,
    _zero,
    _swap_lines,
    _drop_line,
    _repeat_line,
)
