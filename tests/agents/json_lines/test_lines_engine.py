"""Through the real engine: agents that a file describes, each under its own name."""

import subprocess
import sys

import pytest
from agents.stored import SETTINGS, Stored, write_log
from lines_kit import PLAIN, lines, says

import cloxy_plugins.json_lines.plugin as json_lines
from cloxy_core.testing.harness import App

APPEND = "import sys; open(sys.argv[1], 'ab').write(sys.stdin.buffer.read())"
SECRET = "ghp_" + "FAKEfake0123456789FAKEfake0123456789"


class StoredLines(Stored):
    """An application over a folder of logs, with a file of descriptions in its data directory."""

    def __init__(self, folder):
        super().__init__(None, folder)
        self.file = folder / "cloxy" / "data" / "json_lines.toml"
        self.file.parent.mkdir(parents=True, mode=0o700)

    def describe(self, *names, words=PLAIN):
        self.file.write_text(
            "".join(
                f"[agents.{name}]\npaths = {str(self.folder / name)!r}\n{words}" for name in names
            )
        )

    def open(self, **more):
        plugins = {"json_lines": json_lines}
        settings = SETTINGS | more
        self.app = App(self.folder / "cloxy", plugins=plugins, settings=settings)
        self.app.start()
        return self

    def close(self):
        if self.app is not None:
            with self.app:
                pass

    def write(self, data, name):
        return write_log(self.folder / name, data)

    def sources(self):
        return {each.name: each for each in self.app.do(self.app.engine.catalogue.sources())}


@pytest.fixture
def stored(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "home"))
    made = StoredLines(tmp_path)
    yield made
    made.close()


def chat(session="s1", prefix="a"):
    return [
        says("user", "say one", prefix, session=session),
        says("assistant", "one", prefix + "b"),
    ]


def test_each_agent_has_its_own_name(stored):
    stored.describe("my-agent", "other")
    stored.open()
    stored.write(lines(*chat()), "my-agent/x/1.jsonl")
    stored.write(lines(*chat()), "other/1.jsonl")
    stored.ingest()
    assert stored.rows("SELECT agent, key FROM sessions ORDER BY agent") == [
        ("my-agent", "s1"), ("other", "s1"),
    ]  # fmt: skip
    sources = stored.sources()
    mine = sources["my-agent"]
    assert (mine.agent, mine.title, mine.plugin, mine.enabled) == (
        "my-agent", "my-agent", "json_lines", True,
    )  # fmt: skip
    assert (mine.items, mine.messages, mine.sessions) == (1, 2, 1)
    assert sources["json-lines"].items == 0
    assert not any(source.failures for source in sources.values())


def test_a_log_is_stored_once_in_whatever_pieces_another_process_writes_it(stored):
    stored.describe("my-agent")
    stored.open()
    data = lines(*chat(), says("user", "say two", "c"), says("assistant", "two", "cd"))
    cut = data.index(b'"text": "say two') + 12
    path = stored.write(data[:cut], "my-agent/1.jsonl")
    stored.ingest()
    assert stored.uids() == ["a", "ab"]
    subprocess.run([sys.executable, "-c", APPEND, path], input=data[cut:], check=True)
    stored.ingest()
    stored.ingest(force=True)
    assert stored.uids() == ["a", "ab", "c", "cd"]
    path.unlink()
    stored.ingest()
    assert len(stored.uids()) == 4


def test_a_wrong_description_is_told_and_the_others_are_read(stored):
    stored.describe("my-agent")
    with stored.file.open("a") as file:
        file.write('[agents.bad]\npaths = ["x"]\n[agents.Wrong_Name]\n')
    stored.open()
    stored.write(lines(*chat()), "my-agent/1.jsonl")
    report = stored.ingest()
    assert stored.uids() == ["a", "ab"]
    told = {error.file: error.error for error in report.errors}
    assert told[f"{stored.file} [agents.bad]"].startswith("paths cannot be used: 'x' is not")
    assert told[str(stored.file)].startswith("[agents.Wrong_Name]: a name has small letters")
    sources = stored.sources()
    assert len(sources["bad"].failures) == len(sources["json-lines"].failures) == 1
    assert not sources["my-agent"].failures


def test_a_file_that_is_no_toml_is_told_and_the_server_starts(stored):
    stored.file.write_text("[agents")
    stored.open()
    stored.ingest()
    ((place, reason),) = stored.sources()["json-lines"].failures
    assert place == str(stored.file)
    assert reason.startswith("is not TOML: ")


def test_a_file_that_is_named_has_to_be_there(stored):
    stored.open(**{"json_lines.file": str(stored.folder / "elsewhere.toml")})
    stored.ingest()
    ((_place, reason),) = stored.sources()["json-lines"].failures
    assert reason.startswith("there is no such file")


def test_without_a_file_nothing_is_told(stored):
    stored.open()
    assert not stored.ingest().errors
    source = stored.sources()["json-lines"]
    assert (source.failures, source.items, source.why) == ((), 0, "")


def test_a_change_of_the_file_takes_a_restart_and_says_so(stored):
    stored.describe("my-agent")
    stored.open()
    assert not stored.ingest().errors
    stored.describe("my-agent", "other")
    (error,) = stored.ingest().errors
    assert "restart" in error.error
    stored.describe("my-agent")
    assert not stored.ingest().errors


def test_an_agent_can_be_switched_off_like_any_source(stored):
    stored.describe("my-agent", "other")
    stored.open(**{"providers.disabled": "other"})
    stored.write(lines(*chat()), "other/1.jsonl")
    stored.ingest()
    assert stored.uids() == []
    assert stored.sources()["other"].enabled is False
    assert not [each for each in stored.app.engine.problems() if "other" in each]


def test_a_name_that_an_agent_has_already_is_refused_and_the_server_starts(stored):
    stored.describe("claude-code")
    stored.open()
    assert stored.sources()["claude-code"].plugin == "claude_code"
    assert any("'claude-code' is taken by claude_code" in p for p in stored.app.engine.problems())


def test_a_folder_that_is_not_watched_is_read_by_the_agent_that_understands_it(stored):
    stored.describe("other", words="")
    with stored.file.open("a") as file:
        file.write(f"[agents.my-agent]\npaths = {str(stored.folder / 'my-agent')!r}\n{PLAIN}")
    stored.open()
    path = stored.write(lines(*chat()), "away/1.jsonl")
    stored.ingest(path.parent)
    assert stored.rows("SELECT agent FROM sessions") == [("my-agent",)]


def test_a_log_of_another_form_is_drift(stored):
    stored.describe("my-agent")
    stored.open()
    stored.write(lines({"person": "hello"}), "my-agent/1.jsonl")
    stored.ingest()
    source = stored.sources()["my-agent"]
    assert source.unknown == {"(no role)": 1}
    assert len(source.drift) == 1


def test_a_secret_is_stored_nowhere(stored):
    stored.describe("my-agent")
    stored.open()
    title = {"kind": "title", "title": f"use {SECRET}"}
    path = stored.write(lines(title), "my-agent/1.jsonl")
    stored.ingest()
    assert SECRET not in str(stored.rows("SELECT * FROM sources"))
    with path.open("ab") as file:
        file.write(lines(says("user", f"take {SECRET}", "a"), title))
    stored.ingest()
    for table in ("sessions", "memories", "passages", "sources"):
        assert SECRET not in str(stored.rows(f"SELECT * FROM {table}"))
    assert stored.uids() == ["a"]
