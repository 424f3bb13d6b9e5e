"""Projects of which nothing is remembered, and those that are kept for some days only."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from forgetting.canaries import holders
from forgetting.cloxy_command import cloxy
from server.live_server import LiveServer, line, write_session

SECRET = "/srv/demo/secret"


def day(days_ago):
    moment = datetime.now(UTC) - timedelta(days=days_ago)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def talk(session, cwd, *texts, days_ago=1.0):
    return [
        line(f"{session}-{n}", text, session=session, cwd=cwd, timestamp=day(days_ago))
        for n, text in enumerate(texts)
    ]


def ingest(server, *, force=False):
    status, report = server.ask("POST", "/ingest_convos", {"force": force})
    assert status == 200, report
    return report


def projects(server):
    return {p["project"] for p in server.ask("GET", "/projects")[1]["projects"]}


@pytest.fixture
def three(live):
    """Sessions of an ignored folder, of one below it, and of one that only begins alike."""
    write_session(live.logs, "in", *talk("s-in", SECRET, "mondkalb one", "mondkalb two"))
    write_session(live.logs, "below", *talk("s-below", f"{SECRET}/lib/x", "mondkalb below"))
    write_session(live.logs, "beside", *talk("s-beside", f"{SECRET}s", "a plain word"))
    return live


def test_nothing_of_an_ignored_project_is_stored(three):
    done = cloxy(three, "ignore", SECRET)
    assert done.returncode == 0, done.stderr
    ingest(three)
    assert projects(three) == {f"{SECRET}s"}
    assert holders(three.data, ["mondkalb"]) == {}
    # Later lines do not say again where the session works.
    later = [line("in-9", "mondkalb later", session="s-in", cwd=None)]
    write_session(three.logs, "in", *later)
    ingest(three)
    three.stop()
    three.start()
    ingest(three, force=True)
    assert holders(three.data, ["mondkalb"]) == {}
    listed = json.loads(cloxy(three, "ignore", "--list", "--json").stdout)
    assert listed["rules"] == [{"project": SECRET, "ignored": True, "keep_days": None}]


def test_without_the_rule_logs_that_are_there_come_back(three):
    cloxy(three, "ignore", SECRET)
    ingest(three)
    done = cloxy(three, "ignore", "secret", "--remove")
    assert done.returncode == 0, done.stderr
    report = ingest(three)
    assert report["messages_added"] == 3
    assert projects(three) == {SECRET, f"{SECRET}/lib/x", f"{SECRET}s"}
    again = cloxy(three, "ignore", "secret", "--remove")
    assert again.returncode == 1
    assert "no rule" in again.stderr


def test_what_is_stored_stays_unless_it_is_to_be_forgotten(three):
    ingest(three)
    cloxy(three, "ignore", SECRET)
    assert SECRET in projects(three)
    write_session(three.logs, "in", *talk("s-in", SECRET, "", "", "mondkalb three"))
    ingest(three)
    assert "mondkalb three" not in str(holders(three.data, ["mondkalb three"]))
    refused = cloxy(three, "ignore", SECRET, "--forget")
    assert refused.returncode == 2
    done = cloxy(three, "ignore", SECRET, "--forget", "--yes")
    assert done.returncode == 0, done.stderr
    assert projects(three) == {f"{SECRET}s"}
    assert holders(three.data, ["mondkalb"]) == {}


def test_a_name_of_several_is_refused_and_one_of_none(three):
    write_session(three.logs, "other", *talk("s-o", "/home/ann/secret", "words"))
    ingest(three)
    done = cloxy(three, "ignore", "secret")
    assert done.returncode == 1
    assert SECRET in done.stderr
    assert "/home/ann/secret" in done.stderr
    assert cloxy(three, "ignore", "nowhere").returncode == 1
    assert cloxy(three, "ignore", "/").returncode == 1
    assert cloxy(three, "ignore").returncode == 2
    assert json.loads(cloxy(three, "ignore", "--list", "--json").stdout)["rules"] == []


def test_a_rule_is_set_while_the_server_is_stopped_too(tmp_path):
    server = LiveServer(tmp_path)
    server.url = "http://127.0.0.1:9"
    done = cloxy(server, "ignore", SECRET)
    assert done.returncode == 0, done.stderr
    with server:
        write_session(server.logs, "in", *talk("s-in", SECRET, "mondkalb"))
        ingest(server)
        assert projects(server) == set()


def test_what_is_older_than_a_project_is_kept_goes_and_stays_away(live):
    old = talk(
        "s-old", SECRET, *(f"mondkalb {n} of long ago " * 9 for n in range(450)), days_ago=40
    )
    write_session(live.logs, "old", *old)
    write_session(live.logs, "new", *talk("s-new", SECRET, "fresh words", days_ago=3))
    write_session(live.logs, "beside", *talk("s-beside", f"{SECRET}s", "grasharfe", days_ago=40))
    live.ask("POST", "/ingest_text", {"text": "a note to keep", "project": SECRET})
    ingest(live)
    set_ = cloxy(live, "retention", SECRET, "30")
    assert set_.returncode == 0, set_.stderr
    assert "450 messages" in set_.stdout
    assert holders(live.data, ["mondkalb"])
    done = cloxy(live, "retention", "--apply", "--json")
    assert json.loads(done.stdout)["expired"] == [{"project": SECRET, "messages": 450}]
    assert holders(live.data, ["mondkalb"]) == {}
    ingest(live, force=True)
    write_session(live.logs, "old", line("extra", "mondkalb", session="s-old", timestamp=day(35)))
    ingest(live)
    assert holders(live.data, ["mondkalb"]) == {}
    assert holders(live.data, ["grasharfe", "fresh words", "a note to keep"])
    off = cloxy(live, "retention", SECRET, "--off")
    assert off.returncode == 0, off.stderr
    assert ingest(live)["messages_added"] == 451


@pytest.mark.parametrize("days", [0, -1, 36_501])
def test_days_out_of_range_are_refused(live, days):
    status, _reply = live.ask("POST", "/retention", {"project": SECRET, "days": days})
    assert status == 422


def test_a_restore_of_an_older_backup_keeps_the_rules(three, tmp_path):
    ingest(three)
    backup = tmp_path / "before.db"
    assert cloxy(three, "backup", str(backup)).returncode == 0
    cloxy(three, "ignore", SECRET, "--forget", "--yes")
    write_session(three.logs, "late", *talk("s-late", SECRET, "mondkalb of a later day"))
    three.stop()
    assert cloxy(three, "restore", str(backup), "--yes").returncode == 0
    three.start()
    write_session(three.logs, "late", line("l9", "mondkalb at last", session="s-late", cwd=None))
    ingest(three)
    assert projects(three) == {f"{SECRET}s"}
    assert holders(three.data, ["mondkalb"]) == {}
