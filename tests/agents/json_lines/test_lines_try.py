"""`cloxy sources try`, as the real program: what a description makes of a log."""

import json
import re

import pytest
from lines_kit import PLAIN, lines, says
from process.cli_runner import run_cloxy

ACTS = "\x1b]0;owned\x07\x1b[2J\r\nforged\u202e\u200b\u009b"
ACTING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e]")
SECRET = "ghp_" + "FAKEfake0123456789FAKEfake0123456789"


@pytest.fixture
def place(tmp_path):
    """A home folder, a data directory with a description, and a log."""
    (tmp_path / "data").mkdir(mode=0o700)
    (tmp_path / "home").mkdir()
    log = tmp_path / "agent" / "talk.jsonl"
    log.parent.mkdir()
    log.write_bytes(
        lines(
            says("user", f"why does it flake? {SECRET}", "a", session="s1"),
            says("tool", "x"),
            says("assistant", "A clock race.", "ab"),
        )
        + b"not json\n"
        + lines(says("weird", "x"), says("user", "again", "a"))
    )
    describe(tmp_path)
    return tmp_path


def describe(place, words=PLAIN):
    (place / "data" / "json_lines.toml").write_text(
        f"[agents.my-agent]\ntitle = 'My Agent'\npaths = {str(place / 'agent')!r}\n{words}"
    )


def tried(place, *arguments, **more):
    environment = {
        "CLOXY_DATA_DIR": str(place / "data"),
        "HOME": str(place / "home"),
        "USERPROFILE": str(place / "home"),
        **more,
    }
    run = run_cloxy("sources", "try", *arguments, **environment)
    return run.returncode, run.stdout.decode(), run.stderr.decode()


def test_messages_are_shown_as_they_would_be_kept_and_the_rest_with_reasons(place):
    code, shown, errors = tried(place, place / "agent" / "talk.jsonl", "--agent", "my-agent")
    assert (code, errors) == (0, "")
    assert "read as My Agent (my-agent)" in shown
    assert "1. the user · 2026-04-12" in shown
    assert "   why does it flake? [REDACTED:github_token]" in shown
    assert SECRET not in shown
    assert "2. passed over: ignore: the role is tool" in shown
    assert "   A clock race." in shown
    assert "4. passed over: not JSON" in shown
    assert "5. passed over: the role is weird, which no list has" in shown
    assert "3 messages in 1 session would be kept, of 6 lines." in shown
    assert "1 message has the id of another one" in shown
    assert "not where" not in shown


def test_nothing_is_made_and_no_server_is_asked(place):
    before = sorted((place / "data").iterdir())
    tried(place, place / "agent" / "talk.jsonl", CLOXY_URL="http://127.0.0.1:9")
    assert sorted((place / "data").iterdir()) == before
    (place / "data" / "json_lines.toml").unlink()
    (place / "data").rmdir()
    code, _shown, errors = tried(place, place / "agent" / "talk.jsonl", "--agent", "my-agent")
    assert code
    assert "there is no agent 'my-agent'" in errors
    assert not (place / "data").exists()


def test_without_an_agent_the_one_that_fits_is_taken(place):
    code, shown, _errors = tried(place, place / "agent" / "talk.jsonl")
    assert code == 0
    assert "read as My Agent" in shown
    away = place / "away.jsonl"
    row = {"uuid": "u", "sessionId": "s", "type": "user", "timestamp": "2026-04-08T13:51:00Z"}
    away.write_bytes(lines({**row, "message": {"role": "user", "content": "hello there"}}))
    code, shown, _errors = tried(place, away)
    assert code == 0
    assert "(claude-code)" in shown
    assert "This file is not where claude-code looks" in shown


def test_only_so_many_lines_are_shown_and_all_are_counted(place):
    path = place / "agent" / "talk.jsonl"
    _code, shown, _errors = tried(place, path, "--lines", "1")
    assert "why does it flake?" in shown
    assert "A clock race." not in shown
    assert "3 messages in 1 session" in shown


def test_as_json(place):
    code, shown, _errors = tried(place, place / "agent" / "talk.jsonl", "--lines", "2", "--json")
    told = json.loads(shown)
    assert code == 0
    assert (told["source"], told["watched"], told["lines"]) == ("my-agent", True, 6)
    assert (told["messages"], told["same_id"], told["sessions"]) == (3, 1, ["s1"])
    assert told["passed_over"]["not JSON"] == 1
    first, second = told["shown"]
    assert first["messages"][0]["at"] == "2026-04-12T18:17:01.000+00:00"
    assert (second["messages"], second["reason"]) == ([], "ignore: the role is tool")


def test_a_log_without_a_message_is_no_success(place):
    path = place / "agent" / "empty.jsonl"
    path.write_bytes(lines({"kind": "start"}))
    code, shown, _errors = tried(place, path, "--agent", "my-agent")
    assert code == 1
    assert "no role: nothing at said.by" in shown
    assert "0 messages in 0 sessions would be kept, of 1 line." in shown


@pytest.mark.parametrize(
    ("words", "agent", "told"),
    [
        ('text = "a..b"\n', "my-agent", "[agents.my-agent]: text cannot be used: 'a..b' wants"),
        ("[broken", "my-agent", "json_lines.toml: is not TOML"),
        ("", "nobody", "there is no agent 'nobody'; known are "),
        ("", "json-lines", "json-lines cannot read "),
    ],
)
def test_what_is_wrong_is_told(place, words, agent, told):
    describe(place, words)
    code, _shown, errors = tried(place, place / "agent" / "talk.jsonl", "--agent", agent)
    assert code
    assert told in errors


def test_a_file_that_is_not_there(place):
    code, _shown, errors = tried(place, place / "absent.jsonl")
    assert code
    assert "there is no file" in errors


def test_a_transcript_of_a_rewritten_store_is_tried_too(place):
    path = place / "talk.jsonl"
    step = {"status": "done", "type": "user_input", "user_input": {"user_response": "hello"}}
    path.write_bytes(lines(step))
    code, shown, _errors = tried(place, path, "--agent", "windsurf")
    assert code == 0
    assert "   hello" in shown


def test_nothing_in_a_log_or_a_description_acts_on_the_terminal(place):
    path = place / "agent" / f"{ACTS.replace('/', '')}.jsonl"
    path.write_bytes(
        lines(
            says("user", f"hello {ACTS}", f"u{ACTS}", session=f"s{ACTS}", branch=ACTS),
            says("assistant", "hi", model=ACTS),
            says(f"odd {ACTS}", "x"),
        )
    )
    for arguments in ((), ("--json",)):
        code, shown, errors = tried(place, path, "--agent", "my-agent", *arguments)
        assert code == 0
        assert "hello" in shown
        assert not ACTING.search(shown + errors)
        assert not re.search(r"^forged", shown, re.MULTILINE)
    describe(place, f'text = "a..{chr(92)}u009b{chr(92)}u202e"\n')
    for arguments in (("--agent", "my-agent"), ("--agent", f"no {ACTS}")):
        code, shown, errors = tried(place, path, *arguments)
        assert code
        assert errors
        assert not ACTING.search(shown + errors)


def test_a_file_that_nobody_understands_is_ascribed_to_nobody(place):
    away = place / "away.jsonl"
    away.write_bytes(lines({"speaker": "me", "words": "which port?"}))
    code, shown, errors = tried(place, away)
    assert code
    assert not shown
    assert "no source finds a message in" in errors
    assert "json_lines.toml" in errors
