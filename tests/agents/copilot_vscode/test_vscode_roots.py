"""Where the products keep what users said, on each system."""

from pathlib import Path

import pytest

from cloxy_plugins.copilot_vscode.roots import user_folders

HOME = Path("/home/pat")


@pytest.mark.parametrize(
    ("platform", "base"),
    [
        ("linux", HOME / ".config"),
        ("darwin", HOME / "Library" / "Application Support"),
        ("win32", HOME / "AppData" / "Roaming"),
    ],
)
def test_usual_places(platform, base):
    found = user_folders({}, HOME, platform)
    for product in ("Code", "Code - Insiders", "VSCodium"):
        assert base / product / "User" in found
    assert HOME / ".vscode-server" / "data" / "User" in found
    assert HOME / ".local" / "share" / "code-server" / "User" in found
    assert len(set(found)) == len(found)


def test_places_that_variables_name():
    environment = {
        "VSCODE_PORTABLE": "/opt/portable",
        "VSCODE_AGENT_FOLDER": "/opt/agent",
        "XDG_CONFIG_HOME": "/opt/config",
        "XDG_DATA_HOME": "/opt/share",
    }
    found = user_folders(environment, HOME, "linux")
    assert found[0] == Path("/opt/portable/user-data/User")
    assert Path("/opt/agent/data/User") in found
    assert Path("/opt/config/Code/User") in found
    assert Path("/opt/share/code-server/User") in found
    assert HOME / ".config" / "Code" / "User" not in found
    assert Path("/opt/roaming/Code/User") in user_folders(
        {"APPDATA": "/opt/roaming"}, HOME, "win32"
    )
    assert Path("/opt/app/Code/User") in user_folders({"VSCODE_APPDATA": "/opt/app"}, HOME, "linux")


@pytest.mark.parametrize("value", ["", " ", "relative", "a\0b"])
def test_a_variable_that_names_no_folder_is_as_none(value):
    assert user_folders({"XDG_CONFIG_HOME": value}, HOME, "linux") == user_folders(
        {}, HOME, "linux"
    )
