"""Chip and memory, from what systems say: recorded forms, with invented names and numbers."""

import pytest
from local_models.model_files import write

from cloxy_core.local_models import hardware
from cloxy_core.local_models.hardware import detect, linux, macos

GIB = 1024**3

VM_STAT = """Mach Virtual Memory Statistics: (page size of 16384 bytes)
Pages free:                               10000.
Pages active:                            300000.
Pages inactive:                           20000.
Pages speculative:                         3000.
Pages throttled:                              0.
Pages wired down:                        120000.
Pages purgeable:                           4000.
"Translation faults":                 123456789.
"""


def mac(chip, gib, wired="0", machine="arm64", vm_stat=VM_STAT):
    said = {
        ("-n", "machdep.cpu.brand_string", "hw.memsize"): f"{chip}\n{gib * GIB}\n",
        ("-n", "iogpu.wired_limit_mb"): f"{wired}\n" if wired is not None else "",
        (): vm_stat,
    }
    return macos(lambda command: said[command[1:]], machine)


@pytest.mark.parametrize(
    ("chip", "gib", "limit"),
    [
        ("Apple M1", 8, 8 * GIB * 2 // 3),
        ("Apple M2 Pro", 32, 32 * GIB * 2 // 3),
        ("Apple M4 Max", 64, 64 * GIB * 3 // 4),
    ],
)
def test_apple_silicon(chip, gib, limit):
    found = mac(chip, gib)
    assert found.apple_silicon
    assert (found.chip, found.total, found.gpu_limit) == (chip, gib * GIB, limit)
    assert found.free == 16384 * 37000


def test_a_limit_that_its_owner_set_counts():
    assert mac("Apple M3", 24, wired="20480").gpu_limit == 20 * GIB
    assert mac("Apple M3", 24, wired=None).gpu_limit == 24 * GIB * 2 // 3


def test_a_mac_with_another_chip_and_a_translated_python():
    intel = mac("Intel(R) Core(TM) i7 CPU @ 2.60GHz", 16, machine="x86_64")
    assert not intel.apple_silicon
    assert intel.gpu_limit is None
    assert not mac("Apple M1", 16, machine="x86_64").apple_silicon


def test_a_mac_that_says_nothing():
    found = macos(lambda command: "", "arm64")
    assert (found.chip, found.total, found.free) == ("unknown", 0, None)


CPUINFO = b"processor\t: 0\nmodel name\t: Invented  CPU 3000 @ 2.00GHz\nprocessor\t: 1\n"
MEMINFO = b"MemTotal:       16384000 kB\nMemFree:  1000000 kB\nMemAvailable:  9000000 kB\n"


def test_linux(tmp_path):
    write(tmp_path, {"proc/cpuinfo": CPUINFO, "proc/meminfo": MEMINFO})
    found = linux(tmp_path)
    assert found.chip == "Invented CPU 3000 @ 2.00GHz"
    assert (found.total, found.free) == (16384000 * 1024, 9000000 * 1024)
    assert not found.limited
    assert not found.apple_silicon


def test_an_arm_board_names_its_model(tmp_path):
    text = b"processor\t: 0\nBogoMIPS\t: 108.00\n\nHardware\t: X\nModel\t\t: Some Board 5\n"
    write(tmp_path, {"proc/cpuinfo": text, "proc/meminfo": MEMINFO})
    assert linux(tmp_path).chip == "Some Board 5"


@pytest.mark.parametrize(
    "files",
    [
        {
            "proc/self/cgroup": b"0::/\n",
            "sys/fs/cgroup/memory.max": b"4294967296\n",
            "sys/fs/cgroup/memory.current": b"1073741824\n",
        },
        {
            "proc/self/cgroup": b"0::/a.slice/b.scope\n",
            "sys/fs/cgroup/a.slice/memory.max": b"4294967296\n",
            "sys/fs/cgroup/a.slice/memory.current": b"1073741824\n",
            "sys/fs/cgroup/a.slice/b.scope/memory.max": b"max\n",
            "sys/fs/cgroup/a.slice/b.scope/memory.current": b"5\n",
        },
        {
            "proc/self/cgroup": b"12:cpu,cpuacct:/x\n9:memory:/docker/abc\n",
            "sys/fs/cgroup/memory/memory.limit_in_bytes": b"4294967296\n",
            "sys/fs/cgroup/memory/memory.usage_in_bytes": b"1073741824\n",
        },
    ],
    ids=["v2", "v2 below", "v1"],
)
def test_a_container_may_use_less(tmp_path, files):
    write(tmp_path, {"proc/cpuinfo": CPUINFO, "proc/meminfo": MEMINFO, **files})
    found = linux(tmp_path)
    assert found.limited
    assert (found.total, found.free) == (4 * GIB, 3 * GIB)


@pytest.mark.parametrize("limit", [b"max\n", b"9223372036854771712\n", b"nonsense\n"])
def test_no_limit_is_none(tmp_path, limit):
    files = {"proc/self/cgroup": b"0::/\n", "sys/fs/cgroup/memory.max": limit}
    write(tmp_path, {"proc/cpuinfo": CPUINFO, "proc/meminfo": MEMINFO, **files})
    found = linux(tmp_path)
    assert not found.limited
    assert found.total == 16384000 * 1024


def test_without_proc_the_fallback_counts(tmp_path):
    assert linux(tmp_path, fallback=5).total == 5


def test_any_other_system_is_asked_by_its_library():
    found = hardware.other()
    assert found.total > 0
    assert found.free is not None


def test_this_machine():
    found = detect()
    assert found.total > 100_000_000
    assert found.chip
