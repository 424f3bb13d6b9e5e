"""`plugins enable` and `disable`, and what may not be switched off."""

import json
import tomllib

import pytest

SOURCE = "from cloxy_hookspecs import *\n@hookimpl\ndef cloxy_checks():\n    return []\n"


@pytest.fixture
def run(site, tmp_path, cloxy):
    site.plugin("good", SOURCE)

    def call(*arguments, **variables):
        return cloxy(*arguments, site=site, data=tmp_path / "data", **variables)

    return call


@pytest.fixture
def config(tmp_path):
    return tmp_path / "data" / "config.toml"


def state_of(run, name, **variables):
    code, out, err = run("info", name, "--json", **variables)
    assert code == 0, err
    return json.loads(out)["plugins"][0]["state"]


def test_there_and_back(run, config):
    assert state_of(run, "good") == "loaded"
    code, out, err = run("disable", "good")
    assert (code, err) == (0, "")
    assert out == "good is disabled; restart the server for this to take effect\n"
    assert tomllib.loads(config.read_text()) == {"plugins": {"disabled": ["good"]}}
    assert state_of(run, "good") == "disabled"
    assert run("disable", "good")[1] == "good is already disabled\n"
    code, out, _ = run("enable", "good", "--json")
    assert json.loads(out) == {
        "name": "good",
        "disabled": False,
        "changed": True,
        "restart": True,
        "file": str(config),
        "note": "",
    }
    assert state_of(run, "good") == "loaded"


def test_unknown_name(run, config):
    for command in ("enable", "disable"):
        code, out, err = run(command, "goood")
        assert (code, out) == (5, "")
        assert "there is no plugin 'goood'" in err
        assert "did you mean 'good'?" in err
    assert not config.exists()


def test_name_that_is_only_in_the_file_can_be_taken_out(run, config):
    config.parent.mkdir()
    config.write_text('[plugins]\ndisabled = ["gone"]\n')
    assert run("enable", "gone")[0] == 0
    assert tomllib.loads(config.read_text()) == {"plugins": {"disabled": []}}


@pytest.mark.parametrize("name", ["fts5", "chunking", "ranking", "memory"])
def test_required_cannot_be_disabled(run, config, name):
    code, out, err = run("disable", name)
    assert (code, out) == (2, "")
    assert f"{name!r} cannot be disabled: without it" in err
    assert not config.exists()


def test_required_in_the_settings_is_refused_and_can_be_repaired(run, config):
    code, _, err = run("list", CLOXY_PLUGINS_DISABLED="fts5")
    assert code == 2
    assert "'fts5' cannot be disabled" in err
    config.parent.mkdir()
    config.write_text('[plugins]\ndisabled = ["fts5"]\n')
    assert run("list")[0] == 2
    assert run("enable", "fts5")[0] == 0
    assert run("list")[0] == 0


def test_variable_that_overrides_the_file_is_told_of(run):
    code, _, err = run("disable", "good", CLOXY_PLUGINS_DISABLED="expansion")
    assert code == 0
    assert "CLOXY_PLUGINS_DISABLED overrides it" in err
    code, _, err = run("enable", "good", CLOXY_PLUGINS_DISABLED="good")
    assert "it stays off: the environment variable CLOXY_PLUGINS_DISABLED" in err
    code, _, err = run("enable", "good", CLOXY_PLUGINS="expansion")
    assert "it stays off: not among plugins.only" in err


def test_names_that_fit_nothing_are_told_of(run):
    code, out, _ = run("list", "--json", CLOXY_PLUGINS_DISABLED="godo")
    assert code == 0
    assert json.loads(out)["notes"] == [
        "plugins.disabled names 'godo', but no such plugin is installed"
    ]


def test_broken_file_is_named_with_its_line(run, config):
    config.parent.mkdir()
    config.write_text("[plugins]\ndisabled = [\n")
    code, _, err = run("disable", "good")
    assert code == 2
    assert str(config) in err
    assert "line 3" in err


def test_one_file_plugins_are_off_by_default(run, tmp_path, config):
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "solo.py").write_text('"""All alone."""\n' + SOURCE)
    (folder / "_helper.py").write_text("raise SystemExit\n")
    (folder / "good.py").write_text(SOURCE)
    (folder / "fts5.py").write_text("raise SystemExit\n")
    assert run("info", "solo")[0] == 5
    _, out, _ = run("list", "--json", CLOXY_PLUGINS_DIR=str(folder))
    rows = {(row["name"], row["distribution"]): row for row in json.loads(out)["plugins"]}
    assert rows["solo", ""]["state"] == "loaded"
    assert (rows["solo", ""]["summary"], rows["solo", ""]["file"]) == (
        "All alone.",
        str(folder / "solo.py"),
    )
    assert ("_helper", "") not in rows
    assert rows["good", ""]["state"] == rows["good", "cloxy-good"]["state"] == "duplicate"
    assert rows["fts5", ""]["state"] == "duplicate"
    assert rows["fts5", "cloxy"]["state"] == "loaded"
    assert run("disable", "solo", CLOXY_PLUGINS_DIR=str(folder))[0] == 0
    assert state_of(run, "solo", CLOXY_PLUGINS_DIR=str(folder)) == "disabled"


def test_one_file_plugin_that_anybody_may_change_is_not_run(run, tmp_path):
    folder = tmp_path / "mine"
    folder.mkdir()
    loose = folder / "loose.py"
    loose.write_text(SOURCE)
    loose.chmod(0o666)
    assert state_of(run, "loose", CLOXY_PLUGINS_DIR=str(folder)) == "failed"
    loose.chmod(0o600)
    assert state_of(run, "loose", CLOXY_PLUGINS_DIR=str(folder)) == "loaded"
