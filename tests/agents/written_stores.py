"""Stores that another process writes while they are read."""

import hashlib
import os
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, contextmanager

from agents.sources import items, read

from cloxy_hookspecs import ForeignDatabaseError

PATIENCE = 200
LOOKS = 12


@contextmanager
def writing(*arguments):
    """A Python process that says `ready` and writes; it has to live to the end, and is killed then.

    Args:
        arguments: those of the interpreter. What the test can import, the process can too.
    """
    paths = os.pathsep.join(filter(None, sys.path))
    with subprocess.Popen(
        [sys.executable, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": paths},
    ) as process:
        try:
            assert process.stdout.readline() == "ready\n"
            yield process
            assert process.poll() is None, "the writer was not disturbed"
        finally:
            process.kill()


def written_while_read(stored, program, place, database, least=200):
    """How many messages a program of `write_until_enough` wrote; all of them are stored then.

    No look finds an error, the program has none, its log is not kept from shrinking, and reading
    all again changes no file.

    Args:
        stored: an application that takes in the store.
        program: a script that is given a place and how many messages it has to write.
        place: where the script writes.
        database: the database that it writes.
        least: how many messages it has to write.
    """
    with writing(program, place, least) as process:
        written = _ingest_until_enough(process, stored, least)
        _assert_left_alone(stored, database)
    return written


def _ingest_until_enough(process, stored, least):
    for _look in range(4):
        assert not stored.ingest().errors
    process.stdin.write("enough\n")
    process.stdin.flush()
    os.set_blocking(process.stdout.fileno(), False)
    told = ""
    while not told.endswith("\n"):
        assert process.poll() is None
        assert not stored.ingest().errors
        told += process.stdout.readline() or ""
    written, errors, shrunk = map(int, told.split())
    assert (errors, written >= least) == (0, True)
    assert shrunk > 0, "its log was never kept from shrinking for good"
    stored.ingest()
    return written


def _assert_left_alone(stored, database):
    before = _state(database.parent)
    stored.ingest(force=True)
    assert _state(database.parent) == before
    with closing(sqlite3.connect(database)) as connection:
        (busy, *_pages) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    assert busy == 0, "nothing of ours keeps its log from shrinking"


def assert_seen_growing(source, size_of):
    """Look at a store that is being written until it was seen in twelve sizes, each a larger one.

    Args:
        source: what reads the store.
        size_of: how much a result holds, after it was checked.
    """
    seen = []
    until = time.monotonic() + PATIENCE
    while len(seen) < LOOKS and time.monotonic() < until:
        found, failures = items(source)
        assert all("tried again" in f.reason or "cannot" in f.reason for f in failures)
        for item in found:
            try:
                result = read(source, item)
            except ForeignDatabaseError:
                continue
            assert not result.bad_lines
            size = size_of(result)
            assert not seen or size >= seen[-1]
            if not seen or size > seen[-1]:
                seen.append(size)
    assert len(seen) == LOOKS


def halves(process, times):
    """Each number and state, `half` or `whole`, in which a process of `write_in_halves` is."""
    for number in range(times):
        for state in ("half", "whole"):
            process.stdin.write("\n")
            process.stdin.flush()
            assert process.stdout.readline() == f"{state}\n"
            yield number, state


def _state(folder):
    """Bytes of each file but the index that users of a log share."""
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.iterdir()
        if path.is_file() and not path.name.endswith("-shm")
    }
