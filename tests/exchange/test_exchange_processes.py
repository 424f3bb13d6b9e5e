"""Large files, killed processes, a full disk, and a server that goes on meanwhile."""

import json
import resource
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from exchange.exchange_kit import (
    HEADER,
    QUIET,
    Place,
    end,
    line,
    message,
    objects,
    session,
    without_header,
    write_session,
)
from process.cli_runner import PROGRAM, child_environment

from cloxy_core.services.exchange.leaving import Leaving
from cloxy_core.services.exchange.snapshot import snapshot
from cloxy_hookspecs import Filters

PATIENCE = 120.0
MANY = 20_000
FEW = 2_000
PEAK = """
import sys
from pathlib import Path
from cloxy_core.cli.main import main
try:
    main(sys.argv[2:])
except SystemExit as end:
    status = Path("/proc/self/status").read_text()
    Path(sys.argv[1]).write_text(status.partition("VmHWM:")[2].split()[0])
    raise
"""


def large(file: Path, count: int) -> Path:
    """A file of so many messages of about 500 characters, in one session."""
    with file.open("w", encoding="utf-8") as target:

        def put(value):
            target.write(json.dumps(value) + "\n")

        put(HEADER)
        put(session(project="/srv/large", title="A large one", title_rank=2))
        for number in range(count):
            text = f"Number {number} " + f"word{number % 97} tide " * 35
            put(message(f"m-{number}", text))
        put(end(1, count))
    return file


def peak(place: Place, *arguments: object) -> int:
    """Peak of resident memory, kilobytes, of a program that must succeed."""
    note = place.folder / "peak.txt"
    done = subprocess.run(
        [sys.executable, "-c", PEAK, str(note), *map(str, arguments)],
        env=child_environment(None, {**QUIET, "CLOXY_DATA_DIR": str(place.data)}),
        capture_output=True,
        timeout=PATIENCE * 3,
    )
    assert done.returncode == 0, done.stderr
    return int(note.read_text())


def made(folder: Path) -> Place:
    folder.mkdir()
    return Place(folder)


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_memory_does_not_grow_with_the_file(tmp_path):
    small, great = made(tmp_path / "small"), made(tmp_path / "great")
    few, many = large(tmp_path / "few.jsonl", FEW), large(tmp_path / "many.jsonl", MANY)
    taken = peak(small, "import", few), peak(great, "import", many)
    written = [
        peak(place, "export", place.folder / "out.jsonl", "--force") for place in (small, great)
    ]
    # The file is ten megabytes larger, and its objects would be several times that.
    assert many.stat().st_size - few.stat().st_size > 9_000_000
    assert taken[1] - taken[0] < 12_000
    assert written[1] - written[0] < 6_000
    found = objects(great.folder / "out.jsonl")
    assert [each["uid"] for each in found if each["kind"] == "message"] == [
        f"m-{number}" for number in range(MANY)
    ]


def test_killed_in_the_middle_and_run_again_it_is_whole(tmp_path):
    place, file = made(tmp_path / "place"), large(tmp_path / "file.jsonl", 6000)
    child = subprocess.Popen(
        [PROGRAM, "import", file],
        env=child_environment(None, {**QUIET, "CLOXY_DATA_DIR": str(place.data)}),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + PATIENCE
    while not stored(place):
        assert child.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.005)
    child.kill()
    child.wait()
    before = stored(place)
    assert 0 < before < 6000
    summary, _said = place.take(file)
    assert summary["messages"] == {
        "new": 6000 - before,
        "known": before,
        "forgotten": 0,
        "empty": 0,
        "ruled_out": 0,
    }
    straight = made(tmp_path / "straight")
    straight.take(file)
    assert without_header(place.export()) == without_header(straight.export())
    assert place.run("doctor").returncode == 0


def stored(place):
    if not (place.data / "memory.db").exists():
        return 0
    try:
        statement = "SELECT count(*) FROM passages"
        return place.rows(statement)[0][0]
    except Exception as error:
        if "no such table" in str(error) or "locked" in str(error):
            return 0
        raise


def test_a_full_disk_is_said_and_the_next_run_goes_on(tmp_path):
    place, file = made(tmp_path / "place"), large(tmp_path / "file.jsonl", 6000)
    limit = 4 * 1024 * 1024
    done = subprocess.run(
        [PROGRAM, "import", file],
        env=child_environment(None, {**QUIET, "CLOXY_DATA_DIR": str(place.data)}),
        capture_output=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
        timeout=PATIENCE,
    )
    assert done.returncode == 11, done.stderr
    assert b"run the same import again" in done.stderr
    before = stored(place)
    assert 0 < before < 6000
    summary, _said = place.take(file)
    assert summary["messages"]["known"] == before
    assert stored(place) == 6000


def test_an_export_to_a_full_disk_leaves_nothing(tmp_path):
    place, file = made(tmp_path / "place"), large(tmp_path / "file.jsonl", 1000)
    place.take(file)
    target = tmp_path / "out"
    target.mkdir()
    done = subprocess.run(
        [PROGRAM, "export", target / "x.jsonl"],
        env=child_environment(None, {**QUIET, "CLOXY_DATA_DIR": str(place.data)}),
        capture_output=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000)),
        timeout=PATIENCE,
    )
    assert done.returncode == 4, done.stderr
    assert b"cannot be written" in done.stderr
    assert list(target.iterdir()) == []


def test_an_export_while_a_server_reads_logs_is_one_snapshot(tmp_path):
    place = made(tmp_path / "place")
    with place.server() as live:
        stop = threading.Event()
        trouble = []

        def feed():
            number = 0
            while not stop.is_set():
                key = f"f-{number}"
                pair = (line(f"{key}-{n}", f"Word {n} of {key}", session=key) for n in (1, 2))
                write_session(live.logs, key, *pair)
                status, said = live.ask("POST", "/ingest_convos", {})
                if status != 200:
                    trouble.append(said)
                number += 1

        feeder = threading.Thread(target=feed)
        feeder.start()
        try:
            counts = [exported(place) for _ in range(4)]
        finally:
            stop.set()
            feeder.join()
        assert trouble == []
    assert counts == sorted(counts)
    assert counts[-1] > counts[0]


def test_what_comes_during_an_export_is_not_in_it(tmp_path):
    place = made(tmp_path / "place")
    with place.server() as live:
        write_session(live.logs, "s-one", line("a", "Said before."))
        assert live.ask("POST", "/ingest_convos", {})[1]["messages_added"] == 1
        with snapshot(place.data / "memory.db") as connection:
            lines = Leaving(connection, Filters(), "0", 0, lambda _count: None).lines()
            begun = [next(lines), next(lines)]
            write_session(live.logs, "s-one", line("b", "Said meanwhile."))
            assert live.ask("POST", "/ingest_convos", {})[1]["messages_added"] == 1
            kinds = [each["kind"] for each in (*begun, *lines)]
        assert kinds == ["header", "session", "message", "end"]
        assert exported_kinds(place).count("message") == 2


def exported_kinds(place):
    return [each["kind"] for each in place.export()]


def exported(place):
    """How many messages an export has, which must be whole."""
    lines = place.export()
    said = [each for each in lines if each["kind"] == "message"]
    keys = [each["key"] for each in lines if each["kind"] == "session"]
    assert sorted(each["uid"] for each in said) == sorted(f"{k}-{n}" for k in keys for n in (1, 2))
    assert lines[-1] == end(len(keys), len(said))
    return len(said)
