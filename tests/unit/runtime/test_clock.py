import threading
from datetime import UTC, datetime

import pytest

from cloxy_core.runtime import clock as clock_module
from cloxy_core.runtime.clock import SystemClock, new_uid

ALPHABET = set("0123456789ABCDEFGHJKMNPQRSTVWXYZ")


class HandClock:
    def __init__(self, milliseconds):
        self.milliseconds = milliseconds

    def now(self):
        return datetime.fromtimestamp(self.milliseconds / 1000, UTC)

    def now_ms(self):
        return self.milliseconds


@pytest.fixture(autouse=True)
def fresh_sequence(monkeypatch):
    monkeypatch.setattr(clock_module, "_UIDS", clock_module._UidSequence())


def test_the_system_clock_is_aware_and_agrees_with_itself():
    clock = SystemClock()
    before, now, after = clock.now_ms(), clock.now(), clock.now_ms()
    assert now.utcoffset().total_seconds() == 0
    assert before <= int(now.timestamp() * 1000) <= after


def test_a_uid_is_a_ulid_that_carries_its_time():
    uid = new_uid(HandClock(1_469_918_176_385))
    assert uid.startswith("01ARYZ6S41")
    assert len(uid) == 26
    assert set(uid) <= ALPHABET


def test_uids_grow_while_the_clock_stands_goes_back_and_leaps():
    clock = HandClock(1_700_000_000_000)
    uids = []
    for step in [0] * 500 + [-7_200_000] + [0] * 50 + [31_536_000_000, -31_536_000_000, 1]:
        clock.milliseconds += step
        uids.append(new_uid(clock))
    assert uids == sorted(uids)
    assert len(set(uids)) == len(uids)


def test_uids_of_many_threads_differ():
    clock = HandClock(1_700_000_000_000)
    made = []

    def make():
        made.extend(new_uid(clock) for _ in range(500))

    threads = [threading.Thread(target=make) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(made)) == 2000
