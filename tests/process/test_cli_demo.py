"""`cloxy demo` as a person without sessions runs it."""

import json
import os
import signal
import subprocess
import time

import pytest
from process.cli_runner import PROGRAM, child_environment, run_cloxy

PASSWORD = "q7Rk2vXw9LmB4tZs"  # that of the invented sessions
NO_MODEL = {"CLOXY_EMBED_PROVIDER": "none"}
PATIENCE = 120.0


def contents(folder):
    """Every file below a folder with its bytes, and every folder."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
    }


@pytest.fixture
def temporary(tmp_path):
    folder = tmp_path / "temporary"
    folder.mkdir()
    return folder


@pytest.fixture
def demo(temporary):
    def run(*arguments, **environment):
        done = run_cloxy("demo", *arguments, TMPDIR=str(temporary), **environment)
        assert PASSWORD.encode() not in done.stdout + done.stderr
        return done

    return run


@pytest.fixture(scope="module")
def with_model(tmp_path_factory):
    """What the command prints, and as JSON; the model is loaded twice for all tests."""
    environment = {"TMPDIR": str(tmp_path_factory.mktemp("temporary"))}
    text, as_json = run_cloxy("demo", **environment), run_cloxy("demo", "--json", **environment)
    assert (text.returncode, as_json.returncode) == (0, 0), text.stderr + as_json.stderr
    assert text.stderr + as_json.stderr == b""
    return text.stdout.decode(), json.loads(as_json.stdout)


def section(text, number):
    """The part of the output about one question."""
    return (
        text.partition(f"\n{number}. ")[2].partition("\n\n\n")[0].partition(f"\n{number + 1}. ")[0]
    )


def test_a_flag_is_found_letter_for_letter(with_model):
    said = section(with_model[0], 1)
    assert "the old pod ends before the new one starts" in said
    assert "· tidepool-infra · Deploys without overlap" in said
    assert "the assistant answered:" in said
    assert "it holds `--max-surge=0` letter for letter" in said
    assert "number 1 of the search by keyword" in said
    assert "similarity of meaning 0." in said


def test_last_week_is_a_week(with_model):
    said = section(with_model[0], 2)
    assert "eight tries" in said
    assert "it was said in the time that was asked for: 20" in said


def test_other_words_are_found_by_meaning_alone(with_model):
    said = section(with_model[0], 3)
    assert "The shop froze for about a minute" in said
    assert "the user said:" in said
    assert "it shares no word with the question: only its meaning found it" in said


def test_says_what_it_is_and_what_comes_next(with_model):
    text, _ = with_model
    assert "49 messages in 8 files about 3 projects" in text
    assert "vectors of sentence-transformers/all-MiniLM-L6-v2" in " ".join(text.split())
    assert "$ cloxy start" in text
    assert '$ cloxy recall "a question"' in text


def test_shows_what_became_of_a_secret(with_model):
    text, _ = with_model
    assert "DATABASE_URL=postgres://tidepool:[REDACTED:url_password]@db/tidepool" in text


def test_fits_80_columns_and_holds_no_control_character(with_model):
    text, _ = with_model
    assert max(map(len, text.splitlines())) <= 80
    assert text.replace("\n", "").isprintable()


def test_json_says_the_same(with_model):
    _, shown = with_model
    first, second, third = shown["answers"]
    assert first["results"][0]["keyword_rank"] == 1
    assert first["results"][0]["parts"]["literal"] == 1
    assert second["results"][0]["parts"]["window"] > 0
    assert third["results"][0]["keyword_rank"] is None
    assert third["results"][0]["similarity"] > 0.3
    assert third["channels"] == ["dense"]
    assert (shown["messages"], shown["embedded"]) == (49, 49)
    assert shown["folder"] is None


def test_is_good_without_a_model(demo):
    run = demo(**NO_MODEL)
    text = run.stdout.decode()
    assert run.returncode == 0
    assert "searched by keyword only: embed.provider is none" in " ".join(text.split())
    assert "it holds `--max-surge=0` letter for letter" in text
    assert "eight tries" in section(text, 2)
    assert "Nothing relevant was found." in section(text, 3)
    assert "there is no search by meaning" in " ".join(section(text, 3).split())
    assert "similarity" not in text


@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "America/Los_Angeles", "Asia/Kathmandu"])
def test_last_week_is_that_of_the_reader(demo, zone):
    shown = json.loads(demo("--json", TZ=zone, **NO_MODEL).stdout)
    assert "eight tries" in shown["answers"][1]["results"][0]["text"]
    assert shown["answers"][1]["results"][0]["parts"]["window"] > 0


def test_leaves_nothing_and_touches_nothing(demo, temporary, isolated, tmp_path):
    own = tmp_path / "own"
    for folder in (own, isolated / ".cloxy"):
        folder.mkdir()
        (folder / "config.toml").write_text("this is no TOML", encoding="utf-8")
        (folder / "memory.db").write_bytes(b"somebody's memory")
    sessions = isolated / ".claude" / "projects" / "-srv-x"
    sessions.mkdir(parents=True)
    (sessions / "one.jsonl").write_text("{}\n", encoding="utf-8")
    before = contents(isolated), contents(own)
    run = demo(CLOXY_DATA_DIR=str(own), CLOXY_PORT="1", CLOXY_WATCH_DIRS=str(sessions), **NO_MODEL)
    assert run.returncode == 0, run.stderr
    assert (contents(isolated), contents(own)) == before
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_leaves_nothing_when_it_is_stopped(temporary, number):
    process = subprocess.Popen(
        [PROGRAM, "demo"],
        env=child_environment(None, {"TMPDIR": str(temporary), **NO_MODEL}),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    with process:
        deadline = time.monotonic() + PATIENCE
        while not list(temporary.glob("*/data/memory.db")):
            assert time.monotonic() < deadline
            assert process.poll() is None
            time.sleep(0.005)
        # Held, so that it cannot come to its end before the signal does.
        process.send_signal(signal.SIGSTOP)
        assert list(temporary.iterdir())
        process.send_signal(number)
        process.send_signal(signal.SIGCONT)
        said = process.stderr.read()
    assert process.returncode == 130
    assert b"Traceback" not in said
    assert list(temporary.iterdir()) == []


def test_can_be_kept(demo, tmp_path):
    kept = tmp_path / "it's kept"
    run = demo("--keep", str(kept), **NO_MODEL)
    assert run.returncode == 0, run.stderr
    assert (
        f"export CLOXY_DATA_DIR='{kept}/data'".replace("it's", "it'\"'\"'s") in run.stdout.decode()
    )
    assert len(list((kept / "sessions").rglob("*.jsonl"))) == 8
    stored = b"".join(data for data in contents(kept / "data").values() if data)
    assert b"--max-surge=0" in stored
    assert PASSWORD.encode() not in stored
    assert (kept / "data").stat().st_mode & 0o077 == 0


def test_a_folder_with_something_in_it_is_left_alone(demo, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear", encoding="utf-8")
    run = demo("--keep", str(tmp_path / "mine"))
    assert run.returncode == 2
    assert b"is not empty" in run.stderr
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["letter.txt"]


def test_a_reader_that_leaves_is_no_error(temporary):
    environment = child_environment(None, {"TMPDIR": str(temporary), **NO_MODEL})
    reading, writing = os.pipe()
    os.close(reading)
    try:
        run = subprocess.run(
            [PROGRAM, "demo"], env=environment, stdout=writing, stderr=subprocess.PIPE
        )
    finally:
        os.close(writing)
    assert (run.returncode, run.stderr) == (141, b"")
    assert list(temporary.iterdir()) == []
