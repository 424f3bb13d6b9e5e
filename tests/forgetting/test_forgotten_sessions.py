"""A session of which all was forgotten is not made anew, with its title, by a log or an import."""

import json
from datetime import UTC, datetime

from forgetting.canaries import holders
from forgetting.cloxy_command import cloxy
from server.live_server import line, write_session

TITLE = '{"type": "custom-title", "customTitle": "Wintergoldhuhn", "sessionId": "s-one"}\n'


def later():
    """A line that was written after everything was forgotten, and says no folder."""
    at = datetime.now(UTC).isoformat(timespec="milliseconds")
    return line("new", "something else altogether", cwd=None, timestamp=at)


def told(server):
    write_session(
        server.logs, "one", *(line(f"u{n}", f"seltene worte {n}") for n in range(5)), TITLE
    )
    server.ask("POST", "/ingest_convos", {})


def test_an_import_does_not_make_it_anew(live, tmp_path):
    told(live)
    file = tmp_path / "out.jsonl"
    assert cloxy(live, "export", str(file)).returncode == 0
    assert live.ask("POST", "/forget", {"session": "s-one"})[1]["deleted"] == 1
    live.stop()
    done = cloxy(live, "import", str(file), "--json")
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    assert (summary["sessions"]["new"], summary["sessions"]["forgotten"]) == (0, 1)
    assert summary["messages"]["forgotten"] == 5
    assert holders(live.data, ["Wintergoldhuhn", "seltene worte"]) == {}


def test_a_forced_pass_does_not_and_new_words_bring_it_back_with_its_project(live):
    told(live)
    live.ask("POST", "/forget", {"session": "s-one"})
    live.ask("POST", "/ingest_convos", {"force": True})
    assert holders(live.data, ["Wintergoldhuhn", "seltene worte"]) == {}
    assert live.ask("GET", "/projects")[1]["projects"] == []
    write_session(live.logs, "one", later())
    live.ask("POST", "/ingest_convos", {"force": True})
    (project,) = live.ask("GET", "/projects")[1]["projects"]
    assert project["project"] == "/srv/demo/shop"
    assert holders(live.data, ["Wintergoldhuhn", "seltene worte"]) == {}


def test_where_a_session_works_is_known_when_its_first_runs_were_forgotten(live):
    first = [line(f"u{n}", f"seltene worte {n}") for n in range(900)]
    write_session(live.logs, "one", *first)
    live.ask("POST", "/ingest_convos", {})
    live.ask("POST", "/forget", {"session": "s-one"})
    write_session(live.logs, "one", later())
    live.ask("POST", "/ingest_convos", {"force": True})
    (project,) = live.ask("GET", "/projects")[1]["projects"]
    assert (project["project"], project["chunks"]) == ("/srv/demo/shop", 1)
