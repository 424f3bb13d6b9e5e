"""What is told of an error, for those that come when an answer has already begun."""

import traceback
from collections.abc import Awaitable, Callable

from cloxy_hookspecs import EndpointAnswer, EndpointRequest

_FRAMES = 8

Endpoint = Callable[[EndpointRequest], Awaitable[EndpointAnswer]]


def told(error: BaseException) -> str:
    """What failed and where, for the log; not in its own words, which may quote a conversation."""
    frames = traceback.extract_tb(error.__traceback__)[-_FRAMES:]
    places = " < ".join(f"{f.filename}:{f.lineno} {f.name}" for f in reversed(frames))
    return f"{type(error).__name__} at {places}"
