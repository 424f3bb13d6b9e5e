import asyncio
import contextvars
import sys
import threading

import pytest

from cloxy_core.runtime.workers import WorkerPlan, Workers, someone_is_left, take_short_turns
from cloxy_hookspecs.errors import StoreBusyError


@pytest.fixture
def workers():
    made = Workers({"one": WorkerPlan(1, 3), "two": WorkerPlan(2, 8)})
    yield made
    assert made.close_blocking(60)


class Gate:
    """A job that waits until it is let through."""

    def __init__(self, value=None):
        self.value = value
        self.began = threading.Event()
        self.open = threading.Event()

    def __call__(self):
        self.began.set()
        assert self.open.wait(60)
        return self.value


def test_a_value_and_an_error_come_back(workers):
    async def run():
        assert await workers.run("one", lambda: 41 + 1) == 42
        with pytest.raises(ZeroDivisionError):
            await workers.run("one", lambda: 1 // 0)
        return await workers.run("one", lambda: threading.current_thread().name)

    assert asyncio.run(run()) == "cloxy-one-1"


def test_a_job_sees_the_context_of_its_caller(workers):
    variable = contextvars.ContextVar("variable", default="none")

    async def run():
        variable.set("mine")
        return await workers.run("one", variable.get)

    assert asyncio.run(run()) == "mine"


def test_urgent_jobs_go_first_and_each_kind_keeps_its_order(workers):
    gate, order = Gate(), []
    workers.submit("one", gate)
    assert gate.began.wait(60)
    last = [workers.submit("one", lambda n=n: order.append(n)) for n in "ab"]
    workers.submit("one", lambda: order.append("A"), urgent=True)
    workers.submit("one", lambda: order.append("B"), urgent=True)
    assert workers.waiting("one") == 4
    gate.open.set()
    last[-1].result(60)
    assert order == ["A", "B", "a", "b"]


def test_a_full_queue_refuses_but_keeps_room_for_urgent_jobs(workers):
    gate = Gate()
    workers.submit("one", gate)
    assert gate.began.wait(60)
    futures = [workers.submit("one", int) for _ in range(3)]
    with pytest.raises(StoreBusyError, match="3 jobs already wait for the one threads"):
        workers.submit("one", int)
    futures += [workers.submit("one", int, urgent=True) for _ in range(3)]
    with pytest.raises(StoreBusyError):
        workers.submit("one", int, urgent=True)
    gate.open.set()
    assert [future.result(60) for future in futures] == [0] * 6


def test_several_threads_work_at_the_same_time(workers):
    gates = [Gate(), Gate()]
    futures = [workers.submit("two", gate) for gate in gates]
    assert all(gate.began.wait(60) for gate in gates)
    for gate in gates:
        gate.open.set()
    for future in futures:
        future.result(60)


def test_a_cancelled_caller_takes_its_waiting_job_out(workers):
    gate, ran = Gate(), []

    async def run():
        first = asyncio.ensure_future(workers.run("one", gate))
        await asyncio.to_thread(gate.began.wait, 60)
        second = asyncio.ensure_future(workers.run("one", lambda: ran.append(1)))
        await asyncio.sleep(0)
        second.cancel()
        with pytest.raises(asyncio.CancelledError):
            await second
        gate.open.set()
        await first
        await workers.run("one", int)

    asyncio.run(run())
    assert ran == []


def test_closing_finishes_every_waiting_job_and_takes_no_more():
    workers = Workers({"one": WorkerPlan(1, 100)})
    done = []
    futures = [workers.submit("one", lambda n=n: done.append(n)) for n in range(100)]
    assert asyncio.run(workers.close())
    assert done == list(range(100))
    assert all(future.done() for future in futures)
    with pytest.raises(StoreBusyError, match="shutting down"):
        workers.submit("one", int)
    assert workers.close_blocking(1)


def test_closing_does_not_wait_for_ever_and_nobody_is_left_waiting():
    workers = Workers({"one": WorkerPlan(1, 100)})
    gate = Gate("late")
    running = workers.submit("one", gate)
    assert gate.began.wait(60)
    waiting = workers.submit("one", int)
    assert not workers.close_blocking(0.05)
    assert someone_is_left()
    with pytest.raises(StoreBusyError, match="shutting down"):
        waiting.result(60)
    gate.open.set()
    assert running.result(60) == "late"


def test_an_idle_thread_keeps_no_reference_to_its_last_job(workers):
    import gc
    import weakref

    class Big:
        def __call__(self):
            return None

    job = Big()
    reference = weakref.ref(job)
    workers.submit("one", job).result(60)
    workers.submit("one", int).result(60)
    del job
    gc.collect()
    assert reference() is None


def test_threads_take_short_turns():
    before = sys.getswitchinterval()
    try:
        take_short_turns()
        assert sys.getswitchinterval() == pytest.approx(0.0005)
    finally:
        sys.setswitchinterval(before)
