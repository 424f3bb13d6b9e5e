"""Who the server is, who owns its data, and what only the owner may do."""

import json
from urllib.parse import urlsplit

import pytest
from process.cli_runner import run_cloxy
from server.every_place import attacked
from server.live_server import PATIENCE, LiveServer, line

from cloxy_core import identity

KEY = "another-Key-of-32-Characters-8765"
NONCE = "5a" * 32
QUIET = {"CLOXY_EMBED_PROVIDER": "none"}


@pytest.fixture
def unlocked(tmp_path):
    with LiveServer(tmp_path / "one", **QUIET) as server:
        yield server


@pytest.fixture
def keyed(tmp_path):
    with LiveServer(tmp_path / "one", **QUIET, CLOXY_API_KEY=KEY) as server:
        yield server


@pytest.fixture
def outside(tmp_path):
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    (folder / "old.jsonl").write_text(line("u-1", "the lighthouse needs paint", session="old"))
    return folder


def token_of(server):
    return {identity.OWNER_HEADER: identity.read_token(server.data)}


def ended(server):
    """The exit code of a server that was told to end."""
    return server.process.wait(PATIENCE)


def test_the_token_is_made_once_and_is_private(unlocked):
    file = unlocked.data / identity.TOKEN_FILE
    token = file.read_text()
    assert file.stat().st_mode & 0o777 == 0o600
    unlocked.stop()
    unlocked.start()
    assert file.read_text() == token


def test_the_server_proves_that_it_knows_the_token(unlocked):
    status, answer = unlocked.ask("GET", f"/identity?nonce={NONCE}")
    assert status == 200
    assert sorted(answer) == ["proof", "service", "version"]
    place = ("127.0.0.1", urlsplit(unlocked.url).port)
    token = identity.read_token(unlocked.data)
    assert identity.is_proof(answer["proof"], token, NONCE, place)
    assert token not in json.dumps(answer)
    for other in (("127.0.0.1", place[1] + 1), ("::1", place[1])):
        assert not identity.is_proof(answer["proof"], token, NONCE, other)
    assert not identity.is_proof(answer["proof"], token, "6b" * 32, place)
    assert not identity.is_proof(answer["proof"], "0" * 64, NONCE, place)


def test_a_proof_from_one_address_is_none_at_another():
    """Whoever takes [::1] beside our 127.0.0.1 cannot pass a question on and use the answer."""
    token = "7c" * 32

    def shown(host, port=9055):
        return identity.proof(token, NONCE, (host, port))

    assert len({shown("127.0.0.1"), shown("::1"), shown("127.0.0.2"), shown("::1", 9056)}) == 4
    # Two names of one address, as the two ends of one connection may see it.
    assert shown("::ffff:127.0.0.1") == shown("127.0.0.1")
    assert shown("fe80::1%eth0") == shown("fe80::1")


@pytest.mark.parametrize(
    "query",
    [
        "",
        "?nonce=",
        "?nonce=abc",
        f"?nonce={'A' * 64}",
        f"?nonce={'a' * 31}",
        f"?nonce={'a' * 129}",
        f"?nonce={NONCE}&nonce={NONCE}",
        f"?nonce={NONCE}&more=1",
        f"?nonce={NONCE}%0a",
        f"?challenge={NONCE}",
    ],
)
def test_a_question_must_be_a_nonce(unlocked, query):
    status, answer = unlocked.ask("GET", f"/identity{query}")
    assert status == 422
    assert answer["error"]["hint"]


@pytest.mark.parametrize("owner", ["token", "key", "both"])
def test_the_owner_can_end_the_server(keyed, owner):
    headers = {} if owner == "key" else token_of(keyed)
    headers |= {} if owner == "token" else {"X-API-Key": KEY}
    assert keyed.ask("POST", "/shutdown", {}, headers) == (202, {"status": "stopping"})
    assert ended(keyed) == 0


def test_nobody_else_can(unlocked):
    for headers in (
        {},
        {identity.OWNER_HEADER: ""},
        {identity.OWNER_HEADER: "0" * 64},
        {identity.OWNER_HEADER: "\xe9" * 64},
        {identity.OWNER_HEADER: token_of(unlocked)[identity.OWNER_HEADER][:-1]},
        {"X-API-Key": token_of(unlocked)[identity.OWNER_HEADER]},
    ):
        status, answer = unlocked.ask("POST", "/shutdown", {}, headers)
        assert (status, answer["error"]["code"]) == (403, "owner_only")
    assert unlocked.process.poll() is None
    assert unlocked.ask("POST", "/shutdown", {}, token_of(unlocked))[0] == 202
    assert ended(unlocked) == 0


def test_a_wrong_token_spoils_the_right_key(keyed):
    wrong = {identity.OWNER_HEADER: "0" * 64, "X-API-Key": KEY}
    assert keyed.ask("POST", "/shutdown", {}, wrong)[0] == 403
    two = [("X-API-Key", KEY), *token_of(keyed).items(), (identity.OWNER_HEADER, "0" * 64)]
    assert attacked(keyed).request("POST", "/shutdown", two).status == 403
    assert keyed.process.poll() is None


def test_a_page_cannot_end_it_even_with_the_token(unlocked):
    for headers in ({"Origin": "http://x.example"}, {"Sec-Fetch-Site": "cross-site"}):
        assert unlocked.ask("POST", "/shutdown", {}, {**token_of(unlocked), **headers})[0] == 403
    assert unlocked.process.poll() is None


def test_the_token_is_no_key(keyed):
    assert keyed.ask("GET", "/projects", None, token_of(keyed))[0] == 401


def test_a_folder_elsewhere_is_read_for_the_owner_alone(unlocked, outside):
    asked = {"convo_dir": str(outside)}
    for headers in ({}, {identity.OWNER_HEADER: "0" * 64}, {"X-API-Key": "whatever"}):
        status, answer = unlocked.ask("POST", "/ingest_convos", asked, headers)
        assert status == 400
        assert "cloxy ingest DIR" in answer["error"]["hint"]
    status, answer = unlocked.ask("POST", "/ingest_convos", asked, token_of(unlocked))
    assert (status, answer["messages_added"]) == (200, 1)


def test_the_body_cannot_say_who_the_owner_is(unlocked, outside):
    for name in ("anywhere", "owner", "authenticated"):
        asked = {"convo_dir": str(outside), name: True}
        assert unlocked.ask("POST", f"/ingest_convos?{name}=true", asked)[0] in (400, 422)


def test_where_a_key_is_set_it_proves_the_owner(keyed, outside):
    asked = {"convo_dir": str(outside)}
    assert keyed.ask("POST", "/ingest_convos", asked, token_of(keyed))[0] == 401
    status, answer = keyed.ask("POST", "/ingest_convos", asked, {"X-API-Key": KEY})
    assert (status, answer["messages_added"]) == (200, 1)


@pytest.mark.parametrize("key", [None, "made", "set"])
def test_the_command_has_any_folder_read(tmp_path, outside, key):
    server = LiveServer(tmp_path / "one", **QUIET)
    environment = {"CLOXY_DATA_DIR": str(server.data)}
    if key == "made":
        assert run_cloxy("key", "create", **environment).returncode == 0
    elif key == "set":
        server.settings["CLOXY_API_KEY"] = environment["CLOXY_API_KEY"] = KEY
    with server:
        run = run_cloxy("ingest", str(outside), "--json", url=server.url, **environment)
        assert run.returncode == 0, run.stderr
        assert json.loads(run.stdout)["messages_added"] == 1
        found = run_cloxy("recall", "lighthouse", url=server.url, **environment)
        assert b"needs paint" in found.stdout
        if key:
            assert server.ask("GET", "/projects")[0] == 401
            assert server.ask("GET", "/health")[1].keys() == {"status", "service", "version"}


def test_the_command_of_another_data_directory_sends_nothing(unlocked, outside, tmp_path):
    other = tmp_path / "other"
    run = run_cloxy("ingest", str(outside), url=unlocked.url, CLOXY_DATA_DIR=str(other))
    assert run.returncode != 0
    assert b"nothing was sent" in run.stderr
    assert unlocked.ask("GET", "/memory_stats")[1]["total_memories"] == 0


def test_a_new_key_is_used_after_a_restart(tmp_path):
    server = LiveServer(tmp_path / "one", **QUIET)
    environment = {"CLOXY_DATA_DIR": str(server.data)}
    with server:
        assert server.ask("GET", "/health")[1]["auth"] == "disabled"
        run_cloxy("key", "create", **environment)
        assert server.ask("GET", "/projects")[0] == 200
        server.stop()
        server.start()
        assert server.ask("GET", "/projects")[0] == 401
        key = identity.read_key(server.data)
        assert server.ask("GET", "/projects", None, {"Authorization": f"Bearer {key}"})[0] == 200
        run_cloxy("key", "remove", **environment)
        server.stop()
        server.start()
        assert server.ask("GET", "/projects")[0] == 200


@pytest.mark.parametrize("broken", ["folder", "link"])
def test_a_token_that_cannot_be_read_ends_the_start_in_words(tmp_path, broken):
    data = tmp_path / "data"
    data.mkdir(mode=0o700)
    if broken == "folder":
        (data / identity.TOKEN_FILE).mkdir()
    else:
        (data / identity.TOKEN_FILE).symlink_to(tmp_path / "elsewhere")
    run = run_cloxy("start", "--port", "0", CLOXY_DATA_DIR=str(data), **QUIET)
    assert run.returncode == 1
    assert b"owner.token" in run.stderr
    assert b"Traceback" not in run.stderr


def test_head_tells_whether_it_lives(unlocked):
    server = attacked(unlocked)
    answer = server.request("HEAD", "/health")
    assert (answer.status, answer.body) == (200, b"")
    assert int(answer.headers["content-length"]) > 0
