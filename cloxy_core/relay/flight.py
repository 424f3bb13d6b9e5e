"""A request on its way: its answer, its end, its place in a batch."""

import threading
from collections.abc import Callable

from cloxy_core.relay.endpoint import Exchange
from cloxy_core.relay.messages import Message


class Batch:
    """Requests that came as one array, and are answered by one."""

    def __init__(self, count: int, write: Callable[[bytes], None]) -> None:
        self._lock = threading.Lock()
        self._open = count
        self._answers: list[bytes] = []
        self._write = write

    def done(self, answer: bytes | None) -> None:
        """Note the end of one request; the last one has the array written."""
        with self._lock:
            self._open -= 1
            if answer is not None:
                self._answers.append(answer)
            is_last = self._open == 0
        if is_last and self._answers:
            self._write(b"[" + b",".join(self._answers) + b"]")


class Flight:
    """One request of the client.

    Attributes:
        message: the request.
        modern: whether it belongs to the era without sessions.
        cancelled: whether the client wants no answer any more.
        exchange: what carries it.
        ended: set when nothing more comes of it.
    """

    def __init__(
        self,
        message: Message,
        write: Callable[[bytes], None],
        *,
        modern: bool,
        batch: Batch | None = None,
    ) -> None:
        self.message = message
        self.modern = modern
        self.cancelled = False
        self.exchange = Exchange()
        self.ended = threading.Event()
        self._lock = threading.Lock()
        self._is_over = False
        self._write = write
        self._batch = batch

    @property
    def is_over(self) -> bool:
        """Whether it is answered or given up."""
        return self._is_over

    def answer(self, line: bytes | None) -> None:
        """Give the client its answer, or None for none; only the first counts."""
        with self._lock:
            if self._is_over:
                return
            self._is_over = True
        if self._batch is not None:
            self._batch.done(line)
        elif line is not None:
            self._write(line)

    def again(self) -> Exchange:
        """A fresh exchange for a second try; one that is cut off if the first was."""
        before, self.exchange = self.exchange, Exchange()
        before.close()
        if before.is_cut or self._is_over:
            self.exchange.cut_off()
        return self.exchange

    def end(self) -> None:
        """Note that nothing more comes of it; without an answer so far it gets none."""
        self.answer(None)
        self.ended.set()

    def give_up(self) -> None:
        """Break it off without an answer."""
        self.cancelled = True
        self.end()
        self.exchange.cut_off()

    def abandon(self) -> None:
        """Break it off because the client has gone: nothing is written, so nothing can block."""
        self.cancelled = True
        self.exchange.cut_off()
