"""Every command, over a memory that holds what would act on a terminal: it is shown, not obeyed.

Texts, titles, projects, branches, session ids, sources, names of files and of the data directory
itself are hostile here. The commands come from the program's own table: a new one has to be added.
"""

import json
import re
import signal
import subprocess
from pathlib import Path

import pytest
from process.cli_runner import PROGRAM, child_environment, run_cloxy
from server.live_server import PATIENCE, LiveServer, line

from cloxy_core.cli.main import COMMANDS

HOSTILE = {
    "title": "\x1b]0;owned\x07",
    "clipboard": "\x1b]52;c;ZGF0ZQ==\x07",
    "clear": "\x1b[2J\x1b[1;1H",
    "hidden": "\x1b[8mhidden\x1b[0m",
    "line": "\r\nforged prompt$ ",
    "c1": "\u009b31m\u009d0;t\u009c",
    "bidi": "\u202egpj.exe\u2066x\u2069\u200f",
    "graphics": "\x1b_Ga=T\x1b\\",
    "zero": "ig\u200bnore\ufeff\u2060",
    "tags": "t\U000e0041\U000e0042\U000e007f",
    "filler": "f\u3164\u115f\uffa0",
    "separators": "one\u2028two\u2029three\x85four",
    "delete": "safe\x08\x08\x7f",
}
# A name of a file can hold everything but a NUL and a slash.
ALL = "".join(HOSTILE.values())
NAME = "name " + ALL.replace("/", "")[:60]
FORBIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u115f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff"
    "\uffa0\ud800-\udfff\U000e0000-\U000e0fff]"
)
QUIET = {"CLOXY_EMBED_PROVIDER": "none"}
# Nothing in a memory, and no path, reaches what they print; or they cannot be run here. Their own
# tests look at them.
ELSEWHERE = {
    "demo": "makes a memory of its own, of invented texts",
    "mcp": "speaks JSON-RPC, no words for a terminal",
}


class Hostile:
    """A running server over a hostile memory, in a folder with a hostile name."""

    def __init__(self, folder):
        self.folder = folder / NAME
        self.folder.mkdir()
        self.live = LiveServer(self.folder, **QUIET)
        for number, text in enumerate(HOSTILE.values()):
            self._session(number, text)
        self.environment = {
            **QUIET,
            "CLOXY_DATA_DIR": str(self.live.data),
            "CLOXY_WATCH_DIRS": str(self.live.logs),
            "CLOXY_WATCH": "0",
        }

    def _session(self, number, text):
        place = self.live.logs / f"-srv {NAME}"
        place.mkdir(parents=True, exist_ok=True)
        session = f"s{number} {text}"
        more = {"session": session, "cwd": f"/srv/{text}/shop", "gitBranch": text}
        records = [
            line(f"u{number}", f"the otter says {text} indeed", **more),
            line(f"a{number}", f"the otter answers {text} too", role="assistant", **more),
        ]
        title = {"type": "ai-title", "aiTitle": f"otter {text}", "sessionId": session}
        name = f"{number} {text}.jsonl".replace("/", "")
        (place / name).write_text("".join(records) + json.dumps(title) + "\n", encoding="utf-8")
        (place / f"damaged {name}").write_text(f"not json {text}\n" * 3, encoding="utf-8")
        (place / f"link {name}").symlink_to("/dev/zero")

    def run(self, *arguments, **more):
        return run_cloxy(*arguments, url=self.live.url or None, **{**self.environment, **more})


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hostile")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(folder))
        world = Hostile(folder)
        with world.live as server:
            for text in HOSTILE.values():
                note = {"text": f"an otter note {text}", "source": text, "project": text}
                note["metadata"] = {text: text, "title": text}
                assert server.ask("POST", "/ingest_text", note)[0] == 200
            world.first = world.run("ingest")
            yield world


@pytest.fixture(scope="module")
def stopped(tmp_path_factory):
    """The same without a server, for commands that want the data directory for themselves."""
    folder = tmp_path_factory.mktemp("stopped")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(folder))
        world = Hostile(folder)
        with world.live:
            world.run("ingest")
        world.live.url = ""
        yield world


def assert_safe(run, *, says=None):
    """Nothing acts on a terminal, no line is forged, and the words are there all the same."""
    shown = ""
    for part in (run.stdout, run.stderr):
        text = part.decode("utf-8")
        assert not FORBIDDEN.search(text), ascii(FORBIDDEN.search(text)[0])
        assert not re.search(r"^\s*forged prompt", text, re.MULTILINE)
        shown += text
    assert "Traceback" not in shown
    if says is not None:
        assert says in shown, shown
    return shown


def test_every_command_is_looked_at_here():
    assert set(COMMANDS) == set(WITH_SERVER) | set(WITHOUT) | set(ELSEWHERE)


def test_the_start_itself(hostile):
    greeting = hostile.live.errors.read_bytes().decode("utf-8")
    assert "memory in " in greeting
    assert not FORBIDDEN.search(greeting)
    assert not re.search(r"^\s*forged prompt", greeting, re.MULTILINE)


def test_the_report_of_ingest_names_hostile_files(hostile):
    shown = assert_safe(hostile.first, says="is a link")
    assert shown.count("note: ") >= 5
    assert "drift: " in shown


WITH_SERVER = {
    "recall": [
        ["otter"],
        ["otter", "--why"],
        ["otter", "--full"],
        ["otter", "--json"],
        ["otter \x1b[2J \u202e"],
        ["otter", "--project", "\u202egpj.exe"],
    ],
    "status": [[], ["--json"]],
    "forget": [
        ["1", "--dry-run"],
        ["1", "--dry-run", "--json"],
        ["--project", "\u202egpj.exe", "--dry-run"],
        ["--source", "no \x1b[2J such", "--dry-run"],
    ],
    "fetch": [["http://127.0.0.1/"], ["http://no such \x1b[2J host/"]],
    "search-page": [["http://127.0.0.1/", "a \x1b[2J pattern"]],
    "verify": [["http://127.0.0.1/", "--claim", "a \u202e claim"]],
    "ignore": [["--list"], ["--list", "--json"], ["no \x1b[2J such"]],
    "retention": [["--list"], ["--list", "--json"], ["no \x1b[2J such", "3"]],
    "ingest": [[], ["--json"], ["--force"], ["{logs}"], ["/no/such/\x1b[2Jfolder"]],
    "sessions": [
        [],
        ["list", "--json"],
        ["otter \x1b[2J \u202e"],
        ["show", "no \x1b[2J such"],
        ["resume", "no \x1b[2J such"],
    ],
    "sources": [
        [],
        ["--json"],
        ["try", "/no/such/\x1b[2Jfile"],
        ["try", "{logs}/no \x1b[2J.jsonl", "--agent", "no \x1b[2J such"],
    ],
    "chat": [["otter"], ["otter \x1b[2J \u202e"], ["otter", "--project", "\u202egpj.exe"]],
}
WITHOUT = {
    "backup": [[], ["--json"]],
    "connect": [["--print", "cursor"], ["no \x1b[2J client"]],
    "doctor": [[], ["--json"], ["--repair"]],
    "export": [["{out}"], ["-"]],
    "hook": [["--help"]],
    "import": [["{made}"], ["{made}", "--json"], ["/no/such/\x1b[2Jfile"]],
    "init": [
        ["--model", "no \x1b[2J such"],
        ["--model", "/no/such/\x1b[2Jfile"],
        ["--server", "no such \x1b[2J host"],
    ],
    "install-service": [["--print"]],
    "list": [[], ["--json"], ["--all"]],
    "key": [["create", "--force"], ["show"], ["show", "--json"], ["remove"]],
    "plugins": [["list"], ["list", "--json"], ["info", "no \x1b[2J such"], ["disable", "no\x1bx"]],
    "reembed": [[]],
    "restore": [["/no/such/\x1b[2Jfile"]],
    "show": [[], ["--json"]],
    "start": [["--host", "no such \x1b[2J host"]],
    "stop": [[]],
    "uninstall-service": [[]],
}


@pytest.mark.parametrize(
    ("command", "arguments"), [(name, one) for name, many in WITH_SERVER.items() for one in many]
)
def test_commands_that_ask_the_server(hostile, command, arguments):
    filled = [one.replace("{logs}", str(hostile.live.logs)) for one in arguments]
    run = hostile.run(command, *filled)
    shown = assert_safe(run)
    if "--json" in arguments:
        assert isinstance(json.loads(run.stdout), dict)
    if command == "recall" and arguments[0] == "otter" and "--project" not in arguments:
        assert "otter" in shown
        assert run.returncode == 0


def test_recall_shows_every_class_as_text(hostile):
    for text in HOSTILE.values():
        run = hostile.run("recall", f"otter {text}", "--full", "--json")
        assert_safe(run)
        found = json.loads(run.stdout)["results"]
        assert found
        assert all("otter" in hit["content"] for hit in found)


@pytest.mark.parametrize(
    ("command", "arguments"), [(name, one) for name, many in WITHOUT.items() for one in many]
)
def test_commands_that_do_without(stopped, tmp_path, command, arguments):
    made = stopped.folder / f"made {NAME}.jsonl"
    if "{made}" in arguments and not made.exists():
        assert_safe(stopped.run("export", str(made)))
    names = {"{out}": str(tmp_path / f"out {NAME}.jsonl"), "{made}": str(made)}
    run = stopped.run(command, *[names.get(one, one) for one in arguments])
    assert_safe(run)
    if "--json" in arguments and run.returncode == 0:
        assert isinstance(json.loads(run.stdout), dict)


def test_a_start_in_the_foreground_and_its_end(stopped):
    process = subprocess.Popen(
        [PROGRAM, "start", "--port", "0"],
        env=child_environment(None, stopped.environment),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    first = process.stderr.readline()
    process.send_signal(signal.SIGTERM)
    out, rest = process.communicate(timeout=PATIENCE)
    assert b" at http://" in first
    assert not FORBIDDEN.search((out + first + rest).decode("utf-8"))


def test_the_log_holds_no_forged_line(hostile):
    for file in Path(hostile.live.data / "logs").iterdir():
        text = file.read_bytes().decode("utf-8")
        assert not FORBIDDEN.search(text), ascii(FORBIDDEN.search(text)[0])
        for written in text.split("\n")[:-1]:
            assert re.match(r"\d{4}-\d\d-\d\dT\S+ [A-Z]+ \S+: |  \| ", written), written
