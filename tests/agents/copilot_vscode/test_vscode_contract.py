"""The conformance kit on what the plugin brings."""

import json

import pytest
from agents.contract import ParserOfPlugin, StoreOfPlugin, sample_of
from vscode_kit import at_home, logged, place, put, request, session, source, two

import cloxy_plugins.copilot_vscode.plugin as plugin

(SOURCE,) = plugin.cloxy_sources()


@pytest.fixture
def user(tmp_path, monkeypatch):
    return at_home(tmp_path, monkeypatch)


class OfSessions(StoreOfPlugin, of_the_kit=True):
    plugin = plugin
    record = SOURCE


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


class TestParser(ParserOfPlugin):
    plugin = plugin

    @pytest.fixture
    def sample(self, tmp_path):
        user = tmp_path / "User"
        put(place(user), session(*two()["requests"], request(3, "Again", "Yes.")))
        made = source(user, tmp_path)
        return sample_of(made, tmp_path)


def test_source_says_what_it_is():
    assert (SOURCE.agent, SOURCE.rewritten) == ("copilot-vscode", True)
    assert SOURCE.title == "GitHub Copilot Chat (VS Code)"
