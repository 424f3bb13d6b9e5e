"""The real program in a home directory of its own, as a person or a script runs it."""

import json
import os
import pty
import re
import select
import shlex
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest
from process.cli_runner import PROGRAM, child_environment, run_cloxy

from cloxy_core.connect.catalogue import CLIENTS
from cloxy_core.connect.entry import Target

pytestmark = pytest.mark.process

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGE = (ROOT / "docs" / "how-to" / "connect.md").read_text(encoding="utf-8")
OTHER = '{\n  // mine\n  "mcpServers": {"x": {"command": "y", "env": {"API_KEY": "hunter2"}}}\n}\n'
PATIENCE = 120


@pytest.fixture
def home(isolated, monkeypatch):
    """A home directory, and a PATH in which no client is."""
    (isolated / "bin").mkdir()
    monkeypatch.setenv("PATH", str(isolated / "bin"))
    return isolated


def cloxy(*arguments, **environment):
    done = run_cloxy("connect", *arguments, **environment)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def files(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and ".cloxy" not in path.parts
    }


def test_no_client_is_told(home):
    code, out, _ = cloxy()
    assert (code, out) == (
        0, "No client was found on this machine; name one, as in `cloxy connect cursor`.\n"
    )  # fmt: skip
    assert files(home) == {}


def test_finds_shows_and_writes_only_when_told(home):
    (home / ".cursor").mkdir()
    (home / ".codex").mkdir()
    (home / ".cursor" / "mcp.json").write_text(OTHER)
    before = files(home)
    code, out, err = cloxy()
    assert code == 2
    assert "Nothing was written, since nobody can be asked here; add --yes to write." in err
    assert '+  "mcpServers": {"x": {"command": "y", "env": {"API_KEY": …' in out
    assert "+[mcp_servers.cloxy]" in out
    assert "hunter2" not in out + err
    assert files(home) == before
    assert not (home / ".cloxy").exists()

    code, out, err = cloxy("--dry-run")
    assert (code, err) == (0, "")
    assert files(home) == before

    code, out, _ = cloxy("--yes")
    assert code == 0
    assert "connected: Cursor. Next: restart Cursor." in out
    entry = {"command": str(PROGRAM), "args": ["mcp"]}
    assert json.dumps(entry) in (home / ".cursor" / "mcp.json").read_text()
    connected = files(home)

    code, out, _ = cloxy("--yes")
    assert code == 0
    assert out.count("connected already, nothing to change") == 2
    assert files(home) == connected

    code, out, _ = cloxy("--undo")
    assert code == 2
    assert files(home) == connected
    code, out, _ = cloxy("--undo", "--yes")
    assert code == 0
    assert files(home) == before
    code, out, _ = cloxy("--undo", "--yes")
    assert (code, out) == (0, "No client on this machine has an entry of Cloxy.\n")


def test_a_program_on_the_path_is_a_sign_too(home):
    program = home / "bin" / "codex"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    code, out, _ = cloxy("--list", "--json")
    found = {row["client"]: row["found_by"] for row in json.loads(out)["clients"]}
    assert code == 0
    assert set(found) == {client.key for client in CLIENTS}
    assert {key for key, sign in found.items() if sign} == {"codex"}
    assert found["codex"] == str(program)


def test_one_client_that_is_broken_does_not_stop_the_others(home):
    (home / ".cursor").mkdir()
    (home / ".cursor" / "mcp.json").write_text('{\n  "a": }\n')
    code, out, _ = cloxy("cursor", "codex", "--yes")
    assert code == 1
    assert f"{home}/.cursor/mcp.json, line 2, column 8: this is not a JSON value" in out
    assert (home / ".codex" / "config.toml").exists()
    assert (home / ".cursor" / "mcp.json").read_text() == '{\n  "a": }\n'


def test_several_at_once_write_one_entry_and_undo_is_still_exact(home):
    (home / ".cursor").mkdir()
    (home / ".cursor" / "mcp.json").write_text(OTHER)
    command = [PROGRAM, "connect", "cursor", "codex", "--yes"]
    runs = [
        subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        for _ in range(6)
    ]
    outputs = [run.communicate(timeout=PATIENCE)[0] for run in runs]
    assert [run.returncode for run in runs] == [0] * 6, outputs
    assert (home / ".cursor" / "mcp.json").read_text().count('"cloxy"') == 1
    assert (home / ".codex" / "config.toml").read_text().count("[mcp_servers.cloxy]") == 1
    assert cloxy("--undo", "--yes")[0] == 0
    assert files(home) == {".cursor/mcp.json": OTHER.encode()}


def test_as_json(home):
    code, out, _ = cloxy("cursor", "--json")
    row = json.loads(out)["clients"][0]
    assert code == 2
    assert (row["client"], row["action"], row["written"]) == ("cursor", "add", False)
    code, out, _ = cloxy("cursor", "--json", "--yes")
    row = json.loads(out)["clients"][0]
    assert (code, row["written"], row["error"]) == (0, True, None)
    assert row["path"] == str(home / ".cursor" / "mcp.json")
    assert row["documentation"].startswith("https://")


def test_only_printed(home):
    code, out, err = cloxy("--print", "zed")
    assert code == 0
    assert json.loads(out) == {
        "context_servers": {"cloxy": {"command": str(PROGRAM), "args": ["mcp"]}}
    }
    assert f"Zed: {home}/.config/zed/settings.json" in err
    assert files(home) == {}
    code, _, err = cloxy("--print")
    assert code == 1
    assert "needs the name of a client" in err


@pytest.mark.skipif(sys.platform != "linux", reason="only there the place is not confirmed")
def test_a_place_that_is_not_confirmed_is_not_written(home):
    code, out, _ = cloxy("claude-desktop", "--yes")
    assert code == 0
    assert "only shown" in out
    assert f'"command": "{PROGRAM}"' in out
    assert files(home) == {}


def test_a_project_gets_a_name_and_no_path(home, tmp_path):
    project = tmp_path / "shop"
    project.mkdir()
    code, _, _ = cloxy("cursor", "codex", "vscode", "--project", str(project), "--yes",
                       CLOXY_DATA_DIR=str(tmp_path / "data"))  # fmt: skip
    assert code == 0
    written = files(project)
    assert set(written) == {".cursor/mcp.json", ".codex/config.toml", ".vscode/mcp.json"}
    for raw in written.values():
        assert b'"cloxy"' in raw
        assert str(PROGRAM).encode() not in raw
        assert b"DATA_DIR" not in raw
    assert files(home) == {}
    cloxy("--undo", "--project", str(project), "--yes", CLOXY_DATA_DIR=str(tmp_path / "data"))
    assert list(project.iterdir()) == []


def test_the_folder_of_a_project_may_be_left_out(home, tmp_path):
    done = subprocess.run(
        [PROGRAM, "connect", "--project", "cursor", "--yes"],
        cwd=tmp_path, capture_output=True, stdin=subprocess.DEVNULL, timeout=PATIENCE,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert (tmp_path / ".cursor" / "mcp.json").exists()


def test_a_link_out_of_a_project_is_not_followed(home, tmp_path):
    project, outside = tmp_path / "shop", tmp_path / "outside.json"
    (project / ".cursor").mkdir(parents=True)
    outside.write_text("{}")
    (project / ".cursor" / "mcp.json").symlink_to(outside)
    code, out, _ = cloxy("cursor", "--project", str(project), "--yes")
    assert code == 1
    assert "leads out of the project" in out
    assert outside.read_text() == "{}"


def test_a_key_never_goes_into_a_file(home):
    secret = "a-key-of-more-than-sixteen"
    (home / ".cloxy").mkdir(mode=0o700)
    (home / ".cloxy" / "client.env").write_text(f"CLOXY_API_KEY={secret}\n")
    (home / ".cloxy" / "client.env").chmod(0o600)
    names = [client.key for client in CLIENTS]
    assert cloxy(*names, "--yes")[0] == 0
    assert len(files(home)) == len(names) - (sys.platform == "linux")
    code, out, _ = cloxy("cursor", "codex", "--http", "--yes")
    assert code == 0
    assert "never written into a client's file" in out
    assert b"http://127.0.0.1:9055/mcp" in files(home)[".codex/config.toml"]
    for raw in files(home).values():
        assert secret.encode() not in raw
    code, out, _ = cloxy("cursor", "--http", "--yes", CLOXY_URL="http://pat:pw@127.0.0.1:9055")
    assert code == 1
    assert b"pw@" not in files(home)[".cursor/mcp.json"]


def test_an_address_that_is_not_confirmed_is_refused(home):
    code, out, _ = cloxy("cline", "--http", "--yes")
    assert code == 1
    assert "takes no address that is confirmed" in out
    assert files(home) == {}


def test_a_data_directory_of_ones_own_goes_along(home, tmp_path):
    cloxy("cursor", "--yes", CLOXY_DATA_DIR=str(tmp_path / "data"))
    entry = json.loads((home / ".cursor" / "mcp.json").read_text())["mcpServers"]["cloxy"]
    assert entry["env"] == {"CLOXY_DATA_DIR": str(tmp_path / "data")}


def test_another_name_and_an_entry_of_another_program(home):
    (home / ".cursor").mkdir()
    (home / ".cursor" / "mcp.json").write_text('{"mcpServers": {"cloxy": {"command": "rm"}}}')
    code, out, _ = cloxy("cursor", "--yes")
    assert code == 1
    assert "--replace" in out
    assert cloxy("cursor", "--yes", "--name", "memory")[0] == 0
    servers = json.loads((home / ".cursor" / "mcp.json").read_text())["mcpServers"]
    assert servers["cloxy"] == {"command": "rm"}
    assert servers["memory"]["args"] == ["mcp"]
    code, _, err = cloxy("cursor", "--name", "a b")
    assert code == 1
    assert "cannot be the name" in err


def test_wrong_words(home):
    code, _, err = cloxy("emacs")
    assert code == 1
    assert "choose from claude-code" in err
    assert cloxy("--undo", "--list")[0] == 2
    assert cloxy("--yes", "--dry-run")[0] == 2
    code, out, _ = cloxy("--help")
    assert code == 0
    for client in CLIENTS:
        assert client.key in out


def test_the_claude_program_is_used_where_it_is(home):
    program = home / "bin" / "claude"
    program.write_text(
        f"#!{sys.executable}\n"
        "import json, os, sys\n"
        "home = os.environ['HOME']\n"
        "with open(home + '/calls', 'a') as calls: calls.write(json.dumps(sys.argv[1:]) + '\\n')\n"
        "path = home + '/.claude.json'\n"
        "value = json.load(open(path)) if os.path.exists(path) else {}\n"
        "servers = value.setdefault('mcpServers', {})\n"
        "if sys.argv[2] == 'add':\n"
        "    servers['cloxy'] = {'command': sys.argv[-2], 'args': ['mcp'], 'env': {}}\n"
        "else:\n"
        "    del servers['cloxy']\n"
        "json.dump(value, open(path, 'w'))\n"
    )
    program.chmod(0o755)
    code, out, _ = cloxy("claude-code", "--yes")
    assert code == 0, out
    assert f"$ {program} mcp add --scope user cloxy -- {PROGRAM} mcp" in out
    assert cloxy("claude-code", "--undo", "--yes")[0] == 0
    calls = [json.loads(line) for line in (home / "calls").read_text().splitlines()]
    assert calls == [
        ["mcp", "add", "--scope", "user", "cloxy", "--", str(PROGRAM), "mcp"],
        ["mcp", "remove", "--scope", "user", "cloxy"],
    ]


def test_text_of_a_file_does_not_act_on_the_terminal(home):
    (home / ".cursor").mkdir()
    hostile = (
        '{"mcpServers": {\n"a\u202e\u200b": {"command": "x"}, '
        '// \x1b]0;owned\x07\x9b31m\n"b": {}\n}}'
    )
    (home / ".cursor" / "mcp.json").write_text(hostile)
    for arguments in (["cursor"], ["cursor", "--yes"], ["--list"]):
        _, out, err = cloxy(*arguments)
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e]", out + err)
    assert hostile.split('"b"', maxsplit=1)[0] in (home / ".cursor" / "mcp.json").read_text()


def test_a_folder_that_cannot_be_used_is_told_and_not_a_trace(home):
    (home / ".cursor").write_text("")
    code, out, err = cloxy("cursor", "--yes")
    assert code == 1
    assert "Traceback" not in out + err


def test_without_a_home_directory(home):
    environment = child_environment(None, {})
    environment["HOME"] = "relative"
    done = subprocess.run(
        [PROGRAM, "connect", "cursor"], env=environment, capture_output=True,
        stdin=subprocess.DEVNULL, timeout=PATIENCE,
    )  # fmt: skip
    assert done.returncode in {1, 2}
    assert b"home directory is not known" in done.stdout + done.stderr
    assert b"Traceback" not in done.stderr


def test_a_reader_that_leaves_is_no_error(home):
    done = subprocess.run(
        ["/bin/sh", "-c", f"{shlex.quote(str(PROGRAM))} connect --list | /usr/bin/head -n 1"],
        capture_output=True, timeout=PATIENCE,
    )  # fmt: skip
    assert done.stdout.startswith(b"CLIENT")
    assert done.stderr == b""


@pytest.mark.parametrize(("answer", "code"), [("y", 0), ("n", 1), ("", 1)])
def test_a_person_is_asked(home, answer, code):
    (home / ".cursor").mkdir()
    status, text = in_terminal(["connect"], answer)
    assert "Write this change? [y/N]" in text
    assert status == code
    assert ((home / ".cursor" / "mcp.json").exists()) is (answer == "y")


def in_terminal(arguments, answer):
    """Run with a terminal, answer the first question, and give exit code and text."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(PROGRAM, [str(PROGRAM), *arguments])
    text, asked, until = b"", False, time.monotonic() + PATIENCE
    while time.monotonic() < until:
        if not select.select([terminal], [], [], 1)[0]:
            continue
        try:
            text += os.read(terminal, 4096)
        except OSError:  # the other end was closed
            break
        if not asked and b"[y/N]" in text:
            asked = True
            os.write(terminal, answer.encode() + b"\n")
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), text.decode()


# What the pages say.


def readme_lines():
    section = README.split("## Connect your editor\n")[1].split("\n## ")[0]
    return [
        line.removeprefix("$ ").partition("#")[0].strip()
        for line in section.splitlines()
        if line.startswith("$ ")
    ]


def test_the_readme_names_every_client():
    named = {line.split()[-1] for line in readme_lines()}
    assert {client.key for client in CLIENTS} <= named


@pytest.mark.parametrize("line", readme_lines())
def test_every_line_of_the_readme_runs_as_it_stands(home, tmp_path, line):
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / ".venv" / "bin" / "cloxy").symlink_to(PROGRAM)
    done = subprocess.run(
        ["/bin/sh", "-c", f"{line} --json" if "--list" in line else f"{line} --yes"],
        cwd=tmp_path, capture_output=True, stdin=subprocess.DEVNULL, timeout=PATIENCE,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    client = next((each for each in CLIENTS if each.key == line.split()[-1]), None)
    if client is None or (client.key == "claude-desktop" and sys.platform == "linux"):
        return
    whole = str(tmp_path / ".venv" / "bin" / "cloxy")
    written = [raw for name, raw in files(home).items()]
    assert len(written) == 1
    assert written[0].decode() == client.format.snippet(
        "cloxy", client.values(Target(program=whole))
    )


@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.key)
def test_the_page_shows_what_is_written(client):
    section = PAGE.split(f"\n## {client.title}\n")[1].split("\n## ")[0]
    program = "/home/me/.venv/bin/cloxy"
    assert client.format.snippet("cloxy", client.values(Target(program=program))) in section
    assert f"$ cloxy connect {client.key}\n" in section
    assert f"$ cloxy connect {client.key} --undo\n" in section
    assert client.documentation in section
    assert client.looked_up in section
    assert client.check in section
    if client.project_file:
        assert f"`{client.project_file}`" in section


def test_what_was_written_is_for_its_owner(home):
    cloxy("codex", "--yes")
    assert stat.S_IMODE((home / ".codex" / "config.toml").stat().st_mode) == 0o600
    assert stat.S_IMODE((home / ".cloxy").stat().st_mode) == 0o700
