"""The key of what was forgotten is lost: the server lets nothing forgotten back in by itself."""

import pytest
from process.cli_runner import run_cloxy
from server.live_server import LiveServer, line, write_session

FORGOTTEN = "the quetzal invoice was paid in obsidian coins last winter"
KEPT = "the zebra lantern stands beside the harbour gate at noon"


def ingest(server):
    status, body = server.ask("POST", "/ingest_convos", {})
    return status, body


def found(server, words):
    asked = {"query": words, "mode": "keyword"}
    return server.ask("POST", "/recall", asked)[1]["results"]


def held(server, path="/health"):
    """What a door says of logs that are held back."""
    told = server.ask("GET", path)[1]["warnings"]
    return [words for words in told if words.startswith("session logs are not read in")]


@pytest.fixture
def forgetful(tmp_path):
    """A server that has forgotten a session whose log is still there, stopped."""
    server = LiveServer(tmp_path, CLOXY_EMBED_PROVIDER="none")
    with server:
        write_session(server.logs, "s-one", line("u-1", FORGOTTEN))
        write_session(server.logs, "s-two", line("u-2", KEPT, session="s-two"))
        assert ingest(server)[0] == 200
        status, body = server.ask("POST", "/forget", {"source_prefix": "convo:s-one"})
        assert status == 200, body
        assert not found(server, "quetzal")
    return server


def come_back(server):
    """A copy of the log, as an editor or a backup program makes one."""
    write_session(server.logs, "copied", line("u-1", FORGOTTEN))


def test_without_the_key_no_log_is_read_until_a_person_consents(forgetful):
    (forgetful.data / "tombstones.key").unlink()
    come_back(forgetful)
    hold = forgetful.data / "ingest.hold"
    for _ in range(2):
        with forgetful as server:
            assert "tombstones.key" in held(server)[0]
            status, body = ingest(server)
            assert status >= 500
            assert "forgotten text would come back" in body["error"]["message"]
            assert not found(server, "quetzal")
            assert found(server, "zebra")
            assert held(server) == held(server, "/ingest_status")
            assert len(held(server)) == 1
            done = run_cloxy("status", url=server.url, CLOXY_DATA_DIR=str(server.data))
            assert b"session logs are not read in" in done.stdout
    with forgetful as server:
        hold.unlink()
        assert ingest(server)[0] == 200
        assert found(server, "quetzal")
        assert not held(server)
    with forgetful as server:
        assert not held(server)
        assert not hold.exists()


def test_a_hold_of_a_repair_is_told_at_every_door(forgetful):
    with forgetful as server:
        assert not held(server)
        (server.data / "ingest.hold").write_text("held\n")
        write_session(server.logs, "s-three", line("u-3", "the walrus", session="s-three"))
        assert ingest(server)[0] >= 500
        for path in ("/health", "/ingest_status"):
            (words,) = held(server, path)
            assert "a repair could not save the list" in words
            assert str(server.data / "ingest.hold") in words
        (server.data / "ingest.hold").unlink()
        assert not held(server)
        assert ingest(server)[0] == 200


def test_the_failure_of_the_last_pass_is_told_until_one_succeeds(forgetful):
    database = forgetful.data / "memory.db"
    with forgetful as server:
        database.rename(forgetful.data / "elsewhere.db")
        write_session(server.logs, "s-three", line("u-3", "the walrus", session="s-three"))
        assert ingest(server)[0] >= 500
        told = server.ask("GET", "/health")[1]["warnings"]
        assert any(words.startswith("last error: ") for words in told)
        (forgetful.data / "elsewhere.db").rename(database)
        assert ingest(server)[0] == 200
        told = server.ask("GET", "/health")[1]["warnings"]
        assert not any(words.startswith("last error: ") for words in told)


def test_a_damaged_page_that_a_write_met_is_told(forgetful):
    database = forgetful.data / "memory.db"
    data = bytearray(database.read_bytes())
    # One free page, which the list says is beyond the end of the file.
    data[32:36] = (2**31 - 2).to_bytes(4, "big")
    data[36:40] = (1).to_bytes(4, "big")
    database.write_bytes(data)
    text = " ".join(f"walrus {number}" for number in range(4000))
    with forgetful as server:
        status, body = server.ask("POST", "/ingest_text", {"text": text})
        assert status >= 500
        assert "is damaged" in body["error"]["message"]
        told = server.ask("GET", "/health")[1]["warnings"]
        (words,) = [words for words in told if "damaged page" in words]
        assert "stop Cloxy and run `cloxy doctor --repair`" in words
