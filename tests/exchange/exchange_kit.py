"""Memories on disk, made by real programs, and what `cloxy export` says of them."""

import json
import os
import sqlite3
from contextlib import closing

from process.cli_runner import run_cloxy
from server.live_server import LiveServer, line, write_session

from cloxy_core.cli import export_run, import_run
from cloxy_core.cli.progress_line import CountLine

HEADER = {"kind": "header", "format": "cloxy-export", "version": 1}
SECRET = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
LONG = "\n\n".join(f"Paragraph {n} of a long answer about harbours and tides." for n in range(120))
TELLING = "The password rotation for the lighthouse is every second Tuesday at noon."
QUIET = {"CLOXY_EMBED_PROVIDER": "none"}


class Place:
    """One machine's data directory."""

    def __init__(self, folder):
        self.folder = folder
        self.data = folder / "data"

    def server(self, **more):
        return LiveServer(self.folder, **{**QUIET, **more})

    def run(self, *arguments, **more):
        environment = {**QUIET, "CLOXY_DATA_DIR": str(self.data), **more}
        return run_cloxy(*map(str, arguments), **environment)

    def export(self, name="out.jsonl", *arguments):
        """The lines of an export, which must succeed."""
        file = self.folder / name
        done = self.run("export", file, "--force", *arguments)
        assert done.returncode == 0, done.stderr
        return objects(file)

    def take(self, file, *arguments, code=0):
        """An import; its summary, and standard error."""
        done = self.run("import", file, "--json", *arguments)
        assert done.returncode == code, done.stderr
        return json.loads(done.stdout), done.stderr.decode()

    def rows(self, statement):
        with closing(sqlite3.connect(self.data / "memory.db")) as connection:
            return connection.execute(statement).fetchall()

    def change(self, statement, *parameters):
        with closing(sqlite3.connect(self.data / "memory.db")) as connection, connection:
            connection.execute(statement, parameters)

    def recall(self, *queries):
        """Answers of a server on this directory, without what is a row's own."""
        with self.server() as live:
            return [answer(live, query) for query in queries]


class Here(Place):
    """The same, but what is imported and exported is so in this process, which is faster."""

    @property
    def _environ(self):
        return {**os.environ, **QUIET, "CLOXY_DATA_DIR": str(self.data)}

    def take(self, file, *arguments, code=0):
        said = []
        summary = import_run.run(
            self._environ,
            str(file),
            lambda _count: None,
            lambda line, words: said.append(f"{file}:{line}: {words}"),
            dry_run="--dry-run" in arguments,
        )
        assert summary.fine is (code == 0), said
        found = json.loads(json.dumps(summary.as_object()))
        return found | {"dry_run": "--dry-run" in arguments}, "\n".join(said)

    def export(self, name="out.jsonl", *arguments):
        assert not arguments
        file = self.folder / name
        wanted = export_run.Wanted(None, None, None, None)
        export_run.run(self._environ, wanted, str(file), True, CountLine("exporting"))
        return objects(file)


def answer(live, query):
    body = {"query": query, "top_k": 10, "subagents": True, "now": 1_800_000_000}
    status, found = live.ask("POST", "/recall", body)
    assert status == 200, found
    kept = ("content", "header", "source", "project", "session_id", "ts_start", "ts_end")
    return [
        {name: hit[name] for name in kept}
        | {"metadata": hit["metadata"], "texts": [p["text"] for p in hit["passages"]]}
        for hit in found["results"]
    ]


def objects(file):
    return [json.loads(text) for text in file.read_text("utf-8").splitlines()]


def without_header(lines):
    return [each for each in lines if each["kind"] != "header"]


def write_lines(file, *lines):
    """A file of these lines; an object, or bytes as they are."""
    with file.open("wb") as target:
        for each in lines:
            raw = each if isinstance(each, bytes) else json.dumps(each).encode()
            target.write(raw + b"\n")
    return file


def end(sessions=0, messages=0, notes=0):
    return {"kind": "end", "sessions": sessions, "messages": messages, "notes": notes}


def session(key="s-1", **more):
    return {"kind": "session", "agent": "claude-code", "key": key, **more}


def message(uid, text, key="s-1", **more):
    return {
        "kind": "message",
        "agent": "claude-code",
        "session": key,
        "uid": uid,
        "role": "user",
        "author": "human",
        "text": text,
        "time": "2026-05-08T13:56:00.000Z",
        **more,
    }


def note(uid, text, **more):
    return {"kind": "note", "uid": uid, "text": text, "time": "2026-05-08T13:56:00.000Z", **more}


def conversation(logs):
    """Two sessions, one with a title, a long answer, control characters, and other tongues."""
    write_session(
        logs,
        "s-one",
        line("u1", "Where do we keep the tide tables of the harbour?"),
        line("u2", LONG, role="assistant", timestamp="2026-05-08T13:57:01.250Z"),
        line(
            "u3",
            "Control \u0007 and \u2028 separators, Zürich, 日本語",
            timestamp="2026-05-09T08:00:00.007Z",
        ),
        json.dumps({"type": "summary", "summary": "Tide tables", "leafUuid": "u3"}) + "\n",
    )
    write_session(
        logs,
        "s-two",
        line("v1", "The mast of the boat is made of larch.", session="s-two", cwd="/srv/demo/boat"),
        line("v2", TELLING, session="s-two", role="assistant", cwd="/srv/demo/boat"),
    )


def filled(folder):
    """A place with a conversation and notes."""
    place = Place(folder)
    with place.server() as live:
        conversation(live.logs)
        assert live.ask("POST", "/ingest_convos", {})[1]["messages_added"] == 5
        for body in (
            {
                "text": "Larch needs oil once a year, and in autumn a second coat.",
                "project": "/srv/demo/boat",
            },
            {"text": LONG, "source": "manual", "metadata": {"tags": ["x", 1], "deep": {"a": None}}},
        ):
            status, said = live.ask("POST", "/ingest_text", body)
            assert status == 200, said
    return place
