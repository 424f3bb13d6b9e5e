"""A plugin from a scratch folder is found, listed and takes part; ours can be switched off."""

import json
import os
import subprocess
import textwrap

import pytest
from server.live_server import PROGRAM, LiveServer, line, write_session

from cloxy_core.app import open_host
from cloxy_core.core_settings import load_settings

PLUGIN = """
from cloxy_hookspecs import (
    Draft, ExpanderProvider, MemoryWriter, OperationProvider, Route, SignalProvider, hookimpl,
)


@hookimpl
def cloxy_operations():
    from pydantic import BaseModel

    class Name(BaseModel):
        name: str

    class Greeting(BaseModel):
        words: str
        id: int

    def create(context):
        writer = context.service(MemoryWriter)

        async def greet(given):
            stored = await writer.remember(
                Draft(text=f"greeted {given.name}", origin="note", source="greeter")
            )
            return Greeting(words=f"hello {given.name}", id=stored.ids[0])

        return greet

    yield OperationProvider(
        name="greeter-greet", summary="Say hello", input=Name, output=Greeting, effect="write",
        doors=(Route("POST", "/greet/{name}"),), create=create,
    )


@hookimpl
def cloxy_expanders():
    from dataclasses import replace

    class Acronyms:
        async def expand(self, query):
            return replace(query, search_text=query.search_text.replace("k8s", "kubernetes"))

    yield ExpanderProvider(
        name="acronyms", summary="Write out acronyms", order=50, create=lambda context: Acronyms()
    )


@hookimpl
def cloxy_signals():
    class Everything:
        def values(self, batch, query):
            return [1.0] * len(batch.ids)

    yield SignalProvider(
        name="everything", summary="Like everything", order=900, mode="add", weight=0.01,
        create=lambda context: Everything(),
    )
"""


@pytest.fixture
def scratch(tmp_path):
    """An installed distribution `cloxy-greeter`, as pip leaves it in a folder."""
    folder = tmp_path / "site"
    info = folder / "cloxy_greeter-1.2.dist-info"
    info.mkdir(parents=True)
    (folder / "cloxy_greeter.py").write_text(textwrap.dedent(PLUGIN))
    (info / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: cloxy-greeter\nVersion: 1.2\nSummary: Greets\n"
        "Requires-Dist: cloxy>=6.0.0.dev0\n"
    )
    (info / "entry_points.txt").write_text("[cloxy.plugins]\ngreeter = cloxy_greeter\n")
    (info / "RECORD").write_text("")
    return folder


def with_path(folder):
    return os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])


def test_it_is_listed_and_takes_part(tmp_path, scratch):
    listed = subprocess.run(
        [PROGRAM, "plugins", "list", "--json"],
        env={**os.environ, "PYTHONPATH": with_path(scratch)},
        capture_output=True,
        timeout=60,
    )
    found = {row["name"]: row for row in json.loads(listed.stdout)["plugins"]}
    assert found["greeter"]["state"] == "loaded"
    assert found["greeter"]["version"] == "1.2"
    with LiveServer(tmp_path, PYTHONPATH=with_path(scratch)) as server:
        status, answer = server.ask("POST", "/greet/ann", {})
        assert (status, answer["words"]) == (200, "hello ann")
        server.ask("POST", "/ingest_text", {"text": "the kubernetes cluster was renamed"})
        hits = server.ask("POST", "/recall", {"query": "k8s"})[1]["results"]
        assert any("kubernetes" in hit["content"] for hit in hits)
        assert all("everything" in passage["parts"] for hit in hits for passage in hit["passages"])


def test_switched_off_it_is_not_there(tmp_path, scratch):
    settings = {"PYTHONPATH": with_path(scratch), "CLOXY_PLUGINS_DISABLED": "greeter"}
    with LiveServer(tmp_path, **settings) as server:
        assert server.ask("POST", "/greet/ann", {})[0] == 404


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("import nothing_of_this_name", "nothing_of_this_name"),
        (
            "from cloxy_hookspecs import hookimpl\n\n\n@hookimpl\n"
            "def cloxy_signals():\n    yield 'not a record'\n",
            "signals",
        ),
    ],
)
def test_a_broken_one_is_told_in_words_and_nothing_else_suffers(tmp_path, scratch, code, words):
    (scratch / "cloxy_greeter.py").write_text(code)
    with LiveServer(tmp_path, PYTHONPATH=with_path(scratch)) as server:
        warnings = server.ask("GET", "/health")[1]["warnings"]
        (told,) = [warning for warning in warnings if "greeter" in warning]
        assert words in told
        assert "Problem(" not in told
        server.ask("POST", "/ingest_text", {"text": "the queue was renamed"})
        assert server.ask("POST", "/recall", {"query": "queue"})[1]["results"]


def optional_plugins():
    host = open_host(load_settings({}))
    return [plugin.name for plugin in host.plugins if plugin.first_party and not plugin.required]


@pytest.mark.parametrize("name", optional_plugins())
def test_the_server_works_without_any_one_of_ours(tmp_path, name):
    with LiveServer(tmp_path, CLOXY_PLUGINS_DISABLED=name) as server:
        write_session(server.logs, "s-one", line("u1", "the cache key has a version now"))
        assert server.ask("POST", "/ingest_convos", {})[0] == 200
        status, _body = server.ask("POST", "/ingest_text", {"text": "the queue was renamed"})
        assert status == 200
        status, answer = server.ask("POST", "/recall", {"query": "the renamed queue"})
        assert status == 200
        assert answer["results"]
        assert server.ask("GET", "/health")[1]["status"] == "OK"
        for path in ("/projects", "/memory_stats", "/ingest_status", "/"):
            assert server.raw("GET", path)[0] == 200
        assert server.ask("POST", "/reindex")[0] == 200
