"""A link among the logs is told, and is no reason to call every pass a failure."""

import os
import subprocess

from server.live_server import PROGRAM, line, write_session


def test_a_link_is_a_warning_and_no_error(live):
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
    warnings = live.ask("GET", "/ingest_status")[1]["warnings"]
    assert any("link.jsonl" in warning and "link" in warning for warning in warnings)
    assert not live.ask("POST", "/recall", {"query": "not to be read"})[1]["results"]
