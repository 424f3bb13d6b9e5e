"""What commands send to whom: nothing private before the server has shown whose it is."""

import json
import re
import threading

import pytest
from process.cli_runner import run_cloxy
from process.stub_server import StubServer

from cloxy_core import identity
from cloxy_core.client import Client
from cloxy_core.client.ports import free_port_after
from cloxy_core.client_config import ClientConfig, ClientError, is_loopback, resolve_client
from cloxy_core.escaping import UNSAFE

KEY = "key-of-the-data-directory-0123456789"
PATIENCE = 30
EMPTY = {"results": [], "query": "x", "mode": "keyword", "searched": 0, "channels": [], "notes": []}


@pytest.fixture
def answering(stub):
    stub.answer("POST", "/recall", EMPTY)
    return stub


def recall(stub, **environment):
    return run_cloxy("recall", "secret words", url=stub.url, **environment)


def test_question_goes_over_the_connection_that_was_checked(answering):
    connections = set()
    reply = answering.answers["POST", "/recall"]

    def note(handler):
        connections.add(handler.client_address)
        reply(handler)

    answering.behave("POST", "/recall", note)
    assert recall(answering).returncode == 0
    assert len(answering.challenges) == 1
    assert len(connections) == 1
    assert "X-API-Key" not in answering.challenges[0]


def test_key_of_the_data_directory_goes_to_its_own_server(answering, data_dir):
    identity.write_private(data_dir / identity.KEY_FILE, KEY + "\n")
    assert recall(answering).returncode == 0
    assert answering.asked[0][2]["X-API-Key"] == KEY
    assert KEY not in json.dumps(answering.challenges)


def test_key_that_was_set_goes_before_that_of_the_data_directory(answering, data_dir):
    identity.write_private(data_dir / identity.KEY_FILE, KEY)
    assert recall(answering, CLOXY_API_KEY="another").returncode == 0
    assert answering.asked[0][2]["X-API-Key"] == "another"


def test_key_of_the_data_directory_goes_to_no_unchecked_server(answering, data_dir):
    identity.write_private(data_dir / identity.KEY_FILE, KEY)
    assert recall(answering, CLOXY_VERIFY_SERVER="0").returncode == 0
    assert "X-API-Key" not in answering.asked[0][2]
    assert answering.challenges == []


@pytest.mark.parametrize("token", [None, "0" * 64, "cut short"])
def test_server_that_is_not_ours_gets_nothing(answering, data_dir, token):
    file = data_dir / identity.TOKEN_FILE
    file.unlink()
    if token is not None:
        identity.write_private(file, token)
    run = recall(answering, CLOXY_API_KEY="hush-hush")
    assert run.returncode == 1
    said = run.stderr.decode()
    assert "nothing was sent" in said
    assert "CLOXY_DATA_DIR" in said
    assert "CLOXY_VERIFY_SERVER=0" in said
    assert answering.asked == []
    assert "hush-hush" not in json.dumps(answering.challenges)


def test_answer_to_another_port_is_no_proof(answering, monkeypatch):
    """Who passes the question on to the real server gets an answer that does not fit here."""
    real = identity.proof
    monkeypatch.setattr(identity, "proof", lambda t, n, place: real(t, n, (place[0], 9055)))
    assert b"nothing was sent" in recall(answering).stderr
    assert answering.asked == []


def test_answer_to_an_earlier_question_is_no_proof(answering, monkeypatch):
    real = identity.proof
    monkeypatch.setattr(identity, "proof", lambda t, _n, place: real(t, "0" * 64, place))
    assert b"nothing was sent" in recall(answering).stderr
    assert answering.asked == []


@pytest.mark.parametrize(
    ("status", "body"),
    [(404, b"nothing here"), (200, b"{}"), (200, b"[]"), (200, b'{"service": "x"}'),
     (200, b"x" * 100_000), (500, b"{}")],
)  # fmt: skip
def test_program_that_is_no_cloxy(data_dir, status, body):
    def reply(handler):
        handler.reply(status, body)

    with StubServer().running() as other:
        other.answers = _Everything(reply)
        run = recall(other)
        assert run.returncode == 1
        assert "is not a Cloxy server of this data directory" in run.stderr.decode()
        assert {method for method, _, _, _ in other.asked} == {"GET"}


@pytest.mark.parametrize("begins", [b"", b"HTTP/1.1 200 OK\r\nX: ", b"HTTP/1.1 200 OK\r\n\r\n{"])
def test_program_that_never_comes_to_an_end_is_left(data_dir, begins):
    """Every byte begins the time limit of a socket anew."""

    def drip(handler):
        handler.close_connection = True
        handler.wfile.write(begins)
        while begins and not other.released.wait(0.02):
            handler.wfile.write(b"x")
        other.released.wait(PATIENCE)

    refused = []

    def ask():
        config = ClientConfig(other.url, data_dir=data_dir)
        with pytest.raises(ClientError) as error:
            Client(config).request("POST", "/recall", {}, seconds=0.5)
        refused.append(error.value)

    with StubServer().running() as other:
        other.answers = _Everything(drip)
        asking = threading.Thread(target=ask, daemon=True)
        asking.start()
        asking.join(PATIENCE / 2)
        other.released.set()
    (error,) = refused
    assert error.code == "timeout"
    assert "within 0.5 seconds who it is" in error.message


def test_what_a_foreign_server_says_of_itself_is_not_repeated(data_dir):
    for told in ("6\x1b[31m", "6\u202e", ["6"], {}, "x" * 500, ""):
        with StubServer().running() as other:
            identified = {"service": "cloxy", "version": told, "proof": "0" * 64}
            other.answers = _Everything(
                lambda handler, said=identified: handler.reply(200, json.dumps(said).encode())
            )
            config = ClientConfig(other.url, data_dir=data_dir)
            with pytest.raises(ClientError) as error:
                Client(config).request("POST", "/recall", {})
        assert "(of unknown version)" in error.value.message
        assert not re.search(f"[{UNSAFE}]", error.value.message)


class _Everything(dict):
    def __init__(self, behaviour):
        super().__init__()
        self._behaviour = behaviour

    def get(self, _key, _default=None):
        return self._behaviour


def test_older_cloxy_is_told_by_its_version(data_dir):
    with StubServer().running() as old:
        old.answer("GET", "/health", {"status": "OK", "service": "cloxy", "version": "5.1.0"})
        old.answer("POST", "/recall", EMPTY)
        run = recall(old)
    assert run.returncode == 1
    assert "an older Cloxy (5.1.0) runs at" in run.stderr.decode()
    assert all(method == "GET" for method, _, _, _ in old.asked)


def test_owner_is_shown_only_where_it_is_asked_for(stub, data_dir):
    stub.answer("POST", "/shutdown", {"status": "stopping"}, status=202)
    config = ClientConfig(stub.url, data_dir=data_dir)
    Client(config).request("POST", "/shutdown", as_owner=True)
    Client(config).request("POST", "/shutdown")
    Client(ClientConfig(stub.url)).request("POST", "/shutdown", as_owner=True)
    shown = [headers.get(identity.OWNER_HEADER) for _, _, headers, _ in stub.asked]
    assert shown == [stub.token, None, None]


def test_connection_that_ends_with_the_proof_is_not_opened_again(answering):
    def identify_and_close(handler):
        nonce = handler.path.partition("=")[2]
        shown = identity.proof(answering.token, nonce, handler.connection.getsockname()[:2])
        body = json.dumps({"service": "cloxy", "version": "6", "proof": shown}).encode()
        handler.close_connection = True
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\n")
        handler.wfile.write(b"Content-Type: application/json\r\n\r\n" + body)

    with StubServer().running() as server:
        server.answers = _Everything(identify_and_close)
        run = recall(server)
    assert run.returncode == 1
    assert b"closed the connection after its proof" in run.stderr
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("url", "local"),
    [
        ("http://127.0.0.1:9055", True),
        ("http://127.8.9.1:1", True),
        ("http://localhost", True),
        ("https://LOCALHOST.:1", True),
        ("http://[::1]:9055", True),
        ("http://[::ffff:127.0.0.1]:9055", True),
        ("http://10.0.0.7:9055", False),
        ("http://[fe80::1]:9055", False),
        ("http://localhost.example:9055", False),
        ("http://memory.example", False),
    ],
)
def test_only_addresses_of_this_machine_are_checked(tmp_path, url, local):
    assert is_loopback(url) is local
    config = resolve_client({"CLOXY_URL": url}, tmp_path)
    assert config.data_dir == (tmp_path if local else None)
    assert config.autostart is local


def test_checking_can_be_switched_off(tmp_path):
    config = resolve_client({"CLOXY_VERIFY_SERVER": "off"}, tmp_path)
    assert (config.data_dir, config.autostart) == (None, False)
    (tmp_path / "config.toml").write_text("[server]\nverify_server = false\n", encoding="utf-8")
    assert resolve_client({}, tmp_path).data_dir is None


def test_token_that_cannot_be_read_is_named(answering, data_dir):
    file = data_dir / identity.TOKEN_FILE
    file.unlink()
    file.mkdir()
    with pytest.raises(ClientError, match=r"owner\.token cannot be read"):
        Client(ClientConfig(answering.url, data_dir=data_dir)).request("POST", "/recall", {})


def test_free_port_is_free(stub):
    assert free_port_after(stub.port - 1) != stub.port
    assert free_port_after(65_535) is None
