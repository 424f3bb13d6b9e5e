"""One line more costs the same, however long its session is already."""

import os

import pytest
from ingest_support import append
from session_lines import lines, turns
from sqlalchemy import event

from cloxy_core.store.connections import driver_connection

SHORT, LONG = 100, 5000
STEP = 20


class Cost:
    """What a pass did: statements, steps of the database's machine, bytes of log files."""

    def __init__(self):
        self.statements = self.steps = self.bytes = 0

    def as_tuple(self):
        return self.statements, self.steps, self.bytes


@pytest.fixture
def cost_of(server, monkeypatch):
    """Runs a pass over one file and measures it."""

    def measure(path):
        cost = Cost()
        pread, writer = os.pread, server.engine.store._writer_engine

        def counted(file, size, position):
            data = pread(file, size, position)
            cost.bytes += len(data)
            return data

        def began(*_about):
            cost.statements += 1

        def stepped():
            cost.steps += STEP
            return 0

        def handler(callback):
            driver = driver_connection
            server.do(
                server.engine.store.write(
                    lambda c: driver(c).set_progress_handler(callback, STEP if callback else 0)
                )
            )

        handler(stepped)
        event.listen(writer, "before_cursor_execute", began)
        with monkeypatch.context() as patched:
            patched.setattr(os, "pread", counted)
            assert server.ingest(path).messages_added == 1
        event.remove(writer, "before_cursor_execute", began)
        handler(None)
        return cost

    return measure


def test_one_line_more_costs_no_more_in_a_long_session(server, cost_of):
    costs = {}
    for length in (SHORT, LONG):
        session = f"s{length}"
        path = server.write(lines(*turns(length, session=session)), f"{session}.jsonl")
        server.ingest()
        costs[length] = []
        # Several, because an index tidies up now and then, and memories grow and end.
        for number in range(length, length + 12):
            append(path, lines(*turns(1, session=session, first=number)))
            costs[length].append(cost_of(path).as_tuple())
    short, long = (sorted(costs[length])[6] for length in (SHORT, LONG))
    print(f"statements, steps, bytes: {short} after {SHORT} messages, {long} after {LONG}")
    assert long[0] == short[0] < 60
    assert long[1] < 2 * short[1]
    assert long[2] < short[2] + 1024 < 16_384
    server.check()
