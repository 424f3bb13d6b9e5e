"""Where clients look for the server."""

import os

import pytest

from cloxy_core.client_config import (
    ClientError,
    client_environment,
    data_directory,
    resolve_client,
)


@pytest.fixture
def data(tmp_path):
    """Writes files of a data directory, and returns it."""

    def write(client_env=None, config=None, mode=0o600):
        if client_env is not None:
            file = tmp_path / "client.env"
            file.write_bytes(client_env if isinstance(client_env, bytes) else client_env.encode())
            file.chmod(mode)
        if config is not None:
            (tmp_path / "config.toml").write_text(config, encoding="utf-8")
        return tmp_path

    return write


@pytest.mark.parametrize(
    ("environ", "client_env", "config", "url"),
    [
        ({}, None, None, "http://127.0.0.1:9055"),
        ({"CLOXY_URL": ""}, None, None, "http://127.0.0.1:9055"),
        ({"CLOXY_URL": "https://memory.example/base/"}, None, None, "https://memory.example/base"),
        ({"CLOXY_PORT": "9100"}, None, None, "http://127.0.0.1:9100"),
        ({"CLOXY_PORT": ""}, None, "[server]\nport = 9200", "http://127.0.0.1:9200"),
        ({"CLOXY_HOST": "10.0.0.7"}, None, None, "http://10.0.0.7:9055"),
        ({"CLOXY_HOST": "0.0.0.0"}, None, None, "http://127.0.0.1:9055"),
        ({"CLOXY_HOST": "::"}, None, None, "http://[::1]:9055"),
        ({"CLOXY_HOST": "[::1]"}, None, None, "http://[::1]:9055"),
        ({"CLOXY_URL": "http://a:1", "CLOXY_PORT": "2"}, None, None, "http://a:1"),
        ({}, None, '[server]\nport = 9200\nhost = "localhost"', "http://localhost:9200"),
        ({"CLOXY_PORT": "9100"}, None, "[server]\nport = 9200", "http://127.0.0.1:9100"),
        ({}, "CLOXY_PORT=9300", "[server]\nport = 9200", "http://127.0.0.1:9300"),
        ({"CLOXY_PORT": "9100"}, "CLOXY_PORT=9300", None, "http://127.0.0.1:9100"),
        ({}, "CLOXY_URL=http://far.example:9", "[server]\nport = 9200", "http://far.example:9"),
        ({"CLOXY_URL": ""}, "CLOXY_URL=http://far.example:9", None, "http://127.0.0.1:9055"),
        ({}, None, '[server]\nport = "9200"', "http://127.0.0.1:9200"),
        ({}, None, "server = 3", "http://127.0.0.1:9055"),
        ({}, None, '[server]\nurl = "http://far.example:9"\nport = 1', "http://far.example:9"),
    ],
)
def test_address(data, environ, client_env, config, url):
    assert resolve_client(environ, data(client_env, config)).url == url


@pytest.mark.parametrize(
    ("environ", "client_env", "config", "key"),
    [
        ({"CLOXY_API_KEY": "one"}, "CLOXY_API_KEY=two", '[server]\napi_key = "three"', "one"),
        ({}, "CLOXY_API_KEY=two", '[server]\napi_key = "three"', "two"),
        ({}, None, '[server]\napi_key = "three"', "three"),
        ({"CLOXY_API_KEY": ""}, "CLOXY_API_KEY=two", None, None),
        ({}, None, None, None),
    ],
)
def test_key(data, environ, client_env, config, key):
    assert resolve_client(environ, data(client_env, config)).api_key == key


def test_client_env_syntax(data):
    text = (
        "# the big machine\n\n"
        "CLOXY_URL = http://big:9055 \n"
        'CLOXY_API_KEY="quoted # not a comment"\n'
        "export CLOXY_A='single'\n"
        'CLOXY_B="half\n'
        "CLOXY_C=a=b\r\n"
        "CLOXY_D=\n"
        "  HF_TOKEN=t\n"
        "FASTEMBED_CACHE_PATH=/models\n"
    )
    values, warnings = client_environment({}, data(text))
    assert values == {
        "CLOXY_URL": "http://big:9055",
        "CLOXY_API_KEY": "quoted # not a comment",
        "CLOXY_A": "single",
        "CLOXY_B": '"half',
        "CLOXY_C": "a=b",
        "CLOXY_D": "",
        "HF_TOKEN": "t",
        "FASTEMBED_CACHE_PATH": "/models",
    }
    assert warnings == ()


def test_client_env_takes_nothing_foreign_and_no_nonsense(data):
    values, warnings = client_environment(
        {"PATH": "/bin"}, data("PATH=/evil\nLD_PRELOAD=x\nnonsense\n=x\nA B=c\n")
    )
    assert values == {"PATH": "/bin"}
    assert len(warnings) == 5
    assert any("line 3" in warning for warning in warnings)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
@pytest.mark.parametrize(("mode", "warned"), [(0o600, False), (0o640, True), (0o604, True)])
def test_loose_client_env_is_warned_about(data, mode, warned):
    warnings = resolve_client({}, data("CLOXY_API_KEY=k", mode=mode)).warnings
    assert bool(warnings) is warned
    assert all("chmod 600" in warning for warning in warnings)


@pytest.mark.parametrize(
    ("environ", "config", "words"),
    [
        ({"CLOXY_PORT": "x"}, None, "CLOXY_PORT"),
        ({}, "[server]\nport = true", r"port under \[server\] in config\.toml"),
        ({}, "[server]\nport = 70000", r"port under \[server\] in config\.toml"),
        ({}, "[server]\nhost = ['a']", r"host under \[server\] in config\.toml"),
        ({}, "[server", r"config\.toml cannot be read"),
    ],
)
def test_bad_value_names_its_place(data, environ, config, words):
    with pytest.raises(ClientError, match=words):
        resolve_client(environ, data(config=config))


@pytest.mark.parametrize("name", ["client.env", "config.toml"])
def test_unreadable_file_is_told(tmp_path, name):
    (tmp_path / name).mkdir()
    with pytest.raises(ClientError, match=name):
        resolve_client({}, tmp_path)


def test_client_env_that_is_not_text_is_told(data):
    with pytest.raises(ClientError, match=r"client\.env"):
        resolve_client({}, data(b"CLOXY_URL=\xff\xfe"))


def test_data_directory(isolated, tmp_path):
    assert data_directory({}) == isolated / ".cloxy"
    assert data_directory({"CLOXY_DATA_DIR": ""}) == isolated / ".cloxy"
    assert data_directory({"CLOXY_DATA_DIR": "~/m"}) == isolated / "m"
    assert data_directory({"CLOXY_DATA_DIR": str(tmp_path)}) == tmp_path


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ('CLOXY_API_KEY="a key"  # mine', "a key"),
        ("CLOXY_API_KEY='it#s'", "it#s"),
        ("CLOXY_API_KEY=plain # mine", "plain"),
        ("CLOXY_API_KEY=with#inside", "with#inside"),
        ('CLOXY_API_KEY="open', '"open'),
    ],
)
def test_a_comment_behind_a_value_is_no_part_of_it(tmp_path, line, value):
    file = tmp_path / "client.env"
    file.write_text(line + "\n")
    file.chmod(0o600)
    assert client_environment({}, tmp_path)[0]["CLOXY_API_KEY"] == value
