"""One text in several projects: the others stay, are named, and go when they are forgotten."""

from forgetting.canaries import holders
from forgetting.cloxy_command import cloxy
from server.live_server import line, write_session

SAID = "the wolkenkuckuck nests in the third drawer of the archive"


def named(reply):
    """What is named but the logs."""
    held = {(held["kind"], held["path"]) for held in reply["still_in"]}
    return {(kind, path) for kind, path in held if kind != "transcript"}


def projects(server):
    return {found["project"] for found in server.ask("GET", "/projects")[1]["projects"]}


def test_the_others_are_named_and_stay(live):
    for name in ("one", "two"):
        talk = line(f"u-{name}", SAID, session=f"s-{name}", cwd=f"/srv/demo/{name}")
        write_session(live.logs, name, talk)
    live.ask("POST", "/ingest_convos", {})
    body = {"text": SAID, "project": "/srv/demo/three"}
    (note,) = live.ask("POST", "/ingest_text", body)[1]["ids"]
    status, reply = live.ask("POST", "/forget", {"project": "/srv/demo/one"})
    assert (status, reply["messages"]) == (200, 1)
    assert named(reply) == {("session", "s-two"), ("memory", str(note))}
    live.ask("POST", "/ingest_convos", {"force": True})
    assert projects(live) == {"/srv/demo/two", "/srv/demo/three"}
    done = cloxy(live, "forget", "--project", "/srv/demo/two", "--yes")
    assert f"{note} (another memory that says the same)" in done.stdout
    assert projects(live) == {"/srv/demo/three"}
    status, reply = live.ask("DELETE", f"/memory/{note}")
    assert (status, reply["still_in"]) == (200, [])
    live.ask("POST", "/ingest_convos", {"force": True})
    assert holders(live.data, ["wolkenkuckuck"]) == {}
