"""Loops of a process that writes a store while a test reads it; see `written_stores`."""

import os
import sqlite3
import sys
import threading
import time
from pathlib import Path


def write_until_enough(path, least, write):
    """Write messages to a database until a line comes in, and as many as wanted are written.

    Its log is let shrink now and then. At the end, or when a message cannot be written, a line
    tells how many messages were written, how many could not be, and how often the log shrank. The
    database stays open, as programs keep it.

    Args:
        path: the database.
        least: how many messages have to be written.
        write: writes the message of a number, from 0, over a connection.
    """
    connection = _opened(path)
    enough = threading.Thread(target=sys.stdin.readline, daemon=True)
    enough.start()
    print("ready", flush=True)
    written, errors, shrunk = 0, 0, 0
    while not errors and (written < least or enough.is_alive()):
        try:
            write(connection, written)
            written += 1
        except sqlite3.Error:
            errors += 1
        if written % 40 == 0:
            shrunk += _shrink(connection)
        time.sleep(0.005)  # at the pace of a quick talker
    print(written, errors, shrunk, flush=True)
    sys.stdin.readline()


def write_until_killed(path, write):
    """Write each number from 1 on to a database, until it is killed or the test is gone."""
    connection = _opened(path)
    test = os.getppid()
    print("ready", flush=True)
    number = 0
    while os.getppid() == test:
        number += 1
        write(connection, number)
        if number % 20 == 0:
            _shrink(connection)
        time.sleep(0.002)


def write_in_halves(path, text_of):
    """Write a file anew for each number from 0 on, in two steps, each when a line comes in."""
    print("ready", flush=True)
    for number, _line in enumerate(sys.stdin):
        text = text_of(number)
        with Path(path).open("w") as file:
            file.write(text[:-9])
            file.flush()
            print("half", flush=True)
            sys.stdin.readline()
            file.write(text[-9:])
        print("whole", flush=True)


def _opened(path):
    connection = sqlite3.connect(path, isolation_level=None, timeout=30)
    connection.execute("PRAGMA journal_mode=WAL")
    return connection


def _shrink(connection):
    busy, *_pages = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    return not busy
