"""Where each client keeps its file, by platform and environment alone."""

import pytest

from cloxy_core.connect.catalogue import CLIENTS, client_named
from cloxy_core.connect.errors import ConnectError
from cloxy_core.connect.machine import Machine, this_machine

HOMES = {"darwin": "/Users/pat", "linux": "/home/pat", "win32": "C:\\Users\\pat"}

# client: (darwin, linux, win32); below the home directory, with / for the separator
PLACES = {
    "claude-code": (".claude.json", ".claude.json", ".claude.json"),
    "claude-desktop": (
        "Library/Application Support/Claude/claude_desktop_config.json",
        ".config/Claude/claude_desktop_config.json",
        "AppData/Roaming/Claude/claude_desktop_config.json",
    ),
    "cursor": (".cursor/mcp.json",) * 3,
    "vscode": (
        "Library/Application Support/Code/User/mcp.json",
        ".config/Code/User/mcp.json",
        "AppData/Roaming/Code/User/mcp.json",
    ),
    "zed": (
        ".config/zed/settings.json",
        ".config/zed/settings.json",
        "AppData/Roaming/Zed/settings.json",
    ),
    "continue": (".continue/mcpServers/cloxy.yaml",) * 3,
    "codex": (".codex/config.toml",) * 3,
    "gemini": (".gemini/settings.json",) * 3,
    "cline": (".cline/data/settings/cline_mcp_settings.json",) * 3,
    "copilot": (".copilot/mcp-config.json",) * 3,
    "windsurf": (".codeium/windsurf/mcp_config.json",) * 3,
}
PROJECT_FILES = {
    "claude-code": ".mcp.json",
    "claude-desktop": None,
    "cursor": ".cursor/mcp.json",
    "vscode": ".vscode/mcp.json",
    "zed": None,
    "continue": ".continue/mcpServers/cloxy.yaml",
    "codex": ".codex/config.toml",
    "gemini": ".gemini/settings.json",
    "cline": None,
    "copilot": ".github/mcp.json",
    "windsurf": None,
}
MOVED = [
    ("claude-code", "CLAUDE_CONFIG_DIR", ".claude.json"),
    ("codex", "CODEX_HOME", "config.toml"),
    ("copilot", "COPILOT_HOME", "mcp-config.json"),
    ("gemini", "GEMINI_CLI_HOME", ".gemini/settings.json"),
    ("continue", "CONTINUE_GLOBAL_DIR", "mcpServers/cloxy.yaml"),
    ("cline", "CLINE_DIR", "data/settings/cline_mcp_settings.json"),
    ("cline", "CLINE_DATA_DIR", "settings/cline_mcp_settings.json"),
    ("cline", "CLINE_MCP_SETTINGS_PATH", ""),
]


def first(client, machine):
    return str(client.user_files(machine)[client.fallback])


def joined(platform, folder, rest):
    separator = "\\" if platform == "win32" else "/"
    return separator.join([folder, *filter(None, rest.split("/"))])


@pytest.mark.parametrize("platform", HOMES)
@pytest.mark.parametrize("key", PLACES)
def test_the_usual_place(key, platform):
    machine = Machine(platform, {}, HOMES[platform])
    expected = PLACES[key][list(HOMES).index(platform)]
    assert first(client_named(key), machine) == joined(platform, HOMES[platform], expected)


def test_every_client_is_here():
    assert {client.key for client in CLIENTS} == set(PLACES)
    assert {client.key: client.project_file for client in CLIENTS} == PROJECT_FILES


@pytest.mark.parametrize(("key", "variable", "rest"), MOVED)
@pytest.mark.parametrize("platform", HOMES)
def test_a_client_that_was_moved(key, variable, rest, platform):
    folder = "D:\\moved" if platform == "win32" else "/srv/moved"
    machine = Machine(platform, {variable: folder}, HOMES[platform])
    assert first(client_named(key), machine) == joined(platform, folder, rest)
    empty = Machine(platform, {variable: "  "}, HOMES[platform])
    assert first(client_named(key), empty) == first(
        client_named(key), Machine(platform, {}, HOMES[platform])
    )


@pytest.mark.parametrize("key", ["vscode", "zed"])
def test_the_configuration_folder_of_linux_moves(key):
    machine = Machine("linux", {"XDG_CONFIG_HOME": "/srv/conf"}, "/home/pat")
    assert first(client_named(key), machine).startswith("/srv/conf/")
    # A relative path does not count, as the rules for these variables say.
    machine = Machine("linux", {"XDG_CONFIG_HOME": "conf"}, "/home/pat")
    assert first(client_named(key), machine).startswith("/home/pat/.config/")
    machine = Machine("darwin", {"XDG_CONFIG_HOME": "/srv/conf"}, "/Users/pat")
    assert first(client_named(key), machine).startswith("/Users/pat/")


def test_program_data_of_windows_moves():
    machine = Machine(
        "win32", {"APPDATA": "E:\\Roam", "LOCALAPPDATA": "E:\\Local"}, "C:\\Users\\pat"
    )
    places = list(map(str, client_named("claude-desktop").user_files(machine)))
    assert places == [
        "E:\\Local\\Packages\\Claude_pzs8sxrjxfjjc\\LocalCache\\Roaming\\Claude"
        "\\claude_desktop_config.json",
        "E:\\Roam\\Claude\\claude_desktop_config.json",
    ]


def test_what_is_not_confirmed_is_known():
    unsure = {
        (client.key, platform)
        for client in CLIENTS
        for platform in HOMES
        if platform not in client.confirmed
    }
    assert unsure == {("claude-desktop", "linux"), ("zed", "win32")}


def test_without_a_home_directory():
    with pytest.raises(ConnectError, match="home directory"):
        client_named("cursor").user_files(Machine("linux", {}, ""))
    machine = Machine("linux", {"CODEX_HOME": "/srv/codex"}, "")
    assert first(client_named("codex"), machine) == "/srv/codex/config.toml"


def test_the_machine_that_runs_this(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    assert str(this_machine({}).home) == str(tmp_path)
