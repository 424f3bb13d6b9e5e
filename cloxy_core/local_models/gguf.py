"""The header of a GGUF file: what it says of the model, read with bounds and without its weights.

Form: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md. Little-endian; version 1 has
counts and lengths of 32 bits, later ones of 64.
"""

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from cloxy_hookspecs.errors import InputError

MAGIC: Final = b"GGUF"
MAX_HEADER_BYTES: Final = 256 * 1024 * 1024
"""A vocabulary of a quarter of a million words with its merges takes some ten million."""

_MAX_ENTRIES: Final = 100_000
_MAX_KEY: Final = 65_535
_MAX_TEXT: Final = 1024 * 1024
_MAX_ITEMS: Final = 16 * 1024 * 1024
_STRING: Final = 8
_ARRAY: Final = 9
# type number: letter of `struct`
_PLAIN: Final = {
    0: "B",
    1: "b",
    2: "H",
    3: "h",
    4: "I",
    5: "i",
    6: "f",
    7: "?",
    10: "Q",
    11: "q",
    12: "d",
}
_KEPT: Final = frozenset(
    {"general.architecture", "general.name", "split.count", "tokenizer.chat_template"}
)
# Behind the architecture's name.
_SHAPE: Final = (
    ".context_length",
    ".block_count",
    ".embedding_length",
    ".attention.head_count",
    ".attention.head_count_kv",
    ".attention.key_length",
    ".attention.value_length",
)


class BadModelFileError(InputError):
    """A file or folder is no model that can be loaded."""


@dataclass(frozen=True, slots=True)
class GgufHeader:
    """What a GGUF file says of itself.

    Attributes:
        version: version of the form.
        tensors: number of tensors.
        architecture: such as `llama` or `qwen3`.
        name: the model's name; empty when it does not say.
        context_tokens: longest context that it was made for; None when it does not say.
        cache_kb_per_token: memory for each token of its context, 10^3 bytes, at 16 bits for a
            number and without what windows save; None when it does not say.
        chat_template: whether it has a template for conversations.
        split_count: number of files that the model is cut into; 1 for a whole one.
    """

    version: int
    tensors: int
    architecture: str
    name: str
    context_tokens: int | None
    cache_kb_per_token: float | None
    chat_template: bool
    split_count: int


def read_gguf(path: Path) -> GgufHeader:
    """Read the header of a GGUF file.

    Raises:
        BadModelFileError: it cannot be read, is no GGUF file, or its header is damaged.
    """
    try:
        with path.open("rb") as file:
            return _Reader(path, file).header()
    except OSError as error:
        raise BadModelFileError(
            f"{path} cannot be read: {error.strerror or error}", hint="check its name and rights"
        ) from error


class _Reader:
    def __init__(self, path: Path, file: BinaryIO) -> None:
        self._path = path
        self._file = file
        self._left = MAX_HEADER_BYTES
        self._wide = True

    def header(self) -> GgufHeader:
        if self._bytes(4) != MAGIC:
            raise self._bad("it does not begin with GGUF")
        (version,) = struct.unpack("<I", self._bytes(4))
        if not 1 <= version <= 3:
            raise self._bad(f"version {version} of the form is not known")
        self._wide = version > 1
        tensors, entries = self._length(), self._length()
        if entries > _MAX_ENTRIES or tensors > _MAX_ENTRIES * 10:
            raise self._bad("its counts cannot be right")
        values = self._metadata(entries)
        architecture = values.get("general.architecture")
        if not isinstance(architecture, str) or not architecture:
            raise self._bad("it does not say which architecture it has")
        split = values.get("split.count")
        name = values.get("general.name")
        return GgufHeader(
            version=version,
            tensors=tensors,
            architecture=architecture,
            name=name if isinstance(name, str) else "",
            context_tokens=_whole(values, f"{architecture}.context_length"),
            cache_kb_per_token=_cache(values, architecture),
            chat_template=isinstance(values.get("tokenizer.chat_template"), str),
            split_count=split if isinstance(split, int) and split > 1 else 1,
        )

    def _metadata(self, entries: int) -> dict[str, object]:
        values: dict[str, object] = {}
        for _ in range(entries):
            key = self._text(_MAX_KEY)
            (kind,) = struct.unpack("<I", self._bytes(4))
            value = self._value(kind)
            if key in _KEPT or key.endswith(_SHAPE):
                values[key] = value
        return values

    def _value(self, kind: int) -> object:
        if kind == _STRING:
            return self._text(_MAX_TEXT)
        if kind == _ARRAY:
            self._skip_array()
            return None
        letter = _PLAIN.get(kind)
        if letter is None:
            raise self._bad(f"type {kind} of a value is not known")
        form = f"<{letter}"
        return struct.unpack(form, self._bytes(struct.calcsize(form)))[0]

    def _skip_array(self) -> None:
        (kind,) = struct.unpack("<I", self._bytes(4))
        count = self._length()
        if count > _MAX_ITEMS:
            raise self._bad("a list in it cannot be that long")
        if kind == _STRING:
            for _ in range(count):
                self._skip(self._length())
        elif kind in _PLAIN:
            self._skip(count * struct.calcsize(f"<{_PLAIN[kind]}"))
        else:
            raise self._bad(f"a list of type {kind} is not known")

    def _text(self, limit: int) -> str:
        length = self._length()
        if length > limit:
            raise self._bad("a text in it cannot be that long")
        return self._bytes(length).decode("utf-8", "replace")

    def _length(self) -> int:
        form, size = ("<Q", 8) if self._wide else ("<I", 4)
        return int(struct.unpack(form, self._bytes(size))[0])

    def _skip(self, count: int) -> None:
        self._take(count)
        # Beyond the end nothing is read, which the next read notices.
        self._file.seek(count, 1)

    def _bytes(self, count: int) -> bytes:
        self._take(count)
        data = self._file.read(count)
        if len(data) != count:
            raise self._bad("it ends within its header")
        return data

    def _take(self, count: int) -> None:
        self._left -= count
        if self._left < 0:
            raise self._bad("its header is too long")

    def _bad(self, reason: str) -> BadModelFileError:
        return BadModelFileError(
            f"{self._path} is no whole GGUF model: {reason}",
            hint="get the file again, or choose another",
        )


def _whole(values: Mapping[str, object], name: str) -> int | None:
    value = values.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def _cache(values: Mapping[str, object], architecture: str) -> float | None:
    """Keys and values of every layer: layers x heads x lengths x 2 bytes."""
    shape = {name: _whole(values, architecture + name) for name in _SHAPE}
    layers, width, heads = (
        shape[".block_count"],
        shape[".embedding_length"],
        shape[".attention.head_count"],
    )
    if layers is None or heads is None or width is None:
        return None
    kept = shape[".attention.head_count_kv"] or heads
    each = width // heads
    key = shape[".attention.key_length"] or each
    value = shape[".attention.value_length"] or each
    return layers * kept * (key + value) * 2 / 1000
