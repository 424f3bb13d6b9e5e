"""Which chip and how much memory this machine has, and how much of it a model may take."""

import os
import platform
import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import psutil  # type: ignore[import-untyped]

GB: Final = 1_000_000_000
_MB: Final = 1_048_576
_SYSCTL: Final = "/usr/sbin/sysctl"
_VM_STAT: Final = "/usr/bin/vm_stat"
_SECONDS: Final = 5.0
# Without a limit of its own Metal lets a program wire two thirds of the memory, on large machines
# three quarters.
_LARGE: Final = 36 * 1024**3
_ROOT: Final = Path("/")

Run = Callable[[tuple[str, ...]], str]


@dataclass(frozen=True, slots=True)
class Hardware:
    """A machine.

    Attributes:
        chip: the processor's name, for people.
        apple_silicon: whether MLX can run on it.
        total: bytes of memory, or what the container may use of them.
        free: bytes that are free now, or can be made so; None when that is not known.
        limited: whether a container's limit is below the machine's memory.
        gpu_limit: bytes that the graphics part may use; None where it has none of its own.
    """

    chip: str
    apple_silicon: bool
    total: int
    free: int | None = None
    limited: bool = False
    gpu_limit: int | None = None

    @property
    def total_gb(self) -> float:
        """Memory in 10^9 bytes."""
        return self.total / GB


def detect() -> Hardware:
    """Look at this machine."""
    system = platform.system()
    if system == "Darwin":
        return macos(_run, platform.machine())
    if system == "Linux":
        return linux(_ROOT, os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    return other()


def macos(run: Run, machine: str) -> Hardware:
    """A Mac, by what `sysctl` and `vm_stat` say.

    Args:
        run: runs a command and gives its output; empty when it fails.
        machine: what `uname -m` says. A Python that runs translated sees `x86_64` there.
    """
    lines = run((_SYSCTL, "-n", "machdep.cpu.brand_string", "hw.memsize")).strip().splitlines()
    chip = lines[0].strip() if lines else ""
    total = int(lines[1]) if len(lines) > 1 and lines[1].strip().isdigit() else 0
    is_apple = chip.startswith("Apple") and machine == "arm64"
    wired = run((_SYSCTL, "-n", "iogpu.wired_limit_mb")).strip()
    limit = int(wired) * _MB if wired.isdigit() else 0
    if is_apple and limit == 0:
        limit = total * 3 // 4 if total > _LARGE else total * 2 // 3
    return Hardware(
        chip=chip or "unknown",
        apple_silicon=is_apple,
        total=total,
        free=_free_of_vm_stat(run((_VM_STAT,))),
        gpu_limit=limit if is_apple else None,
    )


def _free_of_vm_stat(text: str) -> int | None:
    """Pages that are free or can be freed at once."""
    size = re.search(r"page size of (\d+) bytes", text)
    counts = dict(re.findall(r"^Pages ([a-z ]+):\s+(\d+)\.", text, re.MULTILINE))
    if size is None or "free" not in counts:
        return None
    names = ("free", "inactive", "speculative", "purgeable")
    return int(size[1]) * sum(int(counts.get(name, 0)) for name in names)


def linux(root: Path, fallback: int = 0) -> Hardware:
    """A Linux machine, by what lies below `/proc` and `/sys`.

    Args:
        root: where they lie.
        fallback: bytes of memory, should `/proc/meminfo` not say.
    """
    sizes = {
        name: int(amount) * 1024
        for name, amount in re.findall(
            r"^(\w+):\s+(\d+) kB", _text(root / "proc/meminfo"), re.MULTILINE
        )
    }
    total = sizes.get("MemTotal", fallback)
    free = sizes.get("MemAvailable", sizes.get("MemFree"))
    limit, used = _container_limit(root)
    limited = limit is not None and 0 < limit < total
    if limited and limit is not None:
        left = max(0, limit - (used or 0))
        total, free = limit, left if free is None else min(free, left)
    return Hardware(chip=_chip(root), apple_silicon=False, total=total, free=free, limited=limited)


def _chip(root: Path) -> str:
    text = _text(root / "proc/cpuinfo")
    for name in ("model name", "Model", "Hardware", "cpu model"):
        match = re.search(rf"^{name}\s*:\s*(.+)$", text, re.MULTILINE)
        if match:
            return re.sub(r"\s+", " ", match[1]).strip()
    return platform.machine() or "unknown"


def _container_limit(root: Path) -> tuple[int | None, int | None]:
    """Limit of memory and what is used of it, by the control groups, the tightest of them."""
    found: tuple[int | None, int | None] = (None, None)
    for folder in _groups(root):
        limit = _number(folder / "memory.max")
        used = _number(folder / "memory.current")
        if limit is None:
            limit = _number(folder / "memory.limit_in_bytes")
            used = _number(folder / "memory.usage_in_bytes")
        if limit is not None and (found[0] is None or limit < found[0]):
            found = (limit, used)
    return found


def _groups(root: Path) -> list[Path]:
    """Folders of the groups that this process is in, from its own up to the outermost."""
    base = root / "sys/fs/cgroup"
    folders = []
    for line in _text(root / "proc/self/cgroup").splitlines():
        _, _, rest = line.partition(":")
        kinds, _, place = rest.partition(":")
        if kinds and "memory" not in kinds.split(","):
            continue
        here = base if not kinds else base / "memory"
        parts = [part for part in place.split("/") if part not in {"", ".", ".."}]
        folders += [here.joinpath(*parts[:depth]) for depth in range(len(parts), -1, -1)]
    return folders or [base, base / "memory"]


def other() -> Hardware:
    """Any other machine, by `psutil`."""
    memory = psutil.virtual_memory()
    chip = platform.processor() or platform.machine() or "unknown"
    return Hardware(chip=chip, apple_silicon=False, total=memory.total, free=memory.available)


def _number(path: Path) -> int | None:
    text = _text(path).strip()
    return int(text) if text.isdigit() else None


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _run(command: tuple[str, ...]) -> str:
    try:
        done = subprocess.run(  # noqa: S603 - fixed commands of the system
            command, capture_output=True, timeout=_SECONDS, check=False, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.decode("utf-8", "replace")
