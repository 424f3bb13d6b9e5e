"""The data directory turns read-only, or is moved away, while the server runs."""

import subprocess

import pytest
from server.live_server import LiveServer, line, write_session


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """One server for all; each test leaves it as it was."""
    with LiveServer(tmp_path_factory.mktemp("lost")) as server:
        write_session(server.logs, "s-one", line("u-1", "the zebra lantern of before"))
        assert server.ask("POST", "/ingest_convos", {})[0] == 200
        yield server


def remember(server, text):
    return server.ask("POST", "/ingest_text", {"text": text})


def found(server, words):
    # By their letters: there is hardly an animal that is not like another in meaning.
    asked = {"query": words, "mode": "keyword"}
    return server.ask("POST", "/recall", asked)[1]["results"]


def health(server):
    status, body = server.ask("GET", "/health")
    assert status == 200
    return body


def troubles(server):
    """Warnings about the place of the database; there may be others, of the machine.

    That the last pass failed is told until the next one succeeds.
    """
    return [
        words
        for words in health(server)["warnings"]
        if str(server.data) in words and not words.startswith("last error: ")
    ]


def test_moved_away_nothing_is_stored_where_nobody_looks_and_back_it_goes_on(filled):
    assert remember(filled, "acknowledged walrus")[0] == 200
    elsewhere = filled.data.with_name("elsewhere")
    filled.data.rename(elsewhere)
    write_session(filled.logs, "s-new", line("u-3", "appended tapir", session="s-new"))
    for path, body in (
        ("/ingest_text", {"text": "lost ocelot"}),
        ("/recall", {"query": "zebra"}),
        ("/ingest_convos", {}),
    ):
        status, answer = filled.ask("POST", path, body)
        assert status >= 500, path
        assert str(filled.data) in answer["error"]["message"], path
        assert answer["error"]["code"] == "store"
    told = health(filled)
    assert told["status"] == "ERROR"
    assert "not at" in told["cause"]
    assert "put it back" in troubles(filled)[0]
    elsewhere.rename(filled.data)
    assert health(filled)["status"] == "OK"
    assert not troubles(filled)
    assert remember(filled, "new badger")[0] == 200
    assert found(filled, "walrus")
    assert found(filled, "badger")
    assert filled.ask("POST", "/ingest_convos", {})[0] == 200
    assert found(filled, "tapir")
    assert not found(filled, "ocelot")


def test_another_folder_in_its_place_is_not_taken_for_it(filled):
    elsewhere = filled.data.with_name("elsewhere")
    filled.data.rename(elsewhere)
    filled.data.mkdir()
    (filled.data / "memory.db").write_bytes(b"")
    assert "another file took the place" in remember(filled, "x")[1]["error"]["message"]
    assert (filled.data / "memory.db").stat().st_size == 0
    (filled.data / "memory.db").unlink()
    filled.data.rmdir()
    elsewhere.rename(filled.data)
    assert remember(filled, "new badger")[0] == 200


@pytest.fixture
def read_only(filled):
    """Makes the database unwritable even for who has it open, and writable again."""
    # Not the memory map beside them: a first write to that would be a signal, not an error.
    files = [filled.data / "memory.db", filled.data / "memory.db-wal"]

    def switch(to):
        return subprocess.run(["chattr", to, *files], capture_output=True).returncode == 0

    try:
        if not switch("+i"):
            pytest.skip(
                "files cannot be made immutable here (that takes root and ext4 or the like)"
            )
        switch("-i")
    except FileNotFoundError:
        pytest.skip("there is no chattr here")
    yield switch
    switch("-i")


def test_read_only_it_answers_and_says_so_and_writable_it_goes_on(filled, read_only):
    assert remember(filled, "acknowledged walrus")[0] == 200
    read_only("+i")
    status, answer = remember(filled, "refused ocelot")
    assert status >= 500
    assert "cannot be written" in answer["error"]["message"]
    write_session(filled.logs, "s-two", line("u-2", "written during it: quokka", session="s-two"))
    assert filled.ask("POST", "/ingest_convos", {})[0] >= 500
    assert found(filled, "walrus")
    assert "cannot be written" in troubles(filled)[0]
    read_only("-i")
    assert not troubles(filled)
    assert remember(filled, "new badger")[0] == 200
    assert filled.ask("POST", "/ingest_convos", {})[0] == 200
    for word in ("walrus", "badger", "quokka", "zebra"):
        assert found(filled, word), word
    assert not found(filled, "ocelot")
