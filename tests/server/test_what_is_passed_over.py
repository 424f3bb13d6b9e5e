"""A link among the logs is told where sources are told of, and is no failure and no warning."""

import os
import subprocess

from server.live_server import PROGRAM, line, write_session


def test_a_link_is_told_and_is_no_failure(live):
    target = live.folder / "elsewhere.jsonl"
    target.write_text(line("x1", "not to be read"))
    (live.logs / "link.jsonl").symlink_to(target)
    write_session(live.logs, "s-one", line("u1", "the queue was renamed"))
    run = subprocess.run(
        [PROGRAM, "ingest", "--json"],
        env={**os.environ, "CLOXY_URL": live.url, "CLOXY_DATA_DIR": str(live.data)},
        capture_output=True,
        timeout=60,
    )
    assert run.returncode == 0, run.stdout
    told = [
        f"{each['place']}: {each['reason']}"
        for source in live.ask("GET", "/sources")[1]["sources"]
        for each in source["passed_over"]
    ]
    assert any("link.jsonl: is a link" in each for each in told)
    assert not any("link" in each for each in live.ask("GET", "/ingest_status")[1]["warnings"])
    assert not live.ask("POST", "/recall", {"query": "not to be read"})[1]["results"]
