"""The agent's own clean-up is named, and its settings are only read."""

import asyncio

import pytest

from cloxy_plugins.claude_code.retention import CleanUpCheck
from cloxy_plugins.claude_code.roots import config_folders


def findings(*folders):
    return asyncio.run(CleanUpCheck(folders).run())


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (None, "after 30 days (its default"),
        ("{}", "after 30 days (its default"),
        ('{"cleanupPeriodDays": 7}', "after 7 days (cleanupPeriodDays in "),
        ('{"cleanupPeriodDays": 99999}', "after 99999 days"),
    ],
)
def test_the_setting_is_named(tmp_path, settings, words):
    if settings is not None:
        (tmp_path / "settings.json").write_text(settings)
    (found,) = findings(tmp_path)
    assert found.severity == "ok"
    assert words in found.message
    assert str(tmp_path / "settings.json") in found.message
    assert "Cloxy keeps" in found.message


@pytest.mark.parametrize(
    "settings", ["[", "[]", '{"cleanupPeriodDays": "x"}', '{"cleanupPeriodDays": true}']
)
def test_settings_that_cannot_be_read_are_a_warning(tmp_path, settings):
    (tmp_path / "settings.json").write_text(settings)
    (found,) = findings(tmp_path)
    assert found.severity == "warning"
    assert str(tmp_path / "settings.json") in found.message


def test_without_the_agent_that_is_said(tmp_path):
    (found,) = findings(tmp_path / "nothing")
    assert found.severity == "ok"
    assert "no folder of settings" in found.message


def test_the_folder_of_configuration_can_be_another(tmp_path):
    assert config_folders({"CLAUDE_CONFIG_DIR": f"{tmp_path}, /b"})[0] == tmp_path
    assert [f.name for f in config_folders({})] == [".claude", "claude"]


def test_ids_of_records_are_noted_as_digests_only():
    from cloxy_plugins.claude_code.state import FileState, load_state

    state = FileState()
    state.meet("11111111-2222-3333-4444-555555555555")
    dumped = str(state.dump())
    assert "11111111" not in dumped
    assert load_state(state.dump()).met("11111111-2222-3333-4444-555555555555")
    # Earlier versions noted the ids themselves.
    assert load_state({"recent": ["an-id"]}).met("an-id")
    assert "an-id" not in str(load_state({"recent": ["an-id"]}).dump())
