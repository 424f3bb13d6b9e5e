"""Stand-ins for what a test must control: the time, session logs that somebody writes, a model."""

import re
from collections.abc import AsyncIterator, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from hashlib import shake_256
from pathlib import Path

import numpy as np

from cloxy_hookspecs import (
    ChatDelta,
    ChatRequest,
    EmbedderInfo,
    EmbeddingSpace,
    Float32Matrix,
    Float32Vector,
    ModelInfo,
    RawLine,
    SourceFailure,
    SourceItem,
    TokenUsage,
    UnsupportedModelError,
)

START = datetime(2026, 3, 14, 9, 26, 53, tzinfo=UTC)
"""Where a settable clock begins."""


class SettableClock:
    """A clock that stands still until it is moved; implements `Clock`."""

    def __init__(self, now: datetime = START) -> None:
        """Begin at an instant, which must be aware."""
        self._now = now.astimezone(UTC)

    def now(self) -> datetime:
        """The present, aware, UTC."""
        return self._now

    def now_ms(self) -> int:
        """The present in integer milliseconds since the epoch."""
        return round(self._now.timestamp() * 1000)

    def set(self, now: datetime) -> None:
        """Go to an instant, forwards or back."""
        self._now = now.astimezone(UTC)

    def advance(self, **amount: float) -> None:
        """Go forward; takes what `timedelta` takes."""
        self._now += timedelta(**amount)


class MemorySource:
    """Session logs in memory; implements `Source`, and tests write to them."""

    def __init__(self, root: Path = Path("/memory")) -> None:
        """Make it empty.

        Args:
            root: folder that the logs seem to lie in; nothing is read there.
        """
        self._root = root
        self._files: dict[str, tuple[str, bytes]] = {}
        self._made = 0

    def put(self, name: str, data: bytes) -> SourceItem:
        """Write a log anew, as a file of another identity; its item."""
        self._made += 1
        uri = str(self._root / name)
        self._files[uri] = (f"memory:{self._made}", data)
        return self._item(uri)

    def append(self, name: str, data: bytes) -> SourceItem:
        """Add to a log; its item.

        Raises:
            KeyError: there is no such log.
        """
        uri = str(self._root / name)
        identity, before = self._files[uri]
        self._files[uri] = (identity, before + data)
        return self._item(uri)

    def remove(self, name: str) -> None:
        """Let a log vanish.

        Raises:
            KeyError: there is no such log.
        """
        del self._files[str(self._root / name)]

    def roots(self) -> Sequence[Path]:
        """The one folder."""
        return (self._root,)

    def discover(
        self, failures: list[SourceFailure], under: Path | None = None
    ) -> Iterable[SourceItem]:
        """The logs, by name; nothing ever fails to be looked at."""
        del failures
        for uri in sorted(self._files):
            if under is None or Path(uri).is_relative_to(under):
                yield self._item(uri)

    def read(self, item: SourceItem, offset: int) -> Iterable[RawLine]:
        """Lines from an offset to the end.

        Raises:
            OSError: the log is gone, or is another one by now.
        """
        return raw_lines(self._data(item), offset)

    def excerpt(self, item: SourceItem, start: int, end: int) -> bytes:
        """The bytes of a range.

        Raises:
            OSError: the log is gone, or is another one by now.
        """
        return self._data(item)[start:end]

    def _item(self, uri: str) -> SourceItem:
        identity, data = self._files[uri]
        return SourceItem(uri, identity, len(data), len(data))

    def _data(self, item: SourceItem) -> bytes:
        identity, data = self._files.get(item.uri, ("", b""))
        if identity != item.identity:
            raise FileNotFoundError(f"{item.uri} is not there any more")
        return data


class FakeEmbedder:
    """An embedder without a model; implements `Embedder`. Texts are alike by common words.

    Every word has a direction of its own, the same in every run, and a text is the sum of its
    words. Directions of different words are nearly at right angles.
    """

    def __init__(self, dim: int = 128, *, model: str = "fake/words") -> None:
        """Make it, with nothing planted.

        Args:
            dim: length of a vector, a multiple of 8.
            model: name of its space.
        """
        space = EmbeddingSpace(model=model, revision="1", dim=dim)
        self._info = EmbedderInfo(space, weight=0.3, floor=0.1, batch=16, characters=300)
        self._planted: dict[str, tuple[str, float]] = {}

    @property
    def info(self) -> EmbedderInfo:
        """What it is."""
        return self._info

    def plant(self, text: str, *, like: str, similarity: float) -> None:
        """Let a text have a cosine of -1..1 with another text, whatever their words."""
        if text == like or like in self._planted:
            raise ValueError("what a text is to be like must be another text, and not planted")
        self._planted[text] = (like, similarity)

    def embed_passages(self, texts: Sequence[str]) -> Float32Matrix:
        """Vectors of passages, shape (n, d)."""
        made = [self._vector(text) for text in texts]
        return np.array(made, dtype=np.float32).reshape(len(made), self._info.space.dim)

    def embed_queries(self, texts: Sequence[str]) -> Float32Matrix:
        """Vectors of questions, shape (n, d): those of passages with the same text."""
        return self.embed_passages(texts)

    def _vector(self, text: str) -> Float32Vector:
        if text not in self._planted:
            return self._sum(text)
        like, similarity = self._planted[text]
        other, own = self._sum(like), self._sum(f"planted {text}")
        aside = own - (own @ other) * other
        across = (1 - similarity**2) ** 0.5 / float(aside @ aside) ** 0.5
        vector: Float32Vector = similarity * other + across * aside
        return vector

    def _sum(self, text: str) -> Float32Vector:
        words = re.findall(r"\w+", text.lower()) or [text]
        total: Float32Vector = np.sum([self._direction(word) for word in words], axis=0)
        vector: Float32Vector = total / float(total @ total) ** 0.5
        return vector

    def _direction(self, word: str) -> Float32Vector:
        digest = shake_256(word.encode("utf-8", "replace")).digest(self._info.space.dim // 8)
        bits = np.unpackbits(np.frombuffer(digest, dtype=np.uint8))
        return 2 * bits.astype(np.float32) - 1


class FakeLLM:
    """A language model that says what it is told to say; implements `LLM`.

    Attributes:
        asked: what it was asked, oldest first.
    """

    place = "in this process"
    configured = True

    def __init__(self, *answers: str, model: str = "fake", remote: bool = False) -> None:
        """Make it.

        Args:
            answers: its answers, in order; the last is repeated. None for saying "yes".
            model: name of its one model.
            remote: whether it claims to be on another machine.
        """
        self.asked: list[ChatRequest] = []
        self.remote = remote
        self._answers = answers or ("yes",)
        self._model = model

    async def models(self) -> Sequence[ModelInfo]:
        """Its one model."""
        return [ModelInfo(id=self._model, backend="fake", remote=self.remote)]

    async def count(self, request: ChatRequest) -> int | None:
        """Words of the conversation."""
        return sum(len(message.text.split()) for message in request.messages)

    async def stream(self, request: ChatRequest) -> AsyncIterator[ChatDelta]:
        """The next answer, word by word.

        Raises:
            UnsupportedModelError: tools are wanted.
        """
        if request.tools:
            raise UnsupportedModelError("the fake model takes no tools")
        text = self._answers[min(len(self.asked), len(self._answers) - 1)]
        self.asked.append(request)
        words = re.findall(r"\S+\s*|\s+", text)[: request.max_tokens]
        for word in words:
            yield ChatDelta(text=word)
        prompt = await self.count(request) or 0
        yield ChatDelta(finish="stop", usage=TokenUsage(prompt, len(words)))


def raw_lines(data: bytes, offset: int = 0) -> list[RawLine]:
    r"""Bytes as lines, split at `\n` alone; one without it at the end is unfinished."""
    lines: list[RawLine] = []
    while offset < len(data):
        found = data.find(b"\n", offset)
        finished = found >= 0
        stop = found if finished else len(data)
        content = data[offset:stop]
        end = stop + finished
        if finished:
            content = content.removesuffix(b"\r")
        lines.append(RawLine(offset, end, content, finished=finished))
        offset = end
    return lines
