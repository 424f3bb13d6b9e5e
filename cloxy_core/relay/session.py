"""A session of the era with a handshake: kept for the client, and made again when it is lost."""

import contextlib
import http.client
import json
import threading
from collections.abc import Callable
from typing import Final

from cloxy_core.client_config import ClientError
from cloxy_core.relay.answers import AnswerError, Received, media_type, messages_of
from cloxy_core.relay.endpoint import Endpoint, Exchange
from cloxy_core.relay.headers import SESSION, VERSION
from cloxy_core.relay.messages import INITIALIZED, as_line, is_answer, one_line

HANDSHAKE_SECONDS: Final = 60.0
NOTIFY_SECONDS: Final = 10.0
END_SECONDS: Final = 1.0
_FIRST_PAUSE: Final = 1.0
_LONGEST_PAUSE: Final = 30.0


class Session:
    """What the server gave for one handshake.

    Attributes:
        version: protocol version that was agreed on.
    """

    def __init__(self, handshake: bytes, session_id: str | None, version: str) -> None:
        self.version = version
        self.is_opened = False
        self._handshake = handshake
        self._id = session_id
        self._ended = threading.Event()
        self._listening: Exchange | None = None

    @property
    def headers(self) -> dict[str, str]:
        """What every request of the session says."""
        known = {} if self._id is None else {SESSION: self._id}
        return {**known, VERSION: self.version}

    @property
    def has_id(self) -> bool:
        """Whether the server keeps a session at all."""
        return self._id is not None

    def open(self, endpoint: Endpoint, write: Callable[[bytes], None]) -> None:
        """Listen for what the server says by itself, once the client is ready."""
        if not self.is_opened and self.has_id:
            threading.Thread(target=self._listen, args=(endpoint, write), daemon=True).start()
        self.is_opened = True

    def renewed(self, endpoint: Endpoint, write: Callable[[bytes], None]) -> "Session":
        """The same session with a server that does not know it any more.

        Raises:
            ClientError: the server refused, or is not there.
        """
        self.forget()
        handshake = json.loads(self._handshake) | {"id": "cloxy-renewed-session"}
        session = shake_hands(endpoint, self._handshake, as_line(handshake))
        if self.is_opened:
            notify(endpoint, session.headers, as_line({"jsonrpc": "2.0", "method": INITIALIZED}))
            session.open(endpoint, write)
        return session

    def forget(self) -> None:
        """Listen no more."""
        self._ended.set()
        listening = self._listening
        if listening is not None:
            listening.cut_off()

    def end(self, endpoint: Endpoint) -> None:
        """Tell the server that nobody will come back; whether it heard does not matter."""
        self.forget()
        if not self.has_id:
            return
        exchange = Exchange()
        try:
            endpoint.send(exchange, "DELETE", self.headers, may_start=False, seconds=END_SECONDS)
        except (ClientError, OSError, http.client.HTTPException):
            return
        finally:
            exchange.close()

    def _listen(self, endpoint: Endpoint, write: Callable[[bytes], None]) -> None:
        pause = _FIRST_PAUSE
        while not self._ended.is_set():
            exchange = self._listening = Exchange()
            try:
                response = endpoint.send(exchange, "GET", self.headers, may_start=False)
                if response.status != 200 or media_type(response) != "text/event-stream":
                    return  # the server has nothing of its own to say, or not to this session
                pause = _FIRST_PAUSE
                for message in messages_of(response):
                    write(one_line(message.payload, message.value))
            except (ClientError, OSError, http.client.HTTPException, ValueError):
                pause = min(2 * pause, _LONGEST_PAUSE)
            finally:
                exchange.close()
            self._ended.wait(pause)


def shake_hands(endpoint: Endpoint, handshake: bytes, body: bytes) -> Session:
    """Send an `initialize` for ourselves.

    Args:
        endpoint: where to.
        handshake: the client's own message, kept for the next time.
        body: what is sent.

    Raises:
        ClientError: the server refused, or is not there.
    """
    exchange = Exchange()
    try:
        response = endpoint.send(exchange, "POST", {}, body, seconds=HANDSHAKE_SECONDS)
        if response.status == 200:
            for message in messages_of(response):
                if is_answer(message.value):
                    return session_of(handshake, response, message)
        raise AnswerError(
            f"the server does not take up the session again (status {response.status})",
            hint="restart the MCP server in the editor",
        )
    except (OSError, http.client.HTTPException) as error:
        raise AnswerError("the server left while the session was taken up again") from error
    finally:
        exchange.close()


def session_of(handshake: bytes, response: http.client.HTTPResponse, answer: Received) -> Session:
    """The session that an answer to `initialize` opens.

    Raises:
        AnswerError: it opens none.
    """
    result = answer.value.get("result")
    version = result.get("protocolVersion") if isinstance(result, dict) else None
    if not isinstance(version, str):
        raise AnswerError(
            "the server refused to open a session", hint="restart the MCP server in the editor"
        )
    return Session(handshake, response.getheader(SESSION), version)


def notify(endpoint: Endpoint, headers: dict[str, str], body: bytes) -> int:
    """Send a message that has no answer; the status.

    Raises:
        ClientError: no server answers, or it is not ours.
        OSError: the connection broke.
        http.client.HTTPException: what came is no HTTP.
    """
    exchange = Exchange()
    with contextlib.closing(exchange):
        return endpoint.send(exchange, "POST", headers, body, seconds=NOTIFY_SECONDS).status
