"""What an official client reads of a stream and does not tell: the signs of life in it."""

import importlib
import threading
from contextlib import contextmanager


class Heard:
    """Signs of life on a connection.

    Attributes:
        pings: how many came.
        enough: set when so many came as are waited for.
    """

    def __init__(self, ping, wanted=2):
        self.pings = 0
        self.enough = threading.Event()
        self._ping = ping
        self._wanted = wanted

    def take(self, piece):
        self.pings += piece.count(self._ping)
        if self.pings >= self._wanted:
            self.enough.set()


@contextmanager
def overhearing(sdk, heard):
    """A connection for the client of an SDK, to be given to it as `http_client`."""
    # The SDKs are made with different versions of one library.
    base = next(one for one in sdk.DefaultHttpxClient.__mro__ if one.__name__ == "Client")
    library = importlib.import_module(base.__module__.partition(".")[0])

    class Overheard(library.SyncByteStream):
        def __init__(self, body):
            self._body = body

        def __iter__(self):
            for piece in self._body:
                heard.take(piece)
                yield piece

        def close(self):
            self._body.close()

    class Transport(library.HTTPTransport):
        def handle_request(self, request):
            response = super().handle_request(request)
            response.stream = Overheard(response.stream)
            return response

    with sdk.DefaultHttpxClient(transport=Transport()) as client:
        yield client
