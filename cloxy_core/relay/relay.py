"""The relay: every line of the client to the server, every answer back, by the rules of its era."""

import contextlib
import http.client
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Final

from cloxy_core.client_config import ClientError
from cloxy_core.escaping import escape
from cloxy_core.relay.answers import (
    AnswerError,
    Received,
    media_type,
    messages_of,
    read_body,
    received,
)
from cloxy_core.relay.endpoint import Endpoint
from cloxy_core.relay.flight import Batch, Flight
from cloxy_core.relay.headers import modern_headers
from cloxy_core.relay.messages import (
    BATCH_VERSION,
    CANCELLED,
    INITIALIZE,
    INITIALIZED,
    INVALID_REQUEST,
    LISTEN,
    RELAY_ERROR,
    InvalidMessageError,
    Message,
    as_line,
    as_message,
    error_line,
    is_answer,
    key_of,
    one_line,
    parse_line,
)
from cloxy_core.relay.session import (
    END_SECONDS,
    HANDSHAKE_SECONDS,
    Session,
    notify,
    session_of,
)

MAX_LINE: Final = 26 * 1024 * 1024
MAX_RUNNING: Final = 32
MAX_WAITING: Final = 256
GRACE_SECONDS: Final = 1.5
# How long a session of the old era may take to end a request that was cancelled.
CANCEL_SECONDS: Final = 5.0
_LOOK_SECONDS: Final = 0.02


class Relay:
    """Carries messages; `take` may be called by one thread only."""

    def __init__(
        self, endpoint: Endpoint, write: Callable[[bytes], None], say: Callable[[str], None]
    ) -> None:
        """Know both sides.

        Args:
            endpoint: where the server's endpoint is.
            write: gives the client a line.
            say: tells a person something.
        """
        self._endpoint = endpoint
        self._write = write
        self._say = say
        self._lock = threading.Lock()
        self._flights: dict[tuple[str, object], Flight] = {}
        self._waiting: deque[Flight] = deque()
        self._running = 0
        self._session: Session | None = None
        self._renewing = threading.Lock()
        self._handshake: Flight | None = None
        self._modern: str | None = None

    def take(self, line: bytes | None) -> None:
        """Carry one line of the client; None stands for one that was too long."""
        try:
            if line is None:
                raise InvalidMessageError(
                    INVALID_REQUEST, f"a message may have {MAX_LINE:,} bytes at most"
                )
            if not line.strip():
                return
            value = parse_line(line)
            if isinstance(value, list):
                self._take_batch(value)
            else:
                self._take_message(as_message(value, line.strip()))
        except InvalidMessageError as error:
            self._write(error_line(error.id, error.code, error.message))

    def close(self, *, grace: float = GRACE_SECONDS) -> None:
        """Let what is under way end for a moment, end the rest, and end the session."""
        deadline = time.monotonic() + grace
        while self._is_working() and time.monotonic() < deadline:
            time.sleep(_LOOK_SECONDS)
        with self._lock:
            left = [*self._flights.values(), *self._waiting]
            self._waiting.clear()
        for flight in left:
            flight.abandon()
        if self._session is not None:
            ending = threading.Thread(target=self._session.end, args=(self._endpoint,), daemon=True)
            ending.start()
            ending.join(END_SECONDS)

    def _is_working(self) -> bool:
        with self._lock:
            return any(flight.message.method != LISTEN for flight in self._flights.values())

    def _take_batch(self, values: list[object]) -> None:
        session = self._current_session()
        if session is None or session.version != BATCH_VERSION:
            raise InvalidMessageError(
                INVALID_REQUEST, "this version of the protocol has no batches: send one at a time"
            )
        if not values:
            raise InvalidMessageError(INVALID_REQUEST, "a batch needs a message")
        messages: list[Message] = []
        refused: list[bytes] = []
        for value in values:
            try:
                messages.append(as_message(value))
            except InvalidMessageError as error:
                refused.append(error_line(error.id, error.code, error.message))
        requests = sum(message.kind == "request" for message in messages)
        batch = Batch(requests + len(refused), self._write)
        for line in refused:
            batch.done(line)
        for message in messages:
            self._take_message(message, batch)

    def _take_message(self, message: Message, batch: Batch | None = None) -> None:
        version = message.version
        if version is not None:
            self._modern = version
        if message.kind == "request":
            self._start(Flight(message, self._write, modern=version is not None, batch=batch))
        elif message.method == CANCELLED:
            self._cancel(message)
        else:
            self._notify(message)

    def _start(self, flight: Flight) -> None:
        if flight.message.method == INITIALIZE and not flight.modern:
            self._handshake = flight
        with self._lock:
            earlier = self._flights.get(key_of(flight.message.id))
            self._flights[key_of(flight.message.id)] = flight
            must_wait = self._running >= MAX_RUNNING
            is_full = must_wait and len(self._waiting) >= MAX_WAITING
            if not must_wait:
                self._running += 1
            elif not is_full:
                self._waiting.append(flight)
        if earlier is not None:
            earlier.give_up()  # its id belongs to the new one
        if is_full:
            self._forget(flight)
            self._fail(flight, AnswerError("too many requests at once", hint="try again later"))
        elif not must_wait:
            threading.Thread(target=self._run, args=(flight,), daemon=True).start()

    def _run(self, first: Flight) -> None:
        flight: Flight | None = first
        while flight is not None:
            self._carry(flight)
            self._forget(flight)
            with self._lock:
                flight = self._waiting.popleft() if self._waiting else None
                self._running -= flight is None

    def _forget(self, flight: Flight) -> None:
        with self._lock:
            key = key_of(flight.message.id)
            if self._flights.get(key) is flight:
                del self._flights[key]

    def _carry(self, flight: Flight) -> None:
        try:
            if not flight.is_over:
                self._exchange(flight)
        except ClientError as error:
            self._fail(flight, error)
        except (OSError, http.client.HTTPException, ValueError) as error:
            self._fail(flight, _broken(error))
        except Exception as error:
            # Whatever it is, nobody must wait for ever for an answer.
            self._fail(flight, AnswerError(f"the relay failed: {type(error).__name__}: {error}"))
        finally:
            flight.exchange.close()
            flight.end()

    def _exchange(self, flight: Flight) -> None:
        """Send a request, and give the client what the server says to it."""
        message = flight.message
        if flight.modern:
            response = self._endpoint.send(
                flight.exchange,
                "POST",
                modern_headers(message, message.version or ""),
                message.body,
            )
        elif message.method == INITIALIZE:
            response = self._endpoint.send(
                flight.exchange, "POST", {}, message.body, seconds=HANDSHAKE_SECONDS
            )
        else:
            response = self._send_in_session(flight)
        if response.status != 200:
            self._refuse(flight, response)
            return
        for answer in messages_of(response):
            if not is_answer(answer.value):
                if not flight.cancelled:
                    self._write(one_line(answer.payload, answer.value))
                continue
            if message.method == INITIALIZE and not flight.modern and "result" in answer.value:
                self._open_session(session_of(message.body, response, answer))
            flight.answer(_addressed(answer, message.id))
            return
        raise _broken(EOFError())

    def _send_in_session(self, flight: Flight) -> http.client.HTTPResponse:
        session = self._current_session()
        headers = {} if session is None else session.headers
        response = self._endpoint.send(flight.exchange, "POST", headers, flight.message.body)
        if response.status != 404 or session is None or not session.has_id:
            return response
        # The server has been started anew, and refused without doing anything.
        session = self._renew(session)
        exchange = flight.again()
        return self._endpoint.send(exchange, "POST", session.headers, flight.message.body)

    def _refuse(self, flight: Flight, response: http.client.HTTPResponse) -> None:
        """Pass on why the server refused: its own JSON-RPC error where it sent one."""
        body: dict[str, object] = {}
        if media_type(response) == "application/json":
            with contextlib.suppress(AnswerError):  # an answer without a body has its status
                body = received(read_body(response)).value
        error = body.get("error")
        if isinstance(error, dict) and isinstance(error.get("code"), int):
            flight.answer(as_line({**body, "id": flight.message.id}))
        else:
            self._fail(flight, _refusal(response.status, body))

    def _open_session(self, session: Session) -> None:
        before, self._session = self._session, session
        if before is not None:
            threading.Thread(target=before.end, args=(self._endpoint,), daemon=True).start()

    def _current_session(self) -> Session | None:
        """The session, after the handshake that may be under way."""
        if self._handshake is not None:
            self._handshake.ended.wait()
        return self._session

    def _renew(self, lost: Session) -> Session:
        with self._renewing:
            if self._session is lost:
                self._say("the server was started anew; the session is taken up again")
                self._session = lost.renewed(self._endpoint, self._write)
            if self._session is None:
                raise AnswerError("the session has ended")
            return self._session

    def _notify(self, message: Message) -> None:
        """Send a message that has no answer, in its turn: what follows may depend on it."""
        try:
            session = None if self._modern and self._handshake is None else self._current_session()
            if session is None:
                notify(self._endpoint, self._headers_of(message), message.body)
                return
            status = notify(self._endpoint, session.headers, message.body)
            if status == 404 and session.has_id:
                session = self._renew(session)
                if message.method != INITIALIZED:
                    notify(self._endpoint, session.headers, message.body)
            if message.method == INITIALIZED:
                session.open(self._endpoint, self._write)
        except (ClientError, OSError, http.client.HTTPException) as error:
            self._say(f"{message.method or 'an answer'} did not reach the server: {error}")

    def _headers_of(self, message: Message) -> dict[str, str]:
        version = message.version or self._modern
        return {} if version is None else modern_headers(message, version)

    def _cancel(self, message: Message) -> None:
        key = key_of(message.params.get("requestId"))
        with self._lock:
            flight = self._flights.get(key)
            if flight is None or flight.cancelled:
                return  # it has been answered meanwhile, or is cancelled already
            flight.cancelled = True
            is_here = flight in self._waiting
            if is_here:
                self._waiting.remove(flight)
                del self._flights[key]
        if is_here or flight.modern:
            flight.give_up()
            return
        # Not here: a server that is slow to take a request must not keep other lines waiting.
        threading.Thread(
            target=self._cancel_in_session, args=(flight, message), daemon=True
        ).start()

    def _cancel_in_session(self, flight: Flight, message: Message) -> None:
        """Have the server end a request once it has it, and wait for that end only so long."""
        flight.exchange.sent.wait(CANCEL_SECONDS)
        with self._lock:
            is_current = self._flights.get(key_of(flight.message.id)) is flight
        if is_current:  # else it has ended, or its id is another request's by now
            self._notify(message)
        if not flight.ended.wait(CANCEL_SECONDS):
            flight.give_up()

    def _fail(self, flight: Flight, error: ClientError) -> None:
        hint = None if error.hint is None else escape(error.hint)
        words = f"{error.message}; {error.hint}" if error.hint else error.message
        data = {"code": error.code, "hint": hint, "status": error.status}
        known = {name: value for name, value in data.items() if value is not None}
        # It may be in the words of whoever answers at the address, or of a log.
        line = error_line(flight.message.id, RELAY_ERROR, escape(words), known)
        flight.answer(None if flight.cancelled else line)


def _addressed(answer: Received, message_id: object) -> bytes:
    """An answer with the id of the request that it is the answer to."""
    if key_of(answer.value.get("id")) == key_of(message_id):
        return one_line(answer.payload, answer.value)
    return as_line({**answer.value, "id": message_id})


def _broken(error: Exception) -> AnswerError:
    if isinstance(error, TimeoutError):
        return AnswerError("the server did not answer in time", hint="look at `cloxy status`")
    return AnswerError(
        "the connection to the server broke before its answer came",
        hint="look at `cloxy status`, and try again",
    )


def _refusal(status: int, body: dict[str, object]) -> ClientError:
    """The server's refusal in words, its own where it has some."""
    error = body.get("error")
    told = error if isinstance(error, dict) else {}
    message = str(told.get("message") or f"the server answered with status {status}")
    hint = str(told["hint"]) if told.get("hint") else None
    if status == 401:
        hint = "set CLOXY_API_KEY to the server's key in client.env, in the data directory"
    elif status == 404 and not told:
        hint = "the server has no MCP endpoint: it may be too old, or CLOXY_URL another program's"
    return AnswerError(message.removesuffix("."), hint=hint, status=status)
