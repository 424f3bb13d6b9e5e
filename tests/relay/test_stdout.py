"""Only protocol on standard output, in UTF-8, whoever prints and whatever the locale."""

import json
import os
import subprocess
import sys

import pytest
from process.cli_runner import PROGRAM, run_cloxy
from relay.relay_child import call, patient

FAMILIES = "😅 密钥 Пароль \u2028 \u0085 é"
NOISE = """
import atexit, os, sys, threading, warnings
print("printed at the start, and not written yet")
def later():
    import subprocess
    warnings.warn("a warning")
    print("printed", flush=True)
    os.write(1, b"written to descriptor 1\\n")
    subprocess.run([sys.executable, "-S", "-c", "print('a child')"])
    sys.__stdout__.write("to the first stream\\n"); sys.__stdout__.flush()
import cloxy_core.relay.running as running
before = running.run_relay
def noisy(*arguments):
    later()
    noise = threading.Timer(0.05, later); noise.start()
    before(*arguments)
    noise.join()
    later()
running.run_relay = noisy
from cloxy_core.cli.main import main
main(["mcp"])
"""


def test_noise_goes_to_standard_error(child, monkeypatch):
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
    relay = child(command=[sys.executable, "-P", "-W", "always", "-c", NOISE])
    assert relay.ask(call(1, modern=True))["result"]
    assert relay.close() == 0
    assert relay.next() is None
    said = relay.said.decode()
    for words in ("printed at the start", "descriptor 1", "a child", "a warning", "first stream"):
        assert words in said


@pytest.mark.parametrize(
    "locale",
    [
        {"PYTHONIOENCODING": "cp1252"},
        {"LANG": "C", "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"},
    ],
)
def test_text_is_utf_8_both_ways(child, server, locale):
    relay = child(**locale)
    for name in ("echo", "plain"):
        answer = relay.ask(call(name, name, modern=True, text=FAMILIES))
        assert answer["result"]["params"]["arguments"] == {"text": FAMILIES}
    assert all(
        FAMILIES in json.loads(body)["params"]["arguments"]["text"] for body in bodies(server)
    )


def bodies(server):
    return [body for method, path, _, body in server.asked if path == "/mcp"]


def test_answers_to_a_file(server, tmp_path):
    target = tmp_path / "out.jsonl"
    with target.open("wb") as file:
        subprocess.run(
            patient(),
            env={**os.environ, "CLOXY_URL": server.url, "LANG": "C"},
            input=json.dumps(call(1, modern=True, text=FAMILIES)).encode() + b"\n",
            stdout=file,
            check=True,
            timeout=60,
        )
    lines = target.read_text(encoding="utf-8").split("\n")
    assert json.loads(lines[-2])["result"]["params"]["arguments"]["text"] == FAMILIES


def test_help_is_on_standard_output():
    run = run_cloxy("mcp", "--help")
    assert run.returncode == 0
    assert b"CLOXY_MCP_TOOLSETS" in run.stdout


def test_wrong_usage_is_on_standard_error():
    run = run_cloxy("mcp", "--nonsense")
    assert run.returncode == 2
    assert run.stdout == b""


def test_closed_streams_are_named():
    run = subprocess.run(
        ["/bin/sh", "-c", f"exec {PROGRAM} mcp <&- 2>&1 >&-"],
        capture_output=True,
        timeout=60,
    )
    assert run.returncode == 1
