"""Third-party packages of every sort, installed together, in a real process of the command."""

import hashlib
import json

import pytest

from cloxy_core.kernel.discovery import describe
from cloxy_core.kernel.plugin_state import PluginState

HEAD = "from cloxy_hookspecs import *\n"
CHECKS = "@hookimpl\ndef cloxy_checks():\n"
GOOD = (
    '"""Says hello."""\n'
    + HEAD
    + CHECKS
    + "    yield CheckProvider(name='{name}', summary='', create=lambda context: None)\n"
)


def good(name):
    return GOOD.replace("{name}", name)


def marking(marker):
    return f"open({str(marker)!r}, 'a').write('imported')\n" + good("marker")


@pytest.fixture(scope="module")
def zoo(tmp_path_factory, make_site, listed, cloxy):
    """All rows, what was printed, and the file that disabled ones would write."""
    folder = tmp_path_factory.mktemp("zoo")
    site, marker = make_site(folder / "site"), folder / "marker"
    install = site.plugin
    install("good", good("good"), summary="A good one \x1b[31m", requires=["cloxy>=6,<7", "other"])
    install("broken", "import nothing_of_this_name\n")
    install("syntax", "def\n")
    install("exits", "raise SystemExit('goodbye')\n")
    install("asserts", "assert False, 'never'\n")
    install("prints", "import os\nprint('noise')\nos.write(1, b'low noise')\n" + good("prints"))
    install("old_contract", "CLOXY_API_VERSION = 99\n" + good("x"))
    install("old_host", marking(marker), requires=["Cloxy >= 99"])
    install("old_extra", good("old-extra"), requires=["cloxy>=99; extra == 'old'"])
    install("fts5", marking(marker), distribution="evil-fts5")
    install("twin", marking(marker), distribution="twin-a")
    install("twin", marking(marker), distribution="twin-b")
    install("wrong_hook", HEAD + "@hookimpl\ndef cloxy_sorces():\n    return []\n")
    install("wrong_signature", HEAD + "@hookimpl\ndef cloxy_checks(host):\n    return []\n")
    install("late", HEAD + CHECKS + "    raise RuntimeError('too late')\n")
    install(
        "extra",
        HEAD + "raise MissingExtraError('needs foo', hint=\"pip install 'cloxy[foo]'\")\n",
    )
    install("off", marking(marker))
    install("Bad Name", marking(marker), distribution="bad-name")
    install("nothing", "", distribution="no-module").joinpath("x").touch()
    (site.folder / "no_module_module.py").unlink()
    install("bad_requirement", marking(marker), requires=["cloxy>>1"])
    nameless = install("nameless", marking(marker))
    (nameless / "METADATA").write_text("")
    options = {"site": site, "data": folder / "data", "CLOXY_PLUGINS_DISABLED": "off"}
    rows = listed(**options)
    return rows, marker, options


EXPECTED = {
    ("good", "cloxy-good"): ("loaded", ""),
    ("prints", "cloxy-prints"): ("loaded", ""),
    ("old_extra", "cloxy-old-extra"): ("loaded", ""),
    ("broken", "cloxy-broken"): ("failed", "No module named 'nothing_of_this_name'"),
    ("syntax", "cloxy-syntax"): ("failed", "SyntaxError"),
    ("exits", "cloxy-exits"): ("failed", "SystemExit: goodbye"),
    ("asserts", "cloxy-asserts"): ("failed", "AssertionError: never"),
    ("nothing", "no-module"): ("failed", "No module named"),
    ("old_contract", "cloxy-old-contract"): ("incompatible", "version 99 of the plugin contract"),
    ("old_host", "cloxy-old-host"): ("incompatible", "wants cloxy >=99; this is 6"),
    ("fts5", "evil-fts5"): ("duplicate", "belongs to Cloxy's own plugin"),
    ("twin", "twin-a"): ("duplicate", 'plugins.pin = ["twin=twin-a"]'),
    ("twin", "twin-b"): ("duplicate", "twin-a, twin-b"),
    ("wrong_hook", "cloxy-wrong-hook"): ("failed", "there is no hook 'cloxy_sorces'"),
    ("wrong_signature", "cloxy-wrong-signature"): ("failed", "host"),
    ("late", "cloxy-late"): ("failed", "checks: raised RuntimeError: too late"),
    ("extra", "cloxy-extra"): ("missing-extra", "pip install 'cloxy[foo]'"),
    ("off", "cloxy-off"): ("disabled", "plugins.disabled"),
    ("Bad Name", "bad-name"): ("failed", "cannot be a plugin's name"),
}


@pytest.mark.parametrize(("key", "state", "words"), [(k, *v) for k, v in EXPECTED.items()])
def test_state_and_reason(zoo, key, state, words):
    row = zoo[0][key]
    assert row["state"] == state, row
    assert words in row["reason"]
    assert bool(row["reason"]) == (state != "loaded")


@pytest.mark.parametrize("name", ["bad_requirement", "nameless"])
def test_package_that_cannot_be_read_is_reported(zoo, name):
    (row,) = [row for key, row in zoo[0].items() if name in key[1]]
    assert row["state"] == "failed"
    assert "its package cannot be read" in row["reason"]


def test_package_with_garbled_entry_points_is_reported_and_hides_no_other(site):
    # Read here and not by the command: pydantic, which the command imports, stumbles over it.
    garbled = site.plugin("garbled", good("garbled"))
    (garbled / "entry_points.txt").write_bytes(b"[cloxy.plugins]\nx = \xff\xfe\n")
    site.plugin("zebra", good("zebra"))
    found = {plugin.name: plugin for plugin in describe(path=[str(site.folder)])}
    assert found["zebra"].state is PluginState.FOUND
    assert "UnicodeDecodeError" in found["cloxy_garbled"].reason


def test_ours_are_loaded_in_spite_of_all(zoo):
    ours = {key[0]: row for key, row in zoo[0].items() if key[1] == "cloxy"}
    assert {"fts5", "chunking", "ranking", "memory", "claude_code", "expansion"} <= set(ours)
    assert {name: row["reason"] for name, row in ours.items() if row["state"] != "loaded"} == {}


def test_what_must_not_be_imported_never_was(zoo):
    assert not zoo[1].exists()


def test_row_of_a_good_one(zoo):
    row = zoo[0]["good", "cloxy-good"]
    site = zoo[2]["site"].folder
    assert row["seats"] == {"checks": ["good"]}
    assert (row["version"], row["wants"]) == ("1.2", "<7,>=6")
    assert (row["required"], row["first_party"]) == (False, False)
    assert row["file"] == str(site / "cloxy_good_module.py")
    record = (site / "cloxy_good-1.2.dist-info" / "RECORD").read_bytes()
    assert row["record_sha256"] == hashlib.sha256(record).hexdigest()


def test_disabled_one_is_told_of_with_its_file(zoo):
    row = zoo[0]["off", "cloxy-off"]
    assert row["file"].endswith("cloxy_off_module.py")
    assert row["seats"] == {}


def test_human_list_is_aligned_and_escaped(zoo, cloxy):
    code, out, err = cloxy("list", **zoo[2])
    assert code == 0
    assert "\x1b" not in out
    lines = out.splitlines()
    column = lines[0].index("STATE")
    assert {line[column - 1] for line in lines} == {" "}
    assert "noise" not in out
    assert "noise" in err


def test_info_of_one_and_of_twins(zoo, cloxy):
    code, out, _ = cloxy("info", "good", "--json", **zoo[2])
    (row,) = json.loads(out)["plugins"]
    assert (code, row["summary"]) == (0, "A good one \x1b[31m")
    code, out, _ = cloxy("info", "good", **zoo[2])
    assert "A good one \\x1b[31m" in out
    code, out, _ = cloxy("info", "twin", **zoo[2])
    assert "twin-a" in out
    assert "twin-b" in out
    code, out, err = cloxy("info", "goood", "--json", **zoo[2])
    assert (code, out) == (5, "")
    assert "did you mean 'good'?" in err


def test_pin_chooses_one_of_two(site, tmp_path, listed):
    for distribution in ("twin-a", "twin-b"):
        site.plugin("twin", good(distribution), distribution=distribution)
    rows = listed(site=site, data=tmp_path / "data", CLOXY_PLUGINS_PIN="twin=Twin_B")
    assert rows["twin", "twin-b"]["seats"] == {"checks": ["twin-b"]}
    assert rows["twin", "twin-a"]["state"] == "duplicate"


def test_only_these_and_the_required(site, tmp_path, listed):
    site.plugin("good", good("good"))
    rows = listed(site=site, data=tmp_path / "data", CLOXY_PLUGINS="good")
    loaded = {key[0] for key, row in rows.items() if row["state"] == "loaded"}
    assert loaded == {"good", "fts5", "chunking", "ranking", "memory"}
    assert "not among plugins.only" in rows["claude_code", "cloxy"]["reason"]


def test_two_names_in_one_package_and_hidden_older_package(tmp_path, make_site, listed, site):
    site.install(
        "pair", [("one", "pair_one"), ("two", "pair_two")], pair_one=good("a"), pair_two=good("b")
    )
    site.install("pair", [("three", "pair_one")], version="0.1")
    rows = listed(site=site, data=tmp_path / "data")
    names = {key[0] for key in rows if key[1] == "pair"}
    assert names in ({"one", "two"}, {"three"})  # whichever Python itself would take


def test_settings_of_a_plugin_and_its_unknown_keys(site, tmp_path, cloxy):
    site.plugin(
        "greeter",
        HEAD
        + "@hookimpl\ndef cloxy_settings():\n"
        + "    yield Setting(name='greeter.polite', default=True, parse=str, help='Bow.')\n"
        + "    yield Setting(name='server.port', default=1, parse=int, help='Steal.')\n",
    )
    code, out, _ = cloxy("info", "greeter", "--json", site=site, data=tmp_path / "data")
    (row,) = json.loads(out)["plugins"]
    assert code == 0
    assert row["seats"] == {"settings": ["greeter.polite"]}
    assert "outside the plugin's own group" in row["problems"][0]
    assert row["state"] == "loaded"
