"""Claude Code's own commands, through the recorded boundary."""

import json
from itertools import pairwise

import pytest
from connect.bench import Bench, RecordedCommands
from connect.samples import PROGRAM, URL

from cloxy_core.connect.commands import Outcome, SystemCommands
from cloxy_core.connect.errors import ConnectError

CLAUDE = "/usr/local/bin/claude"


class Claude:
    """What `claude mcp add` and `claude mcp remove` do to the file."""

    def __init__(self):
        self.path = None
        self.code = 0
        self.idle = False

    def __call__(self, command):
        if self.code or self.idle:
            return Outcome(self.code, "No such\n  luck")
        value = json.loads(self.path.read_text()) if self.path.exists() else {}
        servers = value.setdefault("mcpServers", {})
        if command[2] == "remove":
            servers.pop(command[-1])
        elif "--" in command:
            at = command.index("--")
            environment = dict(
                word.split("=", 1) for flag, word in pairwise(command) if flag == "--env"
            )
            servers[command[at - 1]] = {
                "type": "stdio",
                "command": command[at + 1],
                "args": list(command[at + 2 :]),
                "env": environment,
            }
        else:
            servers[command[-2]] = {"type": "http", "url": command[-1]}
        self.path.write_text(json.dumps(value))
        return Outcome(0, "Added")


@pytest.fixture
def claude():
    return Claude()


@pytest.fixture
def bench(tmp_path, claude):
    bench = Bench(tmp_path, "claude-code", RecordedCommands({"claude": CLAUDE}, claude))
    claude.path = bench.path
    return bench


def test_the_users_entry_goes_through_the_clients_own_command(bench):
    assert bench.connect().action == "add"
    assert bench.connect().action == "same"
    assert bench.undo().action == "remove"
    assert bench.undo().action == "absent"
    assert bench.commands.ran == [
        (CLAUDE, "mcp", "add", "--scope", "user", "cloxy", "--", PROGRAM, "mcp"),
        (CLAUDE, "mcp", "remove", "--scope", "user", "cloxy"),
    ]


def test_an_old_path_is_taken_out_first(bench):
    bench.connect("/old/cloxy")
    assert bench.connect().action == "update"
    assert [command[2] for command in bench.commands.ran] == ["add", "remove", "add"]
    assert PROGRAM in bench.path.read_text()


def test_an_address(bench):
    bench.connect(http=True)
    assert bench.commands.ran == [
        (CLAUDE, "mcp", "add", "--transport", "http", "--scope", "user", "cloxy", URL)
    ]


def test_a_variable_does_not_swallow_the_name(bench):
    bench.connect(environment={"CLOXY_DATA_DIR": "/data"})
    command = bench.commands.ran[0]
    assert command[3:6] == ("--env", "CLOXY_DATA_DIR=/data", "--scope")
    assert json.loads(bench.path.read_text())["mcpServers"]["cloxy"]["env"] == {
        "CLOXY_DATA_DIR": "/data"
    }


def test_a_failure_is_told_with_what_it_said(bench, claude):
    claude.code = 3
    with pytest.raises(ConnectError, match=r"failed \(3\); it said: No such luck"):
        bench.connect()


def test_a_success_that_does_not_show_is_told(bench, claude):
    claude.idle = True
    with pytest.raises(ConnectError, match="ended well, but"):
        bench.connect()


def test_a_foreign_entry_is_not_touched(bench):
    bench.write('{"mcpServers": {"cloxy": {"command": "other"}}}')
    with pytest.raises(ConnectError, match="not of Cloxy"):
        bench.connect()
    assert bench.commands.ran == []
    bench.connect(replace=True)
    assert [command[2] for command in bench.commands.ran] == ["remove", "add"]


def test_an_invalid_file_is_refused_before_anything_is_run(bench):
    bench.write('{"a": }')
    with pytest.raises(ConnectError, match="line 1, column 7"):
        bench.connect()
    assert bench.commands.ran == []


@pytest.mark.parametrize("program", ["C:\\npm\\claude.cmd", "C:\\npm\\claude.CMD", "x.bat"])
def test_a_script_of_the_windows_shell_is_not_run(bench, program):
    bench.commands.found = {"claude": program}
    bench.connect()
    assert bench.commands.ran == []
    assert PROGRAM in bench.path.read_text()


def test_other_clients_do_not_run_it(tmp_path):
    bench = Bench(tmp_path, "cursor", RecordedCommands({"claude": CLAUDE}))
    bench.connect()
    assert bench.commands.ran == []


def test_the_system_runs_a_program_and_tells_how_it_ended():
    commands = SystemCommands()
    shell = commands.find("sh")
    outcome = commands.run([shell, "-c", "echo out; echo err >&2; exit 3"])
    assert (outcome.code, outcome.text) == (3, "out\nerr\n")
    assert commands.run(["/no/such/program"]).code == -1
    assert commands.find("no-such-program-anywhere") is None
