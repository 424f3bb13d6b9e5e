"""What tests of the router and of the processes share."""

import time
from dataclasses import replace
from pathlib import Path

from cloxy_core.services.llm.hosting import HostedBackend, Hosting
from cloxy_core.services.llm.process import Target
from cloxy_hookspecs import ChatMessage, ChatRequest, ModelChoice

CHOICE = ModelChoice(name="parrot", format="gguf", source="here", path="file")
HOSTING = Hosting(
    backend="pages",
    target=Target("llm.core_parrot", "load"),
    threads=2,
    settings={},
    idle_seconds=0,
    load_seconds=30,
)


def request(text, **more):
    return ChatRequest(messages=(ChatMessage("user", text),), **more)


def hosted(choice=CHOICE, **changes):
    """A back-end with a real process."""
    return HostedBackend(replace(HOSTING, **changes), lambda: choice)


async def texts(deltas):
    return [delta.text async for delta in deltas if delta.text]


async def said(llm, text):
    return "".join(await texts(llm.stream(request(text))))


def is_running(pid):
    """Whether there is such a process, other than one that waits to be buried."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def wait_until(holds, seconds=120.0):
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "it never came to be"
        time.sleep(0.02)
