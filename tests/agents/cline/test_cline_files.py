"""Where tasks are found, whose they are, and which of several copies is read."""

from pathlib import Path

import pytest
from agents.sources import items, only, read, texts
from cline_kit import HARBOUR, ROO_TASK, TASK, Tasks, aged, put, said, say, sent, session, talk

from cloxy_core.services.logs.reader import Logs
from cloxy_plugins.cline.places import session_folder, task_folders
from cloxy_plugins.cline.products import CLINE, KILO, ROO
from cloxy_plugins.cline.source import tasks_in

HOME = Path("/home/me")
EXTENSION = "globalStorage/saoudrizwan.claude-dev/tasks"


@pytest.fixture
def tasks(tmp_path):
    return Tasks(tmp_path)


def places(product, platform="linux", **environment):
    return {str(each) for each in task_folders(product, environment, HOME, platform)}


@pytest.mark.parametrize(
    "editor",
    ["Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf"],
)
def test_editors_of_each_system(editor):
    assert f"/home/me/.config/{editor}/User/{EXTENSION}" in places(CLINE)
    mac = f"/home/me/Library/Application Support/{editor}/User/{EXTENSION}"
    assert mac in places(CLINE, "darwin")
    windows = f"/home/me/AppData/Roaming/{editor}/User/{EXTENSION}"
    assert windows in places(CLINE, "win32")


@pytest.mark.parametrize(
    "place",
    [
        ".vscode-server/data/User",
        ".vscode-server-insiders/data/User",
        ".vscodium-server/data/User",
        ".cursor-server/data/User",
        ".windsurf-server/data/User",
        ".local/share/code-server/User",
        ".var/app/com.vscodium.codium/config/VSCodium/User",
    ],
)
def test_servers_and_sandboxes(place):
    assert f"/home/me/{place}/{EXTENSION}" in places(CLINE)


def test_variables_move_folders():
    assert f"/p/user-data/User/{EXTENSION}" in places(CLINE, VSCODE_PORTABLE="/p")
    assert f"/d/Cursor/User/{EXTENSION}" in places(CLINE, VSCODE_APPDATA="/d")
    assert f"/x/Code/User/{EXTENSION}" in places(CLINE, XDG_CONFIG_HOME="/x")
    assert f"/a/data/User/{EXTENSION}" in places(CLINE, VSCODE_AGENT_FOLDER="/a")
    assert "/c/data/tasks" in places(CLINE, CLINE_DIR="/c")
    assert "/e/tasks" in places(CLINE, CLINE_DIR="/c", CLINE_DATA_DIR="/e")


def test_each_agent_has_its_own_folders():
    assert "/home/me/.cline/data/tasks" in places(CLINE)
    roo, kilo = places(ROO), places(KILO)
    name = "/home/me/.config/Code/User/globalStorage"
    assert f"{name}/rooveterinaryinc.roo-cline/tasks" in roo
    assert f"{name}/kilocode.kilo-code/tasks" in kilo
    assert "/home/me/.kilocode/cli/global/tasks" in kilo
    assert not places(CLINE) & (roo | kilo)
    assert not roo & kilo


def test_the_folder_of_sessions_can_be_moved():
    def folder(**environment):
        return str(session_folder(environment, HOME))

    assert folder() == "/home/me/.cline/data/sessions"
    assert folder(CLINE_DIR="/c") == "/c/data/sessions"
    assert folder(CLINE_DIR="/c", CLINE_DATA_DIR="/e") == "/e/sessions"
    assert folder(CLINE_DATA_DIR="/e", CLINE_SESSION_DATA_DIR="/s") == "/s"
    assert folder(CLINE_DIR="relative") == "/home/me/.cline/data/sessions"


def test_only_messages_are_opened(tasks):
    tasks.shown(*talk())
    for name in ("secrets.json", "context_history.json", "settings.json", "focus_chain.md"):
        tasks.beside(name, b"FAKE-KEY")
    put(tasks.tasks / TASK / "checkpoints" / "ui_messages.json", talk())
    put(tasks.tasks / "ui_messages.json", talk())
    put(tasks.extension / "cache" / "x" / "ui_messages.json", talk())
    found, failures = items(tasks.source)
    assert [Path(each.uri).parent.name for each in found] == [TASK]
    assert failures == []


def test_what_was_sent_is_read_only_where_nothing_is_shown(tasks):
    tasks.sent(*sent())
    assert [each.uri.endswith("api_conversation_history.json") for each in items(tasks.source)[0]]
    tasks.shown(say(0, "text", "Shown"))
    assert texts(only(tasks.source)) == [("user", "Shown")]
    tasks.shown()
    (item,), _ = items(tasks.source)
    assert item.uri.endswith("ui_messages.json"), "an empty one is there all the same"


def test_of_mirrored_folders_the_newest_counts(tmp_path):
    one, other = tmp_path / "two" / "tasks", tmp_path / "one" / "tasks"
    source = tasks_in(Logs(tmp_path / "copies"), CLINE, [one, other])
    aged(put(one / TASK / "ui_messages.json", talk()[:1]), 100)
    path = aged(put(other / TASK / "ui_messages.json", talk()), 50)
    aged(put(other / "1769000000001" / "ui_messages.json", talk()), 50)
    found, _ = items(source)
    assert {Path(each.uri).parent for each in found} == {path.parent, other / "1769000000001"}
    assert items(source, one)[0] == [], "the copy that does not count is not read, if asked for"
    assert len(items(source, path.parent)[0]) == 1


def test_a_folder_anywhere_belongs_to_one_agent(tmp_path):
    logs = Logs(tmp_path / "copies")
    folder = tmp_path / "dotfiles"
    for place in (
        f"User/globalStorage/saoudrizwan.claude-dev/tasks/{TASK}",
        "User/globalStorage/RooVeterinaryInc.roo-cline/tasks/1769000000002",
        f"User/globalStorage/kilocode.kilo-code/tasks/{ROO_TASK}",
        "exported/1769000000001",
        "exported/exported_conversation",
        "exported/0b9d1c1e-58c1-4c55-9f43-2a8a6a3c1d11",
        f"User/globalStorage/kilocode.kilo-code/tasks/{ROO_TASK}/checkpoints/{TASK}",
    ):
        put(folder / place / "ui_messages.json", talk())
    session(folder / "sessions", "s1", said("Why?"))
    found = {
        product.agent: [
            Path(each.uri).parent.name for each in items(tasks_in(logs, product, []).of(folder))[0]
        ]
        for product in (CLINE, ROO, KILO)
    }
    assert {agent: set(names) for agent, names in found.items()} == {
        "cline": {TASK, "1769000000001", "exported_conversation", "s1"},
        "roo-code": {"1769000000002", "0b9d1c1e-58c1-4c55-9f43-2a8a6a3c1d11"},
        "kilo-code": {ROO_TASK},
    }
    assert sum(map(len, found.values())) == 7
    (alone,) = items(tasks_in(logs, CLINE, []).of(folder / "exported" / "1769000000001"))[0]
    assert Path(alone.uri).parent.name == "1769000000001"


def test_a_task_changes_with_the_files_beside_it(tasks):
    tasks.shown(say(0, "text", "Why?"))
    (before,), _ = items(tasks.source)
    tasks.beside("history_item.json", {"id": TASK, "workspace": HARBOUR})
    (after,), _ = items(tasks.source)
    assert (before.uri, before.identity) == (after.uri, after.identity)
    assert before != after
    assert only(tasks.source).sessions[TASK].cwd == HARBOUR


def test_a_subtask_is_a_session_of_an_agent_with_its_parent(tmp_path):
    tasks = Tasks(tmp_path, ROO)
    child = "7a6f0a52-0d4b-4a47-8f0e-6a86a2a3f0aa"
    tasks.shown(say(0, "text", "Why?"), say(5, "subtask_result", "RESULT OF IT"), task=ROO_TASK)
    tasks.shown(
        say(1, "text", "Find out why."),
        say(2, "text", "I look."),
        say(3, "user_feedback", "Look at the motor"),
        say(4, "completion_result", "The motor."),
        task=child,
    )
    item = {"id": child, "parentTaskId": ROO_TASK, "workspace": HARBOUR, "task": "Find out why."}
    tasks.beside("history_item.json", item, task=child)
    found = tasks.by_session()
    facts, messages = found[child]
    assert (facts.parent, facts.relation, facts.cwd) == (ROO_TASK, "subagent", HARBOUR)
    assert facts.title == "Find out why."
    assert [(each.role, each.author, each.text) for each in messages] == [
        ("user", "subagent", "Find out why."),
        ("assistant", "subagent", "I look."),
        ("user", "human", "Look at the motor"),
        ("assistant", "subagent", "The motor."),
    ]
    assert [each.text for each in found[ROO_TASK][1]] == ["Why?"]


def test_damaged_files_beside_are_told(tasks):
    tasks.shown(say(0, "text", "Why?"))
    for name in ("history_item.json", "task_metadata.json", "sdk_writeback.json"):
        tasks.beside(name, b"{")
    result = only(tasks.source)
    assert texts(result) == [("user", "Why?")]
    assert sorted(each.reason for each in result.bad_lines) == [
        "history_item.json cannot be read",
        "sdk_writeback.json cannot be read",
        "task_metadata.json cannot be read",
    ]


def test_links_below_a_folder_are_not_followed(tasks, tmp_path):
    outside = put(tmp_path / "outside" / "ui_messages.json", talk())
    tasks.tasks.mkdir(parents=True)
    (tasks.tasks / "1").symlink_to(outside.parent)
    (tasks.tasks / "2").mkdir()
    (tasks.tasks / "2" / "ui_messages.json").symlink_to(outside)
    tasks.shown(say(0, "text", "Why?"))
    secret = put(tmp_path / "outside" / "item.json", {"workspace": "/srv/secret"})
    (tasks.tasks / TASK / "history_item.json").symlink_to(secret)
    found, _failures = items(tasks.source)
    assert [Path(each.uri).parent.name for each in found] == [TASK]
    assert read(tasks.source, found[0]).sessions[TASK].cwd is None
