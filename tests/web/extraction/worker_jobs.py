"""What worker processes of the tests are asked to do."""

import os
import signal
import sys
import time
from pathlib import Path

import psutil


def echo(argument):
    return argument


def sleep(seconds):
    time.sleep(seconds)
    return seconds


def hold(path):
    """Leave a mark, and then stay."""
    Path(path).touch()
    time.sleep(600)


def burn(_argument):
    while True:
        pass


def deaf(_argument):
    """Nothing but a kill ends this."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    while True:
        pass


def armoured(_argument):
    """Not even its own alarm ends this."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM, signal.SIGTERM})
    while True:
        pass


def eat(size):
    return len(b"x" * size)


def large(size):
    return "x" * size


def crash(_argument):
    os.abort()


def leave(_argument):
    os._exit(0)


def fail(message):
    raise LookupError(message)


def chatter(argument):
    print("noise on standard output")
    os.write(1, b"more noise")
    return argument


def no_json(_argument):
    return {1, 2}


def pid(_argument):
    return os.getpid()


def environment(_argument):
    return dict(os.environ)


def descriptors(_argument):
    """Files that this process has open."""
    return [file.path for file in psutil.Process().open_files()]


def modules(_argument):
    return sorted(sys.modules)
