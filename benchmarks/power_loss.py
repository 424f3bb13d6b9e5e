"""Power cuts: disk states that the real writes could have left, each opened by the product.

    python benchmarks/power_loss.py [--states N] [--seed N] [--processes N]

A child runs the real engine under `strace`: it takes in sessions, remembers notes durably and
writes down each one that was acknowledged. From the log of its writes and syncs, N disks are made
up: cut at a random moment, with every write since a file's last sync kept, dropped, or torn at 512
bytes. Each is opened by the engine and must be a committed prefix of what happened. Prints how many
were not and why, and exits with 1 if any; with --lying-disk, where syncs do nothing, there must be
some. Needs Linux and strace (`apt-get install strace`); quicker with TMPDIR=/dev/shm.
"""

import argparse
import multiprocessing
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "ingest"))
from ingest_support import Server
from session_lines import lines, turns

ROUNDS = 14
NOTES_A_ROUND = 3
CALLS = "openat,pwrite64,write,fsync,fdatasync,ftruncate,unlink"
SECTOR = 512
WAYS = ("kept", "dropped", "torn")
CALL = re.compile(r"(\w+)\((.*)\) += (-?\d+)")
UNFINISHED = re.compile(r"(\w+\(.*) <unfinished \.\.\.>$")
RESUMED = re.compile(r"<\.\.\. \w+ resumed>(.*)")
TEXT = re.compile(r'"((?:\\x[0-9a-f]{2})*)"|<((?:\\x[0-9a-f]{2})*)>')


@dataclass(frozen=True)
class Step:
    """One finished call: `number` is an offset or a length."""

    call: str
    file: str
    data: bytes = b""
    number: int = 0


@dataclass
class Disk:
    """What is safe of one file, and what was only written; None is a file that is not there."""

    safe: bytes | None
    pending: list[Step] = field(default_factory=list)


def session(number: int) -> bytes:
    """A session log; every third has more messages than fit in one transaction."""
    count = 450 if number % 3 == 0 else 60
    words = random.Random(number).choices(["cache", "queue", "token", "port", "flag"], k=90)
    return lines(*turns(count, session=f"s{number}", stem=" ".join(words)))


def note(number: int, place: int) -> str:
    return f"note {number * NOTES_A_ROUND + place} of the power cut"


def run_child(folder: Path) -> None:
    """Rounds of one session and some notes; now and then the log is emptied."""
    acknowledged = os.open(folder / "acknowledged", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    with Server(folder) as server:
        for number in range(ROUNDS):
            server.write(session(number), name=f"s{number}.jsonl")
            server.ingest()
            for place in range(NOTES_A_ROUND):
                server.remember(note(number, place))
                os.write(acknowledged, note(number, place).encode() + b"\n")
            if number % 4 == 3:
                server.do(server.engine.store.checkpoint())


def record(folder: Path) -> tuple[dict[str, bytes | None], list[Step]]:
    """Run the child; the files before it, and every call that changed them."""
    with Server(folder):
        pass
    data = folder / "data"
    names = [data / "memory.db", data / "memory.db-wal", folder / "acknowledged"]
    before = {p.name: p.read_bytes() if p.exists() else None for p in names}
    log = folder / "calls"
    watched = [word for path in names for word in ("-P", str(path))]
    subprocess.run(
        [
            *("strace", "-f", "-qq", "-y", "-xx", "-s", "100000000", "-e", f"trace={CALLS}"),
            *(*watched, "-e", "signal=none", "-o", str(log)),
            *(sys.executable, __file__, "--child", str(folder)),
        ],
        check=True,
    )
    return before, list(parse(log, {str(path): path.name for path in names}))


def parse(log: Path, names: dict[str, str]) -> Iterator[Step]:
    """Calls in the order in which they ended; those that failed changed nothing."""
    begun: dict[str, str] = {}
    with log.open() as file:
        for entry in file:
            thread, _, call = entry.rstrip("\n").partition(" ")
            call = call.strip()
            if unfinished := UNFINISHED.match(call):
                begun[thread] = unfinished[1]
                continue
            if resumed := RESUMED.match(call):
                call = begun.pop(thread) + resumed[1]
            found = CALL.match(call)
            if found and int(found[3]) >= 0 and (step := _step(found, names)):
                yield step


def _step(found: re.Match[str], names: dict[str, str]) -> Step | None:
    call, arguments, result = found[1], found[2], int(found[3])
    texts = [bytes.fromhex((a or b).replace("\\x", "")) for a, b in TEXT.findall(arguments)]
    paths = [name for text in texts if (name := names.get(os.fsdecode(text)))]
    if not paths:
        return None
    tail = arguments.rpartition(", ")[2]
    match call:
        case "pwrite64":
            return Step("write", paths[0], texts[1][:result], int(tail))
        case "write":
            return Step("append", paths[0], texts[1][:result])
        case "ftruncate":
            return Step("truncate", paths[0], number=int(tail))
        case "fsync" | "fdatasync":
            return Step("sync", paths[0])
        case "unlink":
            return Step("unlink", paths[0])
        case "openat" if "O_CREAT" in arguments:
            return Step("create", paths[0])
    return None


def cut(
    before: dict[str, bytes | None], steps: list[Step], chance: random.Random
) -> dict[str, bytes | None]:
    """Files as a power cut after `steps` could leave them; acknowledgements are all kept."""
    disks = {name: Disk(data) for name, data in before.items()}
    for step in steps:
        disk = disks[step.file]
        if step.call == "sync":
            disk.safe, disk.pending = settled(disk, lambda: "kept", chance), []
        else:
            disk.pending.append(step)
    style = chance.choice([*WAYS, "mixed", "mixed"])
    way = (lambda: chance.choice(WAYS)) if style == "mixed" else (lambda: style)
    kept = {name: way if name != "acknowledged" else (lambda: "kept") for name in disks}
    return {name: settled(disk, kept[name], chance) for name, disk in disks.items()}


def settled(disk: Disk, way, chance: random.Random) -> bytes | None:
    """A file after each of its pending writes went one of the ways."""
    data = None if disk.safe is None else bytearray(disk.safe)
    for step in disk.pending:
        how = way()
        if how == "dropped" or (how == "torn" and step.call == "unlink"):
            continue
        if step.call == "unlink":
            data = None
            continue
        data = bytearray() if data is None else data
        if step.call == "truncate":
            data[step.number :] = b"\0" * max(step.number - len(data), 0)
        elif step.call in {"write", "append"}:
            start = len(data) if step.call == "append" else step.number
            put(data, start, step.data, how, chance)
    return None if data is None else bytes(data)


def put(data: bytearray, start: int, new: bytes, how: str, chance: random.Random) -> None:
    """Write, sector by sector where it is torn; a gap reads as zeros."""
    place = start
    while place < start + len(new):
        end = min((place // SECTOR + 1) * SECTOR, start + len(new))
        if how == "kept" or chance.random() < 0.5:
            data.extend(b"\0" * (end - len(data)))
            data[place:end] = new[place - start : end - start]
        place = end


def try_state(
    source: Path, before: dict[str, bytes | None], steps: list[Step], seed: int, number: int
) -> Counter[str]:
    """Make up and judge one disk, the same for the same seed and number."""
    chance = random.Random(f"{seed} {number}")
    files = cut(before, steps[: chance.randrange(len(steps) + 1)], chance)
    folder = source.with_name(f"state-{number}")
    try:
        return judge(source, folder, files)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def judge(source: Path, folder: Path, files: dict[str, bytes | None]) -> Counter[str]:
    """Open one disk with the engine; what is wrong with it, by kind."""
    acknowledged = (files.pop("acknowledged") or b"").decode().splitlines()
    data = folder / "data"
    data.mkdir(parents=True, mode=0o700)
    shutil.copy(source / "data" / "tombstones.key", data)
    for name, content in files.items():
        if content is not None:
            (data / name).write_bytes(content)
            (data / name).chmod(0o600)
    try:
        with Server(folder, watch=source / "projects") as server:
            return examine(server, source, acknowledged)
    except Exception as error:
        print(f"{folder.name}: {type(error).__name__}: {error}"[:400], file=sys.stderr)
        return Counter({"corrupt states": 1})


def examine(server: Server, source: Path, acknowledged: list[str]) -> Counter[str]:
    """Compare a state with what the child did, then let it take in the sessions again."""
    server.check()
    wrong: Counter[str] = Counter()
    offsets = dict(server.rows("SELECT uri, byte_offset FROM sources"))
    known = {key: [uid for uid, _ in said] for key, said in server.sessions().items()}
    notes = server.notes()
    order = [note(r, p) for r in range(ROUNDS) for p in range(NOTES_A_ROUND)]
    whole = True
    for number in range(ROUNDS):
        path = server.watched / "-srv-demo-app" / f"s{number}.jsonl"
        read = path.read_bytes()[: offsets.get(str(path), 0)]
        rows = len(known.get(f"s{number}", []))
        wrong["torn transactions"] += rows != read.count(b"\n") or read[-1:] not in {b"", b"\n"}
        whole = whole and len(read) == path.stat().st_size
        later = order[number * NOTES_A_ROUND]
        wrong["torn transactions"] += later in notes and not whole
    wrong["torn transactions"] += [*notes] != order[: len(notes)]
    wrong["acknowledged remember() lost"] += len(set(acknowledged) - set(notes))
    wrong["states that had lost chunks before re-ingest"] += not whole
    server.ingest()
    expected = sum(session(number).count(b"\n") for number in range(ROUNDS))
    again = sum(len(said) for said in server.sessions().values())
    wrong["transcript chunks lost after re-ingest"] += expected - again
    server.check()
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--states", type=int, default=300)
    parser.add_argument("--seed", type=int, default=20_260_729)
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument("--lying-disk", action="store_true", help="syncs do nothing: must fail")
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        run_child(options.child)
        return 0
    if shutil.which("strace") is None:
        sys.exit("strace is missing: apt-get install strace")
    bars = ("corrupt states", "torn transactions", "acknowledged remember() lost")
    bars = (*bars, "transcript chunks lost after re-ingest")
    found: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as scratch:
        source = Path(scratch) / "source"
        source.mkdir()
        before, steps = record(source)
        if options.lying_disk:
            steps = [step for step in steps if step.call != "sync"]
        one = partial(try_state, source, before, steps, options.seed)
        with multiprocessing.Pool(options.processes) as pool:
            for done, wrong in enumerate(pool.imap_unordered(one, range(options.states)), 1):
                found += wrong
                if done % 10 == 0:
                    print(f"{done} states: {dict(found)}", file=sys.stderr, flush=True)
    calls = Counter(f"{step.call} {step.file}" for step in steps)
    print(f"disk states: {options.states}, seed {options.seed}, calls: {dict(calls)}")
    for name in (*bars, "states that had lost chunks before re-ingest"):
        print(f"{name}: {found[name]}")
    return 1 if any(found[name] for name in bars) else 0


if __name__ == "__main__":
    sys.exit(main())
