import subprocess
import sys

import pytest

from cloxy_core.runtime import memory

PROGRAM = """
import re, sys
from pathlib import Path
from cloxy_core.runtime.memory import give_back_memory, keep_less_memory

def held():
    return int(re.search(r"RssAnon:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) / 1024

def filled(mebibytes):
    return bytearray(b"x") * (mebibytes << 20)

if "keep" in sys.argv:
    keep_less_memory()
filled(24)  # without a limit of ours, blocks of this size are kept from now on
before = held()
blocks = []
for _ in range(8):
    blocks.append(filled(8))
    blocks.append(b"between" * 9_000)
del blocks[::2]
if "give" in sys.argv:
    give_back_memory()
print(held() - before)
"""


def still_held(*how):
    """MiB that are still held of 64 that were freed."""
    command = [sys.executable, "-c", PROGRAM, *how]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


@pytest.mark.skipif(memory._glibc() is None, reason="only glibc keeps what is freed")
@pytest.mark.parametrize("how", ["keep", "give"])
def test_what_was_freed_goes_back_to_the_system(how):
    assert still_held(how) < 16


def test_another_library_is_left_alone(monkeypatch):
    memory._glibc.cache_clear()
    monkeypatch.setattr(sys, "platform", "darwin")
    memory.keep_less_memory()
    memory.give_back_memory()
    assert memory._glibc() is None
    memory._glibc.cache_clear()
