"""What a busy session leaves in the data directory: private files, and a log without words."""

import os
import re
import stat

import pytest
from process.cli_runner import run_cloxy
from server.live_server import LiveServer, line, write_session

KEY = "Yet-another-Key-of-32-Characters"
WORDS = ["heronry", "lighthouse", "quicksilver"]


@pytest.fixture(scope="module")
def busy(tmp_path_factory):
    """A data directory in which everything was done once, under a careless umask."""
    folder = tmp_path_factory.mktemp("busy")
    before = os.umask(0)
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("HOME", str(folder))
            quiet = {"CLOXY_EMBED_PROVIDER": "none"}
            server = LiveServer(folder, CLOXY_LOG_LEVEL="debug", **quiet)
            environment = {"CLOXY_DATA_DIR": str(server.data), "CLOXY_WATCH": "0", **quiet}
            environment |= {"CLOXY_WATCH_DIRS": str(server.logs)}
            assert run_cloxy("key", "create", **environment).returncode == 0
            write_session(server.logs, "one", line("u-1", f"the {WORDS[0]} is full"))
            with server:
                _work(server, environment)
            out = str(server.folder / "out.jsonl")
            for command in (["backup"], ["doctor"], ["export", out], ["import", out]):
                done = run_cloxy(*command, **environment)
                assert done.returncode == 0, done.stdout + done.stderr
            yield server
    finally:
        os.umask(before)


def _work(server, environment):
    assert run_cloxy("ingest", url=server.url, **environment).returncode == 0
    key = (server.data / "server.key").read_text().strip()
    headers = {"X-API-Key": key}
    for method, path, body in (
        ("POST", "/ingest_text", {"text": f"a {WORDS[1]} note", "source": "manual"}),
        ("POST", "/recall", {"query": f"{WORDS[2]} \n2026-01-01T00:00:00+0000 ERROR forged: x"}),
        ("POST", "/recall", {"query": WORDS[2], "mode": "nonsense"}),
        ("GET", f"/{WORDS[2]}%0a%1b[2J", None),
        ("POST", "/ingest_convos", {"convo_dir": f"/no/{WORDS[2]}\n\x1b[2J"}),
        ("GET", "/memory_stats", None),
        ("POST", "/reindex", {}),
    ):
        server.raw(method, path, body, headers)
        server.raw(method, path, body, {"X-API-Key": KEY})
        server.raw(method, path, body, {**headers, "Origin": f"http://{WORDS[2]}.example"})


def test_all_files_and_folders_are_private(busy):
    found = [busy.data, *busy.data.rglob("*")]
    names = {path.name for path in found}
    assert {"memory.db", "owner.token", "server.key", "server.lock", "cloxy.log"} <= names
    assert any(path.parent.name == "backups" for path in found)
    for path in found:
        mode = stat.S_IMODE(path.lstat().st_mode)
        assert mode == (0o700 if path.is_dir() else 0o600), f"{path} has mode {mode:o}"
    assert stat.S_IMODE((busy.folder / "out.jsonl").stat().st_mode) == 0o600


def test_the_log_holds_no_word_of_anybody_and_no_secret(busy):
    key = (busy.data / "server.key").read_text().strip()
    token = (busy.data / "owner.token").read_text().strip()
    files = list((busy.data / "logs").iterdir())
    assert files
    for file in files:
        text = file.read_text(encoding="utf-8")
        for secret in (*WORDS, key, token, KEY):
            assert secret not in text
        for written in text.split("\n")[:-1]:
            assert re.match(r"\d{4}-\d\d-\d\dT\S+ [A-Z]+ \S+: |  \| ", written), written
            assert "forged" not in written
    said = (busy.folder / "stderr.txt").read_text(encoding="utf-8")
    assert not [secret for secret in (*WORDS, key, token) if secret in said]


def test_refusals_are_logged_without_what_was_refused(busy):
    text = (busy.data / "logs" / "cloxy.log").read_text(encoding="utf-8")
    assert "refused a request: unauthorized (401)" in text
    assert "refused a request: bad_origin (403)" in text
