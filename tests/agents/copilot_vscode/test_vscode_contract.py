"""The conformance kit on what the plugin brings."""

import json

import pytest
from vscode_kit import logged, place, put, request, session, source, two

import cloxy_plugins.copilot_vscode.plugin as plugin
from cloxy_core.testing.conformance import ParserConformance, RewrittenSourceConformance

(SOURCE,) = plugin.cloxy_sources()
(PARSER,) = plugin.cloxy_parsers()


@pytest.fixture
def user(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("VSCODE_PORTABLE", str(tmp_path / "portable"))
    for name in ("VSCODE_APPDATA", "VSCODE_AGENT_FOLDER", "XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "portable" / "user-data" / "User"


class OfSessions(RewrittenSourceConformance, of_the_kit=True):
    @pytest.fixture
    def provider(self):
        return SOURCE

    @pytest.fixture
    def plugins(self):
        return {"copilot_vscode": plugin}

    @pytest.fixture
    def parser(self, context):
        return PARSER.create(context)

    @pytest.fixture
    def made(self, store, provider, context):
        return provider.create(context)


class TestSnapshots(OfSessions):
    @pytest.fixture
    def store(self, user):
        put(place(user), two())
        return user / "workspaceStorage"

    @pytest.fixture
    def change(self, user):
        state = two()
        state["requests"].append(request(3, "And now?", "Now it idles."))
        return lambda: put(place(user), state)


class TestLogs(OfSessions):
    @pytest.fixture
    def store(self, user):
        put(place(user, "a.jsonl"), logged({**two(), "sessionId": "a"}))
        return user / "workspaceStorage"

    @pytest.fixture
    def change(self, user):
        line = {"kind": 2, "k": ["requests"], "v": [request(3, "And now?", "Now it idles.")]}

        def change():
            with place(user, "a.jsonl").open("ab") as file:
                file.write(json.dumps(line).encode() + b"\n")

        return change


class TestParser(ParserConformance):
    @pytest.fixture
    def provider(self):
        return PARSER

    @pytest.fixture
    def plugins(self):
        return {"copilot_vscode": plugin}

    @pytest.fixture
    def sample(self, tmp_path):
        user = tmp_path / "User"
        put(place(user), session(*two()["requests"], request(3, "Again", "Yes.")))
        made = source(user, tmp_path)
        (item,) = made.discover([])
        path = tmp_path / "records.jsonl"
        path.write_bytes(b"".join(line.data + b"\n" for line in made.read(item, 0)))
        return path


def test_source_says_what_it_is():
    assert (SOURCE.agent, SOURCE.rewritten) == ("copilot-vscode", True)
    assert SOURCE.title == "GitHub Copilot Chat (VS Code)"
