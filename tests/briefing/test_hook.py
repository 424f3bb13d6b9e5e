"""`cloxy hook session-start` as an agent runs it: silent rather than slow or wrong."""

import json
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from process.cli_runner import PROGRAM, child_environment
from server.live_server import LiveServer

from cloxy_core.services.echo import strip_echo

SHOP = "/srv/demo/shop"
TEMPLATES = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with LiveServer(tmp_path_factory.mktemp("hook"), CLOXY_EMBED_PROVIDER="none") as server:
        status, _ = server.ask(
            "POST",
            "/ingest_text",
            {"text": "The dashboard of the shop runs on 9100.", "project": SHOP},
        )
        assert status == 200
        yield server


# It is silent rather than slow, which on a busy machine it would be.
PATIENT = """
import sys
from cloxy_core.cli import hook
hook.ANSWER_SECONDS = 60.0
from cloxy_core.cli.main import main
main(["hook", "session-start", *sys.argv[1:]])
"""


def hook(given, *arguments, url, data, command=(PROGRAM, "hook", "session-start")):
    text = given if isinstance(given, bytes) else json.dumps(given).encode()
    return subprocess.run(
        [*command, *arguments],
        input=text,
        capture_output=True,
        timeout=60,
        env=child_environment(url, {"CLOXY_DATA_DIR": str(data)}),
    )


def begins(source="startup", cwd=SHOP):
    return {
        "session_id": "s",
        "transcript_path": "/t.jsonl",
        "cwd": cwd,
        "hook_event_name": "SessionStart",
        "source": source,
    }


def test_a_new_session_is_told(server):
    for source in ("startup", "clear"):
        patient = (sys.executable, "-P", "-c", PATIENT)
        run = hook(begins(source), url=server.url, data=server.data, command=patient)
        assert run.returncode == 0
        told = json.loads(run.stdout)["hookSpecificOutput"]
        assert told["hookEventName"] == "SessionStart"
        assert "runs on 9100" in told["additionalContext"]
        assert strip_echo(told["additionalContext"])[1] == 1
        assert len(told["additionalContext"]) <= 2000


@pytest.mark.parametrize("source", ["resume", "compact", "fork", "", None, 7, [], {}])
def test_one_that_goes_on_is_not_told_again(server, source):
    run = hook(begins(source), url=server.url, data=server.data)
    assert (run.returncode, run.stdout, run.stderr) == (0, b"", b"")


def test_an_unknown_project_is_not_told(server):
    run = hook(begins(cwd="/srv/elsewhere"), url=server.url, data=server.data)
    assert (run.returncode, run.stdout, run.stderr) == (0, b"", b"")


@pytest.mark.parametrize(
    "text", [b"", b"no json", b"[]", b"[" * 100_000, b"\xff\xfe", b'{"source": "startup"']
)
def test_broken_input_is_no_failure(server, text):
    run = hook(text, url=server.url, data=server.data)
    assert (run.returncode, run.stdout, run.stderr) == (0, b"", b"")


def test_without_a_server_it_is_silent_and_says_why_when_asked(tmp_path):
    url = "http://127.0.0.1:9"
    run = hook(begins(), url=url, data=tmp_path)
    assert (run.returncode, run.stdout, run.stderr) == (0, b"", b"")
    run = hook(begins(), "--explain", url=url, data=tmp_path)
    assert (run.returncode, run.stdout) == (0, b"")
    assert b"no server at" in run.stderr


def test_a_program_that_has_the_port_and_says_nothing_is_not_waited_for(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        run = hook(begins(), "--explain", url=url, data=tmp_path)
    assert (run.returncode, run.stdout) == (0, b"")
    assert b"did not say within 0.5 seconds who it is" in run.stderr


def test_it_imports_nothing_heavy():
    code = (
        "import sys, cloxy_core.cli.hook\n"
        "heavy = {'fastapi', 'pydantic', 'sqlalchemy', 'numpy', 'mcp', 'cloxy_hookspecs',"
        " 'asyncio', 'httpx2', 'pluggy'} & set(sys.modules)\n"
        "print(sorted(heavy))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_the_marketplace_and_its_plugins_are_whole():
    market = json.loads((TEMPLATES / ".claude-plugin/marketplace.json").read_text())
    assert market["owner"]["name"]
    names = set()
    for entry in market["plugins"]:
        folder = TEMPLATES / entry["source"]
        manifest = json.loads((folder / ".claude-plugin/plugin.json").read_text())
        assert manifest["name"] == entry["name"] == folder.name
        assert (manifest["version"], manifest["description"]) == (
            entry["version"],
            entry["description"],
        )
        assert isinstance(manifest["author"], dict), "a text here breaks the installation"
        assert "hooks" not in manifest, "the file is found by itself; named, it is an error"
        names.add(entry["name"])
    assert names == {"cloxy", "cloxy-briefing"}
    hooks = TEMPLATES / "templates/claude-code/cloxy/hooks"
    assert not hooks.exists(), "they are off by default"


def test_what_the_plugins_run_are_commands_of_ours(server):
    base = TEMPLATES / "templates/claude-code"
    served = json.loads((base / "cloxy/.mcp.json").read_text())["mcpServers"]["cloxy"]
    hooks = json.loads((base / "cloxy-briefing/hooks/hooks.json").read_text())["hooks"]
    (entry,) = hooks["SessionStart"]
    assert set(entry["matcher"].split("|")) == {"startup", "clear"}
    (told,) = entry["hooks"]
    commands = [[served["command"], *served["args"]], told["command"].split()]
    for command in commands:
        assert command[0] == "cloxy"
        run = subprocess.run(
            [PROGRAM, *command[1:], "--help"], capture_output=True, timeout=60, check=True
        )
        assert run.stdout
