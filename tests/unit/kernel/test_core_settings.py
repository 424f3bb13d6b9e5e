"""Every setting of the core: default, set, empty, and a bad value that is named."""

from pathlib import Path

import pytest

from cloxy_core import core_settings as core
from cloxy_core.kernel.settings import MASK, Layer
from cloxy_hookspecs import SettingError

# variable: (setting, default, text, its value, value of the empty text, texts that are refused)
TABLE = {
    "CLOXY_DATA_DIR": (core.DATA_DIR, None, "/srv/c", Path("/srv/c"), None, ["~nobody-here/x"]),
    "CLOXY_HOST": (
        core.HOST,
        "127.0.0.1",
        "[::1]",
        "::1",
        "127.0.0.1",
        ["127.0.0.1:80", "http://x", "a b", "foo:bar", "*", "-.-/"],
    ),
    "CLOXY_PORT": (
        core.PORT,
        9055,
        "0",
        0,
        9055,
        ["65536", "-1", "80.0", "eighty", "9_055", "٩٠٥٥", "true", "1" * 40],
    ),
    "CLOXY_URL": (
        core.URL,
        None,
        "https://cloxy.example:8443/base/",
        "https://cloxy.example:8443/base",
        None,
        ["localhost:9055", "ftp://x", "http://", "http://u:p@x", "http://x:99999", "http://a b"],
    ),
    "CLOXY_VERIFY_SERVER": (core.VERIFY_SERVER, True, "0", False, True, ["2", "maybe"]),
    "CLOXY_AUTOSTART": (core.AUTOSTART, True, "off", False, True, ["2", "maybe"]),
    "CLOXY_MCP_TOOLSETS": (
        core.MCP_TOOLSETS,
        (),
        "cloxy, admin,,cloxy",
        ("cloxy", "admin"),
        (),
        ["a\nb"],
    ),
    "CLOXY_USER_AGENT": (
        core.USER_AGENT,
        core.USER_AGENT.default,
        " Reader/1 ",
        "Reader/1",
        core.USER_AGENT.default,
        ["a\nb", "\u2603"],
    ),
    "CLOXY_FETCH_DEADLINE": (core.FETCH_DEADLINE, 60.0, "20", 20.0, 60.0, ["0", "-1", "soon"]),
    "CLOXY_ROBOTS": (core.ROBOTS, False, "1", True, False, ["2", "maybe"]),
    "CLOXY_API_KEY": (core.API_KEY, None, "k e:y", "k e:y", None, ["a\nb", " padded", "x\x7f"]),
    "CLOXY_ALLOWED_HOSTS": (
        core.ALLOWED_HOSTS,
        (),
        "A.example, b:80,,a.example,[::1]:9055",
        ("a.example", "b:80", "[::1]:9055"),
        (),
        ["*.example", "http://a", "a:0", "a:99999", "a/b", "a b"],
    ),
    "CLOXY_WATCH": (core.WATCH, True, "0", False, False, ["2", "maybe"]),
    "CLOXY_WATCH_DIRS": (
        core.WATCH_DIRS,
        (),
        "~/logs:/var/x::/var/x",
        (Path("~/logs"), Path("/var/x")),
        (),
        ["~nobody-here/x"],
    ),
    "CLOXY_WATCH_INTERVAL": (core.WATCH_INTERVAL, 5.0, "0.5", 0.5, 5.0, ["0", "-1", "nan", "inf"]),
    "CLOXY_WATCH_SWEEP": (core.WATCH_SWEEP, 60.0, "30", 30.0, 60.0, ["0", "5s", "1e9"]),
    "CLOXY_WATCH_EVENTS": (core.WATCH_EVENTS, True, "no", False, True, ["2", "maybe"]),
    "CLOXY_RECALL_FUSER": (core.FUSER, "weighted", " rrf ", "rrf", "weighted", ["a\nb"]),
    "CLOXY_RERANK": (core.RERANK, False, "1", True, False, ["2", "maybe"]),
    "CLOXY_RECALL_RERANKER": (
        core.RERANKER,
        "cross-encoder",
        " none ",
        "none",
        "cross-encoder",
        ["a\nb"],
    ),
    "CLOXY_EMBED_PROVIDER": (
        core.EMBED_PROVIDER,
        "minilm",
        "fastembed",
        "fastembed",
        "minilm",
        ["a\nb"],
    ),
    "CLOXY_EMBED_MODEL": (core.EMBED_MODEL, "", " a/b-c ", "a/b-c", "", ["a\nb", "a\x1b[2J"]),
    "CLOXY_EMBED_QUERY_PREFIX": (core.EMBED_QUERY_PREFIX, None, "query: ", "query: ", "", []),
    "CLOXY_EMBED_PASSAGE_PREFIX": (core.EMBED_PASSAGE_PREFIX, None, " p:\n", " p:\n", "", []),
    "CLOXY_EMBED_DIM": (core.EMBED_DIM, 0, "384", 384, 0, ["-1", "65537", "many"]),
    "CLOXY_EMBED_ON_BATTERY": (core.EMBED_ON_BATTERY, False, "yes", True, False, ["2"]),
    "CLOXY_EMBED_MAX_LOAD": (core.EMBED_MAX_LOAD, 0.0, "1.5", 1.5, 0.0, ["-1", "nan", "1001"]),
    "CLOXY_PLUGINS_DISABLED": (
        core.PLUGINS_DISABLED,
        (),
        "a, b,a",
        ("a", "b"),
        (),
        ["a,b\x1b[2J"],
    ),
    "CLOXY_PLUGINS": (core.PLUGINS_ONLY, (), "a", ("a",), (), ["a\0"]),
    "CLOXY_PLUGINS_PIN": (
        core.PLUGINS_PIN,
        {},
        "a=b, c = d",
        {"a": "b", "c": "d"},
        {},
        ["a", "=b"],
    ),
    "CLOXY_PLUGINS_DIR": (core.PLUGINS_DIR, None, "/p", Path("/p"), None, ["~nobody-here/x"]),
    "CLOXY_PROVIDERS_DISABLED": (core.PROVIDERS_DISABLED, (), "x", ("x",), (), ["x\ty"]),
    "CLOXY_PROVIDERS_PREFER": (
        core.PROVIDERS_PREFER,
        {},
        "k=v",
        {"k": "v"},
        {},
        ["k=v,k=w", "k="],
    ),
    "CLOXY_LLM_CHAT": (core.LLM_CHAT, "auto", " llama-cpp ", "llama-cpp", "auto", ["a\nb"]),
    "CLOXY_LLM_EXTRACT": (core.LLM_EXTRACT, "none", "http", "http", "none", ["a\nb"]),
    "CLOXY_LLM_REFLECT": (core.LLM_REFLECT, "none", "http", "http", "none", ["a\nb"]),
    "CLOXY_LLM_RERANK": (core.LLM_RERANK, "none", "http", "http", "none", ["a\nb"]),
    "CLOXY_CONFIG": (core.LLM_CONFIG, None, "/srv/m.json", Path("/srv/m.json"), None, ["a\0"]),
    "CLOXY_EAGER_LLM": (core.LLM_EAGER, False, "1", True, False, ["2", "maybe"]),
    "CLOXY_LLM_IDLE": (core.LLM_IDLE, 600.0, "0", 0.0, 600.0, ["-1", "nan", "soon"]),
    "CLOXY_LLM_QUEUE": (core.LLM_QUEUE, 4, "0", 0, 4, ["-1", "10001", "1.5"]),
    "CLOXY_LLM_WAIT": (core.LLM_WAIT, 60.0, "0.5", 0.5, 60.0, ["0", "-1", "inf"]),
    "CLOXY_LLM_TIMEOUT": (core.LLM_TIMEOUT, 600.0, "5", 5.0, 600.0, ["0", "-1", "nan"]),
    "CLOXY_LLM_FIRST_PIECE": (core.LLM_FIRST_PIECE, 300.0, "7", 7.0, 300.0, ["0", "-1", "x"]),
    "CLOXY_LLM_THREADS": (core.LLM_THREADS, 0, "3", 3, 0, ["-1", "1025", "all"]),
    "CLOXY_LOG_LEVEL": (core.LOG_LEVEL, "info", "DEBUG", "debug", "info", ["loud", "10"]),
}
BAD = [(variable, text) for variable, row in TABLE.items() for text in row[5]]


def load(environment):
    return core.load_settings(environment)


def expanded(value):
    if isinstance(value, tuple):
        return tuple(expanded(item) for item in value)
    return value.expanduser() if isinstance(value, Path) else value


def test_the_table_has_every_setting():
    assert set(TABLE) == {setting.variable for setting in core.CORE_SETTINGS}


@pytest.mark.parametrize("variable", TABLE)
def test_default(variable):
    setting, default, *_ = TABLE[variable]
    settings = load({})
    assert settings[setting] == default
    assert settings.explain(setting.name).layer is Layer.DEFAULT


@pytest.mark.parametrize("variable", TABLE)
def test_set(variable):
    setting, _, text, value, *_ = TABLE[variable]
    settings = load({variable: text})
    assert settings[setting] == expanded(value)
    explained = settings.explain(setting.name)
    assert (explained.layer, explained.place) == (Layer.ENVIRONMENT, variable)


@pytest.mark.parametrize("variable", TABLE)
def test_empty(variable):
    setting, *_, empty, _ = TABLE[variable]
    assert load({variable: ""})[setting] == empty


@pytest.mark.parametrize(("variable", "text"), BAD)
def test_bad_value_is_named(variable, text):
    setting = TABLE[variable][0]
    with pytest.raises(SettingError) as raised:
        load({variable: text}).check()
    message = raised.value.message
    assert message.startswith(f"{variable}: ")
    assert "wants " in message
    assert message.isprintable()
    if setting.secret:
        assert text.strip() not in message
    elif text.isprintable():
        assert text in message


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *((text, False) for text in ("", "0", "false", "False", "no", "NO", "Off")),
        *((text, True) for text in ("1", "true", "TRUE", "yes", "on", " on ")),
    ],
)
def test_spellings_of_a_flag(text, value):
    assert load({"CLOXY_WATCH": text})[core.WATCH] is value


def test_data_directory_is_absolute_and_by_default_in_the_home(isolated, tmp_path, monkeypatch):
    assert core.data_directory(load({})) == isolated / ".cloxy"
    monkeypatch.chdir(tmp_path)
    assert core.data_directory(load({"CLOXY_DATA_DIR": "here"})) == tmp_path / "here"


def test_data_directory_cannot_be_set_in_its_own_file(tmp_path):
    (tmp_path / "config.toml").write_text('[data]\ndir = "/elsewhere"\n')
    settings = load({"CLOXY_DATA_DIR": str(tmp_path)})
    assert core.data_directory(settings) == tmp_path
    with pytest.raises(SettingError, match=r"line 2: 'data.dir' cannot be set.*CLOXY_DATA_DIR"):
        settings.check()


def test_command_line_beats_environment_beats_file_beats_default(tmp_path):
    (tmp_path / "config.toml").write_text("[server]\nport = 1\n")
    base = {"CLOXY_DATA_DIR": str(tmp_path)}
    in_file = core.load_settings(base)
    in_environment = core.load_settings({**base, "CLOXY_PORT": "2"})
    on_line = core.load_settings({**base, "CLOXY_PORT": "2"}, {"server.port": "3"})
    emptied = core.load_settings({**base, "CLOXY_PORT": ""}, {"server.port": ""})
    assert [each[core.PORT] for each in (in_file, in_environment, on_line, emptied)] == [1, 2, 3, 1]
    assert (
        in_file.explain("server.port").place == f"{tmp_path / 'config.toml'}, line 2: server.port"
    )
    assert on_line.explain("server.port").layer is Layer.COMMAND_LINE


def test_the_key_is_masked():
    explained = load({"CLOXY_API_KEY": "open sesame"}).explain("server.api_key")
    assert explained.value == MASK
    assert load({}).explain("server.api_key").value == ""


def test_choice_of_plugins_takes_either_spelling():
    choice = core.plugin_choice(
        load(
            {
                "CLOXY_PLUGINS_DISABLED": "claude-code",
                "CLOXY_PLUGINS": "my-own,fts5",
                "CLOXY_PLUGINS_PIN": "my-own=package-a",
            }
        )
    )
    assert choice.disabled == {"claude_code"}
    assert choice.only == {"my_own", "fts5"}
    assert choice.pins == {"my_own": "package-a"}
