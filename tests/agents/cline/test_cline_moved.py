"""Tasks that a setting of an editor has moved, and how little of such settings is looked at."""

import json
import os
from pathlib import Path

import pytest
from agents.sources import Context, items, only, texts
from cline_kit import HARBOUR, ROO_TASK, TASK, at_home, put, say, talk

from cloxy_core.services.logs.reader import Logs
from cloxy_plugins.cline import editor_settings
from cloxy_plugins.cline.editor_settings import value_of
from cloxy_plugins.cline.places import task_folders
from cloxy_plugins.cline.products import CLINE, KILO, ROO
from cloxy_plugins.cline.source import tasks_of_user

NAME = "roo-cline.customStoragePath"
OTHER = "7a6f0a52-0d4b-4a47-8f0e-6a86a2a3f0aa"


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.platform", "linux")
    return at_home(tmp_path, monkeypatch)


@pytest.fixture
def reader(tmp_path):
    return Logs(tmp_path / "copies")


@pytest.fixture
def of_user(reader, home):
    del home  # has to be set
    return lambda product: tasks_of_user(Context(reader), product)


def found(made, under=None):
    return [str(Path(each.uri).parent) for each in items(made, under)[0]]


def task(folder, name=ROO_TASK, said="Why?"):
    """A task in a folder that a setting names."""
    return put(folder / "tasks" / name / "ui_messages.json", [say(0, "text", said)]).parent


def settings(user, **values):
    return put(user / "settings.json", values)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (f'{{"{NAME}": "/data/roo"}}', "/data/roo"),
        (f'{{\n  // where\n  "a": [1, 2,],\n  "{NAME}" /* x */ : "/data/roo",\n}}\n', "/data/roo"),
        (f'{{"{NAME}": "D:\\\\roo\\u0020code"}}', "D:\\roo code"),
        (f'{{"{NAME}": "/a", "b": {{}}, "{NAME}": "/b"}}', "/b"),
        (f'{{"url": "http://x/*y", "{NAME}": "/data // roo /* x"}}', "/data // roo /* x"),
        (f'{{"a": {{"b": ["}}{{"]}}, "{NAME}": "/data/roo"}}', "/data/roo"),
        (f'\ufeff{{"{NAME}":\r\n"/data/roo"', "/data/roo"),
        (f'{{"a": "without an end,\n"{NAME}": "/data/roo"}}', "/data/roo"),
        (f'{{"a": tru, ,, "b" "c" "{NAME}": "/data/roo"}}', "/data/roo"),
        (f'{{// "{NAME}": "/data/roo"\n}}', None),
        (f'{{/* "{NAME}": "/data/roo" */}}', None),
        (f'{{/* "{NAME}": "/data/roo" }}', None),
        (f'{{"[python]": {{"{NAME}": "/data/roo"}}}}', None),
        (f'[{{"{NAME}": "/data/roo"}}]', None),
        (f'{{"a": "{NAME}", "b": "/data/roo"}}', None),
        (f'{{"a": "\\"{NAME}\\": \\"/data/roo\\""}}', None),
        (f'{{"{NAME}": null, "b": "/data/roo"}}', None),
        (f'{{"{NAME}": ["/data/roo"]}}', None),
        (f'{{"{NAME}": 7}}', None),
        (f'{{"{NAME}": ""}}', None),
        (f'{{"{NAME}": "/data/ro', None),
        (f'{{"{NAME}": "/data/ro\\"', None),
        (f'{{"{NAME}": "/data/\\q"}}', None),
        (f'{{"x.{NAME}": "/data/roo"}}', None),
        ("", None),
    ],
)
def test_the_value_of_a_name(text, value):
    assert value_of(text, NAME) == value


@pytest.mark.parametrize("piece", ['"', '\\"', "/*", "/", '"a\\', "{", "//", '"a":', "[]"])
def test_settings_that_would_be_looked_through_again_and_again(piece):
    assert value_of(piece * 300_000 + f'\n"{NAME}"', NAME) is None


@pytest.mark.parametrize(
    ("product", "name"),
    [
        (ROO, NAME),
        (ROO, "roo-code-nightly.customStoragePath"),
        (KILO, "kilo-code.customStoragePath"),
    ],
)
@pytest.mark.parametrize(
    "file",
    [
        ".config/Code/User/settings.json",
        ".config/Code - Insiders/User/settings.json",
        ".config/VSCodium/User/settings.json",
        ".config/Cursor/User/settings.json",
        ".config/Windsurf/User/settings.json",
        ".config/Code/User/profiles/-1f2e3d/settings.json",
        ".vscode-server/data/Machine/settings.json",
        ".local/share/code-server/User/settings.json",
    ],
)
def test_settings_of_each_editor_move_tasks(of_user, home, tmp_path, file, product, name):
    put(home / file, {name: str(tmp_path / "elsewhere")})
    there = task(tmp_path / "elsewhere")
    made = of_user(product)
    assert found(made) == [str(there)]
    assert tmp_path / "elsewhere" / "tasks" in made.roots()
    assert found(made, there) == [str(there)], "one that is asked for"
    assert texts(only(made)) == [("user", "Why?")]


def test_the_moved_and_the_usual_place_are_both_read(of_user, home, tmp_path):
    user = home / ".config" / "Code" / "User"
    usual = task(user / "globalStorage" / ROO.extensions[0])
    made = of_user(ROO)
    assert found(made) == [str(usual)]
    before = set(made.roots())
    settings(user, **{NAME: str(tmp_path / "elsewhere")})
    there = task(tmp_path / "elsewhere", OTHER)
    assert set(made.roots()) == before, "settings are looked into with the next look"
    assert set(found(made)) == {str(usual), str(there)}
    assert set(made.roots()) - before == {tmp_path / "elsewhere" / "tasks"}
    settings(user, **{NAME: ""})
    assert found(made) == [str(usual)]


def test_a_moved_folder_is_like_a_usual_one(of_user, home, tmp_path):
    settings(home / ".config" / "Code" / "User", **{NAME: str(tmp_path / "elsewhere")})
    there = task(tmp_path / "elsewhere")
    put(there / "history_item.json", {"id": ROO_TASK, "workspace": HARBOUR})
    put(tmp_path / "elsewhere" / "settings" / "mcp_settings.json", {"key": "FAKE-KEY"})
    put(there / "deeper" / OTHER / "ui_messages.json", talk())
    put(tmp_path / "elsewhere" / OTHER / "ui_messages.json", talk())
    made = of_user(ROO)
    assert len(found(made)) == 1
    assert only(made).sessions[ROO_TASK].cwd == HARBOUR


@pytest.mark.parametrize("value", ["", "relative/x", "~/x", "/a\0b", None, 7, ["/data"]])
def test_a_value_that_is_no_absolute_path_moves_nothing(of_user, home, value):
    settings(home / ".config" / "Code" / "User", **{NAME: value})
    task(home / "x")
    made = of_user(ROO)
    before = made.roots()
    assert found(made) == []
    assert made.roots() == before


def test_a_folder_that_two_settings_name_is_read_once(of_user, home, tmp_path):
    user = home / ".config" / "Code" / "User"
    settings(
        user, **{NAME: str(tmp_path / "x"), "kilo-code.customStoragePath": str(tmp_path / "x")}
    )
    there = task(tmp_path / "x")
    assert (found(of_user(ROO)), found(of_user(KILO))) == ([str(there)], [])


def test_the_usual_folder_of_another_agent_stays_that_agents(of_user, home):
    user = home / ".config" / "Code" / "User"
    of_roo, of_cline = (user / "globalStorage" / each.extensions[0] for each in (ROO, CLINE))
    settings(user, **{"kilo-code.customStoragePath": str(of_roo), NAME: str(of_cline)})
    roos, clines = task(of_roo), task(of_cline, TASK)
    assert found(of_user(KILO)) == []
    assert found(of_user(ROO)) == [str(roos)]
    assert found(of_user(CLINE)) == [str(clines)]


def test_tasks_above_which_a_folder_is_asked_for_are_the_agents_that_has_them_there(
    of_user, home, tmp_path
):
    user = home / ".config" / "Code" / "User"
    settings(user, **{"kilo-code.customStoragePath": str(tmp_path / "x" / "kilo")})
    there, other = task(tmp_path / "x" / "kilo"), task(tmp_path / "x" / "y", OTHER)
    roo, kilo = of_user(ROO), of_user(KILO)
    for made in (roo, kilo):
        found(made)
    assert found(kilo.of(tmp_path / "x")) == [str(there)]
    assert found(roo.of(tmp_path / "x")) == [str(other)]


def test_settings_behind_a_link_are_read_and_others_passed_over(
    of_user, home, tmp_path, monkeypatch
):
    monkeypatch.setattr(editor_settings, "_MOST", 1000)
    config = home / ".config"
    dotfiles = settings(tmp_path / "dotfiles", **{NAME: str(tmp_path / "x")})
    (config / "Code" / "User").mkdir(parents=True)
    (config / "Code" / "User" / "settings.json").symlink_to(dotfiles)
    large = {NAME: str(tmp_path / "y"), "filling": "x" * 1000}
    put(config / "Cursor" / "User" / "settings.json", large)
    (config / "VSCodium" / "User" / "settings.json").mkdir(parents=True)
    loop = config / "Windsurf" / "User" / "settings.json"
    loop.parent.mkdir(parents=True)
    loop.symlink_to(loop)
    os.mkfifo(put(config / "Trae" / "User" / "x", b"").with_name("settings.json"))
    there = task(tmp_path / "x")
    task(tmp_path / "y", OTHER)
    assert found(of_user(ROO)) == [str(there)]


def test_only_settings_are_opened_and_nothing_else_of_them_stays(of_user, home, tmp_path, reader):
    user = home / ".config" / "Code" / "User"
    settings(user, other_apiKey="FAKE-KEY", **{NAME: str(tmp_path / "x")})
    for name in ("keybindings.json", "globalStorage/state.vscdb", "profiles/p/extensions.json"):
        put(user / name, b"FAKE-KEY")
    task(tmp_path / "x")
    opened = []

    class Watched(Logs):
        def content(self, root, path, most):
            opened.append(path)
            return super().content(root, path, most)

    made = tasks_of_user(Context(Watched(tmp_path / "copies")), ROO)
    assert len(found(made)) == 1
    assert {path.name for path in opened} == {"settings.json"}
    seen, waiting = set(), [made]
    while waiting:
        each = waiting.pop()
        if id(each) in seen or isinstance(each, (type, str)):
            assert "FAKE-KEY" not in str(each)
            continue
        seen.add(id(each))
        waiting += getattr(each, "__closure__", None) or []
        waiting += [getattr(each, "cell_contents", None)]
        waiting += vars(each).values() if hasattr(each, "__dict__") else []
        waiting += each if isinstance(each, (list, tuple, set, frozenset)) else []
        waiting += [*each, *each.values()] if isinstance(each, dict) else []


def test_cline_has_no_such_setting(of_user, home, tmp_path):
    user = home / ".config" / "Code" / "User"
    settings(user, **{"cline.customStoragePath": str(tmp_path / "x"), NAME: str(tmp_path / "x")})
    task(tmp_path / "x", TASK)
    assert found(of_user(CLINE)) == []


def test_stores_of_command_lines_and_of_jetbrains():
    def places(product):
        return {str(each) for each in task_folders(product, {}, Path("/home/me"), "linux")}

    assert "/home/me/.vscode-mock/global-storage/tasks" in places(ROO)
    assert {
        "/home/me/.kilocode/cli/global/tasks",
        "/home/me/.kilocode/globalStorage/tasks",
        "/home/me/.kilocode/globalStorage/kilo code.kilo-code/tasks",
    } <= places(KILO)


def test_tasks_in_such_a_store_are_found(of_user, home):
    kilos = [home / ".kilocode" / "globalStorage" / each for each in ("", "kilo code.kilo-code")]
    kilo = {str(task(folder, name)) for folder, name in zip(kilos, (ROO_TASK, OTHER), strict=True)}
    roo = put(home / ".vscode-mock/global-storage/tasks" / ROO_TASK / "ui_messages.json", talk())
    put(home / ".vscode-mock" / "global-storage" / "secrets.json", b"FAKE-KEY")
    assert set(found(of_user(KILO))) == kilo
    assert found(of_user(ROO)) == [str(roo.parent)]
    assert json.loads(roo.read_bytes())
