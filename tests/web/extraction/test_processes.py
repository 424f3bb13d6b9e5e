"""Worker processes: limits, deaths, turns, and an end that leaves nothing."""

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from cloxy_core.runtime import process_main
from cloxy_core.runtime.processes import (
    JobError,
    ProcessBusyError,
    ProcessDiedError,
    ProcessLimitError,
    ProcessLimits,
    ProcessPool,
    ProcessStoppedError,
)

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(sys.platform == "win32", reason="signals and limits of POSIX"),
]
JOBS = "web.extraction.worker_jobs"
PATIENCE = 120.0
LONG = 60.0


def alive(pid):
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


async def until(condition):
    async with asyncio.timeout(PATIENCE):
        while not condition():
            await asyncio.sleep(0.01)


@pytest.fixture
def pools():
    """Makes pools; all are closed and leave no process."""
    made = []

    def make(size=1, waiting=16, **limits):
        given = {"seconds": LONG, **limits}
        pool = ProcessPool({JOBS: None}, size=size, waiting=waiting, limits=ProcessLimits(**given))
        made.append(pool)
        return pool

    yield make
    for pool in made:
        left = pool.pids
        asyncio.run(pool.aclose())
        assert not [pid for pid in left if alive(pid)]


def run(coroutine):
    return asyncio.run(coroutine)


def hurry(pool, seconds):
    """Have the next job take so long at most; ones that must succeed have all the time."""
    pool._limits = replace(pool._limits, seconds=seconds)


def call(pool, name, argument=None):
    return pool.call(f"{JOBS}:{name}", argument)


def test_nothing_is_started_before_the_first_job(pools):
    pool = pools(size=2)
    assert pool.pids == frozenset()
    run(call(pool, "echo"))
    assert len(pool.pids) == 1


@pytest.mark.parametrize(
    "value", [None, 1, "text", ["a", {"b": [1.5, False]}], "half \ud800 pair", "港" * 300_000]
)
def test_what_is_sent_comes_back(pools, value):
    assert run(call(pools(), "echo", value)) == value


def test_a_process_is_used_again(pools):
    pool = pools()

    async def twice():
        return [await call(pool, "pid") for _ in range(3)]

    assert len(set(run(twice()))) == 1


def test_a_process_is_replaced_after_its_jobs(pools):
    pool = pools(jobs=2)

    async def several():
        return [await call(pool, "pid") for _ in range(4)]

    found = run(several())
    assert found[0] == found[1] != found[2] == found[3]
    assert not alive(found[0])


@pytest.mark.parametrize("name", ["burn", "deaf", "armoured"])
def test_a_job_that_takes_too_long_is_killed_and_the_next_is_served(pools, name):
    pool = pools()

    async def scenario():
        before = await call(pool, "pid")
        hurry(pool, 0.3)
        with pytest.raises(ProcessLimitError, match=r"0\.3 seconds"):
            await call(pool, name)
        hurry(pool, LONG)
        await until(lambda: not alive(before))
        assert await call(pool, "echo", "next") == "next"

    run(scenario())


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not hold the limit")
def test_a_job_that_needs_too_much_memory_fails_alone(pools):
    pool = pools(memory_bytes=256 * 1024 * 1024)

    async def scenario():
        with pytest.raises(ProcessLimitError, match="memory"):
            await call(pool, "eat", 400 * 1024 * 1024)
        assert await call(pool, "eat", 1024) == 1024

    run(scenario())


def test_an_answer_that_is_too_large_is_refused(pools):
    pool = pools(answer_bytes=10_000)

    async def scenario():
        with pytest.raises(ProcessLimitError, match="too large"):
            await call(pool, "large", 20_000)
        assert len(await call(pool, "large", 5_000)) == 5_000

    run(scenario())


@pytest.mark.parametrize("name", ["crash", "leave"])
def test_a_process_that_dies_is_replaced(pools, name):
    pool = pools()

    async def scenario():
        with pytest.raises(ProcessDiedError):
            await call(pool, name)
        assert await call(pool, "echo", "next") == "next"

    run(scenario())


def test_a_process_that_is_killed_in_its_job_is_replaced(pools, tmp_path):
    pool = pools()

    async def scenario():
        pid = await call(pool, "pid")
        job = asyncio.create_task(call(pool, "hold", str(tmp_path / "begun")))
        await until((tmp_path / "begun").exists)
        os.kill(pid, signal.SIGKILL)
        with pytest.raises(ProcessDiedError):
            await job
        assert await call(pool, "pid") != pid

    run(scenario())


def test_a_process_that_is_killed_while_idle_costs_no_job(pools):
    pool = pools()

    async def scenario():
        pid = await call(pool, "pid")
        os.kill(pid, signal.SIGKILL)
        await until(lambda: not alive(pid))
        assert await call(pool, "pid") != pid

    run(scenario())


def test_what_a_function_raises_is_told(pools):
    pool = pools()

    async def scenario():
        with pytest.raises(JobError, match="no such thing") as caught:
            await call(pool, "fail", "no such thing")
        assert caught.value.kind == "LookupError"
        with pytest.raises(JobError):
            await call(pool, "no_json")
        with pytest.raises(JobError):
            await call(pool, "missing_function")
        assert await call(pool, "echo", 1) == 1

    run(scenario())


def test_what_is_printed_disturbs_nothing(pools):
    assert run(call(pools(), "chatter", "quiet")) == "quiet"


def test_a_job_waits_for_its_turn_no_longer_than_one_may_take(pools):
    pool = pools(seconds=1.0)

    async def scenario():
        first = asyncio.create_task(call(pool, "burn"))
        await until(lambda: pool.pids)
        second = asyncio.create_task(call(pool, "burn"))
        third = asyncio.create_task(call(pool, "echo"))
        return await asyncio.gather(first, second, third, return_exceptions=True)

    kinds = [type(each) for each in run(scenario())]
    assert kinds[0] is ProcessLimitError
    assert ProcessBusyError in kinds[1:]


def test_too_many_that_wait_are_refused_at_once(pools):
    pool = pools(waiting=1)

    async def scenario():
        jobs = [asyncio.create_task(call(pool, "sleep", 0.2)) for _ in range(6)]
        return await asyncio.gather(*jobs, return_exceptions=True)

    found = run(scenario())
    assert found.count(0.2) >= 1
    assert any(isinstance(each, ProcessBusyError) for each in found)


def test_two_processes_work_at_the_same_time(pools):
    pool = pools(size=2)

    async def scenario():
        stuck = asyncio.create_task(call(pool, "sleep", LONG))
        await until(lambda: pool.pids)
        assert await call(pool, "echo", "past") == "past"
        stuck.cancel()

    run(scenario())


def test_a_caller_that_gives_up_harms_nobody(pools):
    pool = pools(seconds=2.0)

    async def scenario():
        stuck = asyncio.create_task(call(pool, "burn"))
        await until(lambda: pool.pids)
        waiting = asyncio.create_task(call(pool, "echo"))
        await asyncio.sleep(0)
        for task in (stuck, waiting):
            task.cancel()
        gone = await asyncio.gather(stuck, waiting, return_exceptions=True)
        assert all(isinstance(each, asyncio.CancelledError) for each in gone)
        async with asyncio.timeout(PATIENCE):
            while True:
                try:
                    return await call(pool, "echo", "next")
                except ProcessBusyError:
                    continue

    assert run(scenario()) == "next"


def test_closing_ends_jobs_and_processes(pools):
    pool = pools()

    async def scenario():
        pid = await call(pool, "pid")
        running = asyncio.create_task(call(pool, "sleep", LONG))
        waiting = asyncio.create_task(call(pool, "echo"))
        await asyncio.sleep(0)
        await pool.aclose()
        found = await asyncio.gather(running, waiting, return_exceptions=True)
        assert [type(each) for each in found] == [ProcessStoppedError] * 2
        assert not alive(pid)
        with pytest.raises(ProcessStoppedError):
            await call(pool, "echo")
        await pool.aclose()

    run(scenario())


def test_a_process_sees_no_secret_and_no_file_of_its_owner(pools, monkeypatch, tmp_path):
    monkeypatch.setenv("CLOXY_API_KEY", "secret")
    pool = pools()
    with (tmp_path / "lock").open("w") as held:
        os.set_inheritable(held.fileno(), True)

        async def scenario():
            return await call(pool, "environment"), await call(pool, "descriptors")

        environment, descriptors = run(scenario())
    assert "CLOXY_API_KEY" not in environment
    assert descriptors == []


def test_a_module_that_only_a_file_has_is_found_by_its_name(tmp_path):
    file = tmp_path / "elsewhere.py"
    file.write_text("def double(number):\n    return 2 * number\n")

    async def scenario():
        limits = ProcessLimits(seconds=LONG)
        pool = ProcessPool({"web_test_one_file": str(file), "no_such": None}, limits=limits)
        try:
            return await pool.call("web_test_one_file:double", 21)
        finally:
            await pool.aclose()

    assert run(scenario()) == 42


def test_starting_imports_little():
    probe = f"import runpy, sys; runpy.run_path({process_main.__file__!r}); print(len(sys.modules))"
    command = [sys.executable, "-I", "-c", probe]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    assert int(found.stdout) < 120


OWNER = """
    import asyncio, sys
    from cloxy_core.runtime.processes import ProcessLimits, ProcessPool
    async def main():
        pool = ProcessPool({{}}, size=2, limits=ProcessLimits(seconds={seconds}))
        print(await pool.call("web.extraction.worker_jobs:pid", None), flush=True)
        if {busy}:
            asyncio.create_task(pool.call("web.extraction.worker_jobs:deaf", None))
        await asyncio.sleep(600)
    asyncio.run(main())
"""


@pytest.mark.parametrize("busy", [False, True])
def test_processes_end_with_their_owner(busy):
    code = textwrap.dedent(OWNER.format(busy=busy, seconds=LONG if not busy else 3.0))
    tests = str(Path(__file__).parents[2])
    environment = {**os.environ, "PYTHONPATH": tests}
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, env=environment, text=True
    ) as owner:
        pid = int(owner.stdout.readline())
        if busy:
            before = psutil.Process(pid).cpu_times().user
            asyncio.run(until(lambda: psutil.Process(pid).cpu_times().user > before))
        owner.kill()
        owner.wait()
        asyncio.run(until(lambda: not alive(pid)))
