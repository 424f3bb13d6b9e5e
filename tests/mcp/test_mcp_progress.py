"""Reports of an operation as notifications: growing, in order, the last one before the result."""

import asyncio
from types import SimpleNamespace

import pytest

from cloxy_core.surfaces.mcp.sdk.progress import told
from cloxy_core.surfaces.progress import DoorProgress

REPORT = DoorProgress().report


class Session:
    """A client that takes its time."""

    def __init__(self, fails=False):
        self.heard = []
        self.fails = fails

    async def report_progress(self, done, total, message):
        await asyncio.sleep(0)
        if self.fails:
            raise ConnectionError("gone")
        self.heard.append((done, total, message))


def context(session, **meta):
    return SimpleNamespace(session=session, meta=meta or None)


def run(work, session=None, **meta):
    session = session or Session()

    async def inside():
        async with told(context(session, **meta)):
            result = await work()
        session.heard.append(result)

    asyncio.run(inside())
    return session.heard


async def stepwise():
    for done in range(1, 6):
        REPORT(done, 5, f"step {done}")
        for _ in range(4):
            await asyncio.sleep(0)
    return "result"


async def backwards():
    for done in (3, 1, 3, 2, 4):
        REPORT(done)
        for _ in range(4):
            await asyncio.sleep(0)
    return "result"


async def at_once():
    for done in range(100):
        REPORT(done, 100)
    return "result"


async def from_a_thread():
    await asyncio.to_thread(REPORT, 7, 9, "from afar")
    return "result"


async def hidden():
    REPORT(1, None, "a\u202eb")
    return "result"


def test_every_step_is_told_and_the_last_before_the_result():
    heard = run(stepwise, progress_token="t")
    assert heard == [(n, 5, f"step {n}") for n in range(1, 6)] + ["result"]


def test_what_does_not_grow_is_not_told():
    assert run(backwards, progress_token=0) == [(3, None, None), (4, None, None), "result"]


def test_of_what_comes_at_once_the_last_is_told():
    heard = run(at_once, progress_token="t")
    assert heard[-2:] == [(99, 100, None), "result"]
    assert len(heard) < 10


def test_a_report_may_come_from_a_thread():
    assert run(from_a_thread, progress_token="t") == [(7, 9, "from afar"), "result"]


def test_its_words_hide_nothing():
    assert run(hidden, progress_token="t") == [(1, None, "a\\u202eb"), "result"]


@pytest.mark.parametrize("meta", [{}, {"other": 1}])
def test_nothing_is_told_without_a_token(meta):
    assert run(stepwise, **meta) == ["result"]


def test_an_error_inside_comes_out_and_the_sender_ends():
    async def failing():
        REPORT(1)
        raise KeyError("inside")

    with pytest.raises(KeyError, match="inside"):
        run(failing, progress_token="t")


def test_a_client_that_cannot_be_told_does_not_fail_the_work():
    assert run(stepwise, Session(fails=True), progress_token="t") == ["result"]
