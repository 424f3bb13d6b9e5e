"""What must never be stored: secrets, private parts, our own recalled text."""

import pytest
from ingest_support import append
from session_lines import line, lines, said, title, turns

from cloxy_core.services.echo import fence

# Put together here, so that no scanner takes this file for a leak.
TOKEN = "ghp_" + "k3JdPq9ZxW" * 3 + "aB7cD2"
KEY = "sk-ant-api03-" + "Zq8Xw2Lp5Vn" * 8 + "-AbCdEfAA"
PASSWORD = "correct-" + "H0rse!batt3ry"


def test_secrets_are_in_no_byte_of_the_data_directory(server):
    records = [
        said(f"my token is {TOKEN} keep it", "m0", gitBranch=f"fix/{TOKEN}"),
        said(f"ok, {KEY}", "m1", role="assistant", cwd=f"/srv/{TOKEN}/app"),
        said(f"postgres://pat:{PASSWORD}@db.invalid/x", "m2"),
    ]
    server.write(
        lines(*records, title(f"About {TOKEN}"), title(f"Custom {KEY}", kind="agent-name"))
    )
    server.write(
        lines(said(f"{TOKEN} starts here", session="s2"), *turns(3, session="s2")), "b.jsonl"
    )
    server.ingest()
    server.remember(f"a note with {TOKEN}")
    server.recall(f"what is {TOKEN}")
    assert server.holders(TOKEN, KEY, PASSWORD, TOKEN[:20], KEY[:40]) == []
    assert server.value("SELECT count(*) FROM memories WHERE content LIKE '%[REDACTED:%'") >= 3
    assert "keep it" in dict(server.messages())["m0"]
    server.check()
    server.stop()
    assert server.holders(TOKEN, KEY, PASSWORD, TOKEN[:20], KEY[:40]) == []
    server.start()


@pytest.mark.parametrize("lead", range(0, 90, 6))
def test_a_secret_that_a_title_cuts_in_two_does_not_survive_in_it(server, lead):
    text = "w" * lead + " " + KEY + " and more words that make a long first line"
    server.write(lines(said(text.strip(), "m0"), *turns(2)))
    server.ingest()
    server.stop()
    assert server.holders(KEY, KEY[:24], KEY[:36]) == []
    server.start()


def test_a_secret_torn_between_two_appends_is_redacted(server):
    data = line(said(f"my token is {TOKEN} keep it", "m0"))
    place = data.index(TOKEN.encode())
    for cut in range(place, place + len(TOKEN), 8):
        path = server.write(data[:cut], f"{cut}.jsonl")
        server.ingest()
        append(path, data[cut:])
        server.ingest()
    server.stop()
    assert server.holders(TOKEN, TOKEN[:16]) == []
    server.start()


def test_private_parts_are_never_stored(server):
    records = [
        said("before <private>hushword one</private> after", "m0"),
        said("<PRIVATE>hushword two", "m1"),
        said("<private>hushword <private>nested</private> three</private> end", "m2"),
        said("<private>hushword alone</private>", "m3"),
        said("open words in the end", "m4"),
    ]
    server.write(lines(*records))
    server.write(
        lines(said("a" * 70 + " <private>hushword in a title</private> x", session="s2")), "b.jsonl"
    )
    server.ingest()
    assert [uid for uid, _text in server.messages()] == ["m0", "m2", "m4"]
    assert server.holders("hushword") == []
    server.check()


def test_our_own_recalled_text_is_never_stored(server):
    server.write(lines(said("the staging port is eightfourfourthree", "m0")))
    server.ingest()
    echo = fence("the staging port is eightfourfourthree")
    server.write(
        lines(
            said(echo, "e0", session="s2"),
            said(f"so it is: {echo} I said", "e1", session="s2", role="assistant"),
        ),
        "b.jsonl",
    )
    server.ingest()
    assert server.messages("s2") == [("e1", "so it is:  I said")]
    assert server.title("s2") is None
    assert server.value("SELECT count(*) FROM passages WHERE message_uid = 'e0'") == 0
    assert len(server.recall("staging port eightfourfourthree", top_k=10)) == 1
    server.check()


def test_a_recorded_title_keeps_nothing_of_our_own_text(server):
    path = server.write(lines(*turns(2), title(f"About it {fence('eightfourfour')}")))
    server.ingest()
    assert server.title() == "About it"
    append(path, line(title("<private>hushword</private>", kind="custom-title")))
    server.ingest()
    assert server.title() == "About it"
    server.check()


def test_what_is_no_secret_is_kept_to_the_letter(server):
    text = (
        "commit 3f2a9c1be0d4f5a6b7c8d9e0f1a2b3c4d5e6f708  \n\n\ttabs, trailing spaces   \n"
        "e\u0301 vs \u00e9, \u200bzero width, ﬁ ligature, “quotes”, \r\n line ends"
    )
    server.write(lines(said(text, "m0")))
    server.ingest()
    assert server.messages() == [("m0", text)]
    server.check()


def test_a_message_that_cannot_be_cleaned_is_left_out_and_counted(server, monkeypatch):
    from cloxy_core.services.ingest import cleaning

    original = cleaning.clean

    def stumbling(text):
        if "poisonword" in text:
            raise RecursionError
        return original(text)

    monkeypatch.setattr(cleaning, "clean", stumbling)
    server.write(lines(said("poisonword first", "p"), *turns(2)))
    assert server.ingest().bad_lines == 1
    assert [uid for uid, _text in server.messages()] == ["s1-turn-0", "s1-turn-1"]
    assert server.holders("poisonword") == []
    server.check()
