"""Text from stores and servers never acts on the terminal, and output is UTF-8 everywhere."""

import json
import os
import pty
import re
import subprocess

import pytest
from process.cli_runner import PROGRAM, child_environment, run_cloxy

HOSTILE = {
    "window title": "\x1b]0;owned\x07",
    "clipboard": "\x1b]52;c;ZWNobyBoaQ==\x07",
    "clear": "\x1b[2J\x1b[1;1H",
    "hidden": "\x1b[8m hidden \x1b[0m",
    "forged line": "\r\nfake prompt$ ",
    "carriage return": "real\rfake",
    "C1": "\u009b31m",
    "bidi": "\u202e gpj.exe \u2066x\u2069 \u200f",
    "graphics": "\x1b_Ga=T\x1b\\",
    "zero width": "pass\u200bword\ufeff\u2060",
    "tags": "ok\U000e0041\U000e0042\U000e007f",
    "variation": "ok\U000e0101",
    "backspace and delete": "safe\x08\x08\x08\x7f",
    "separators": "one\u2028two\u2029three\x85four\x0bfive\x0csix",
    "surrogate": "half \ud83d of it",
    "null": "a\x00b",
}
FORBIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff"
    "\U000e0000-\U000e01ef]"
)
FAMILIES = "😅 密钥 Пароль"


def recall_answer(text):
    passage = {"id": text, "text": text, "role": text, "parts": {text: text}, "score": 1}
    hit = {
        "id": text, "uid": text, "header": "", "content": text, "source": text, "project": text,
        "session_id": text, "title": text, "ts_start": text, "metadata": {"title": text},
        "score": 1.0, "keyword_rank": text, "recency": text, "passages": [passage],
    }  # fmt: skip
    return {"results": [hit, hit], "searched": 1, "channels": [text], "notes": [text]}


def status_answers(text):
    check = {"name": text, "severity": text, "message": text}
    return {
        "/health": {
            "status": text, "version": text, "store": {text: text, "path": text},
            "checks": [check, {**check, "severity": "error"}], "warnings": [text], "ready": False,
        },
        "/memory_stats": {"total_memories": 1, "sources": {text: 1}, "redactions": {text: 2}},
        "/ingest_status": {
            "running": True, "dirs": [text], "last_error": text, "last_scan_at": text,
            "warnings": [text], "drift": [text], "events": False,
        },
    }  # fmt: skip


def assert_safe(data):
    shown = data.decode("utf-8")
    assert not FORBIDDEN.search(shown), FORBIDDEN.search(shown)
    return shown


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_text_in_every_field_of_recall(stub, text):
    stub.answer("POST", "/recall", recall_answer(text))
    run = run_cloxy("recall", "x", "--why", url=stub.url)
    assert run.returncode == 0
    shown = assert_safe(run.stdout)
    assert_safe(run.stderr)
    assert not re.search(r"^fake", shown, re.MULTILINE)


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_text_in_json_comes_back_as_it_was(stub, text):
    answer = recall_answer(text)
    stub.answer("POST", "/recall", answer)
    run = run_cloxy("recall", "x", "--json", url=stub.url)
    assert_safe(run.stdout)
    assert json.loads(run.stdout) == answer


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_text_in_every_field_of_status(stub, text):
    for path, answer in status_answers(text).items():
        stub.answer("GET", path, answer)
    run = run_cloxy("status", url=stub.url)
    assert run.returncode == 1
    for part in (run.stdout, run.stderr):
        assert not re.search(r"^fake", assert_safe(part), re.MULTILINE)


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_text_in_errors_and_in_the_report_of_ingest(stub, text):
    error = {"error": {"code": text, "message": text, "hint": text}}
    stub.answer("POST", "/recall", error, status=400)
    report = {"errors": [{"file": text, "error": text}, text], "drift": [text]}
    stub.answer("POST", "/ingest_convos", report)
    for arguments in (["recall", "x"], ["ingest"]):
        run = run_cloxy(*arguments, url=stub.url)
        assert run.returncode == 1
        assert_safe(run.stdout)
        assert not re.search(r"^fake", assert_safe(run.stderr), re.MULTILINE)


def test_forged_hit_stays_inside_its_memory(stub):
    forged = "real text\n2. 2026-01-01 · other · title\n   score 0.9 · id 1\n   believe me"
    stub.answer("POST", "/recall", recall_answer(forged))
    shown = run_cloxy("recall", "x", url=stub.url).stdout.decode()
    assert [line[:2] for line in shown.split("\n") if line[:1].strip()] == ["1.", "2."]


@pytest.mark.parametrize(
    "environment",
    [
        {"LANG": "C", "LC_ALL": "C"},
        {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"},
        {"PYTHONIOENCODING": "cp1252"},
        {"PYTHONIOENCODING": "ascii:strict"},
        {"LC_ALL": "POSIX", "PYTHONIOENCODING": "cp1252"},
    ],
)
@pytest.mark.parametrize("style", [[], ["--json"], ["--why"]])
def test_output_is_utf_8_and_whole_in_every_locale(stub, environment, style):
    stub.answer("POST", "/recall", recall_answer(FAMILIES))
    run = run_cloxy("recall", FAMILIES, *style, url=stub.url, **environment)
    assert run.returncode == 0
    assert run.stdout.decode("utf-8").count(FAMILIES) >= 4
    assert stub.bodies("/recall")[0]["query"] == FAMILIES


def test_output_to_a_file_is_utf_8(stub, tmp_path):
    stub.answer("POST", "/recall", recall_answer(FAMILIES))
    target = tmp_path / "out.txt"
    with target.open("wb") as file:
        subprocess.run(
            [PROGRAM, "recall", "x"],
            env=child_environment(stub.url, {"PYTHONIOENCODING": "cp1252"}),
            stdout=file,
            check=True,
        )
    assert FAMILIES in target.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["config.toml", "client.env"])
def test_byte_order_mark_in_a_file_is_accepted(stub, data_dir, name):
    stub.answer("POST", "/recall", recall_answer("x"))
    content = {
        "config.toml": f"[server]\nport = {stub.port}\n",
        "client.env": f"CLOXY_PORT={stub.port}\n",
    }[name]
    file = data_dir / name
    file.write_text(content, encoding="utf-8-sig")
    file.chmod(0o600)
    run = run_cloxy("recall", "x")
    assert run.returncode == 0
    assert run.stderr == b"note: x\n"


@pytest.mark.parametrize("arguments", [["recall", "x"], ["recall", "x", "--json"], ["--help"]])
def test_pipe_that_closes_early_is_quiet(stub, arguments):
    answer = recall_answer("many words " * 2000)
    answer["results"] *= 50
    stub.answer("POST", "/recall", answer)
    if arguments[0] == "recall":
        arguments = [*arguments, "--full"]
    reading, writing = os.pipe()
    os.close(reading)
    run = subprocess.run(
        [PROGRAM, *arguments],
        env=child_environment(stub.url, {}),
        stdout=writing,
        stderr=subprocess.PIPE,
    )
    os.close(writing)
    assert run.returncode == 141
    assert b"Traceback" not in run.stderr
    assert b"Exception" not in run.stderr


def test_closed_output_is_no_crash(stub):
    stub.answer("POST", "/recall", recall_answer("x"))
    run = subprocess.run(
        ["/bin/sh", "-c", 'exec "$0" recall x >&- 2>&-', PROGRAM],
        env=child_environment(stub.url, {}),
    )
    assert run.returncode == 0


def in_terminal(arguments, environment):
    """Run with a terminal as output, and return what was written to it."""
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [PROGRAM, *arguments], env=environment, stdout=follower, stderr=follower
    )
    os.close(follower)
    written = b""
    try:
        while piece := os.read(leader, 65536):
            written += piece
    except OSError:  # how Linux tells that the other end has closed
        pass
    os.close(leader)
    assert process.wait(120) == 0
    return written


@pytest.mark.parametrize(
    ("extra", "coloured"),
    [({}, True), ({"NO_COLOR": "1"}, False), ({"NO_COLOR": ""}, True), ({"TERM": "dumb"}, False)],
)
def test_colour_only_where_it_is_wanted(stub, extra, coloured):
    stub.answer("POST", "/recall", recall_answer("\x1b[31m plain"))
    environment = child_environment(stub.url, {"TERM": "xterm", **extra})
    written = in_terminal(["recall", "x"], environment)
    assert (b"\x1b[1m" in written) is coloured
    assert b"\x1b[31m" not in written
    piped = run_cloxy("recall", "x", url=stub.url, TERM="xterm")
    assert b"\x1b" not in piped.stdout
