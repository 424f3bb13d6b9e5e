"""Words of passages whose keyword entry was made anew before anything was forgotten."""

import pytest
from forgetting.canaries import holders
from server.live_server import line, write_session


def say(server, *numbers, session="s-one"):
    """Grow a session; what was its last message gets an entry that tells what came after it."""
    write_session(
        server.logs,
        session,
        *(
            line(f"{session}-{n}", f"wolkenkuckuck{n}x of {session} " * 3, session=session)
            for n in numbers
        ),
    )
    assert server.ask("POST", "/ingest_convos", {})[0] == 200


@pytest.mark.parametrize("first", ["note", "session"])
def test_an_entry_that_was_made_anew_leaves_no_word(live, first):
    say(live, 0)
    say(live, 1)
    say(live, *range(2, 30))
    say(live, 30)
    say(live, 31, 32)
    # From the first time on that something is forgotten, the index erases at once.
    if first == "note":
        note = live.ask("POST", "/ingest_text", {"text": "a note of no consequence"})[1]
        assert live.ask("DELETE", f"/memory/{note['ids'][0]}")[0] == 200
    else:
        say(live, 0, 1, session="s-two")
        say(live, 2, session="s-two")
        assert live.ask("POST", "/forget", {"session": "s-two"})[0] == 200
    say(live, 33)
    status, reply = live.ask("POST", "/forget", {"session": "s-one"})
    assert (status, reply["messages"], reply["pending"]) == (200, 34, False)
    words = [f"wolkenkuckuck{n}x" for n in range(34)]
    assert holders(live.data, ["wolkenkuckuck", *words]) == {}
