"""What is read of transcripts and of the chats of the command line."""

import json
import os

import pytest
from agents.sources import items, read, texts
from cursor_kit import AT, SPOKEN, TRANSCRIPT, Stores, chat, line, only, query, transcript

from cloxy_hookspecs.logs.addresses import path_of_uri
from cloxy_plugins.cursor.instants import instant_of_words
from cloxy_plugins.cursor.places import folder_of, folder_of_slug
from cloxy_plugins.cursor.protobuf import children
from cloxy_plugins.cursor.roots import agent_folders, user_folders
from cloxy_plugins.cursor.words import answer_of, prompt_of

HOUR = 1_788_854_640_000  # 2026-09-08 08:04 UTC


@pytest.fixture
def stores(tmp_path):
    return Stores(tmp_path, known=["/srv/demo/other", "/srv/demo/harbour"])


def test_a_transcript(stores):
    transcript(stores.cursor)
    result = only(stores.transcripts)
    assert texts(result) == [
        ("user", "Why does the crane overheat?"),
        ("assistant", "It never idles."),
    ]
    first, answer = result.messages
    assert (first.session, first.uid, answer.uid) == ("c1", "1/user", "2/assistant")
    assert (first.author, answer.author) == ("human", "assistant")
    assert [(m.at, m.approximate) for m in result.messages] == [(HOUR, True)] * 2
    facts = result.sessions["c1"]
    assert (facts.cwd, facts.title) == ("/srv/demo/harbour", "Why does the crane overheat?")
    assert not result.unknown
    assert not result.bad_lines


def test_a_transcript_without_times_has_that_of_its_file(stores):
    path = transcript(stores.cursor, data=line("user", "swap the cache"))
    os.utime(path, (1_780_000_000, 1_780_000_000))
    (message,) = only(stores.transcripts).messages
    assert (message.at, message.approximate) == (1_780_000_000_000, True)


def test_a_transcript_that_was_written_anew_keeps_its_ids(stores):
    path = transcript(stores.cursor)
    (before,), _ = items(stores.transcripts)
    said = {message.uid for message in read(stores.transcripts, before).messages}
    path.unlink()
    transcript(stores.cursor, data=TRANSCRIPT + line("user", "more"))
    (after,), _ = items(stores.transcripts)
    assert after.identity == before.identity
    assert after != before
    assert {m.uid for m in read(stores.transcripts, after).messages} == said | {"4/user"}


def test_plain_text(stores):
    data = (
        "user:\n<user_query>\nWhy does\n\nthe crane overheat?\n</user_query>\n\nassistant:\n"
        "[Thinking] SECRET\nTHOUGHTS\n\nIt never idles.\n[Tool call] Grep\n  TOOL INPUT\n\n"
        "[Tool result] Grep\nTOOL OUTPUT\n\nNow it does.\n\nuser:\nthanks\n"
    )
    transcript(stores.cursor, data=data, form="flat")
    result = only(stores.transcripts)
    assert texts(result) == [
        ("user", "Why does\n\nthe crane overheat?"),
        ("assistant", "It never idles.\nNow it does."),
        ("user", "thanks"),
    ]
    # The same conversation as lines is the better one.
    transcript(stores.cursor)
    assert len(only(stores.transcripts).messages) == 2


def test_sub_agents(stores):
    transcript(stores.cursor, "a7", form="child")
    result = only(stores.transcripts)
    facts = result.sessions["c1/a7"]
    assert (facts.parent, facts.relation) == ("c1", "subagent")
    assert {message.author for message in result.messages} == {"subagent"}


def test_lines_of_no_known_form_are_counted(stores):
    lines = [
        "{bad",
        "[1]",
        json.dumps({"type": "brand_new"}),
        json.dumps({"role": "oracle", "message": {}}),
        json.dumps({"role": "system", "message": {"content": "SYSTEM PROMPT"}}),
        json.dumps({"role": "user", "message": {"content": [{"type": "hologram"}, 7]}}),
        json.dumps({"role": "user", "message": {"content": "plain"}}),
        json.dumps({"role": "user", "content": [{"type": "image", "path": "/x/shot.png"}]}),
    ]
    transcript(stores.cursor, data="\n".join(lines) + "\n")
    result = only(stores.transcripts)
    assert texts(result) == [("user", "plain"), ("user", "[image: shot.png]")]
    assert len(result.bad_lines) == 2
    assert result.unknown == {
        "line of type brand_new": 1,
        "line of type oracle": 1,
        "part of type hologram": 1,
        "part of type None": 1,
    }


def test_only_transcripts_are_looked_at(stores):
    path = transcript(stores.cursor)
    folder = path.parent.parent
    for other in (
        folder / "c2" / "other.jsonl",
        folder / ".c3.jsonl",
        folder / "c4.log",
        folder.parent / "terminals" / "1.txt",
        folder.parent / "c5.jsonl",
        stores.cursor / "cli-config.json",
    ):
        other.parent.mkdir(parents=True, exist_ok=True)
        other.write_text(TRANSCRIPT)
    assert [item.uri for item in items(stores.transcripts)[0]] == [str(path)]


def test_of_two_folders_the_newest_is_read(stores):
    old = transcript(stores.cursor, slug="a")
    new = transcript(stores.cursor, slug="srv-demo-harbour")
    os.utime(old, (1_780_000_000, 1_780_000_000))
    assert [item.uri for item in items(stores.transcripts)[0]] == [str(new)]
    assert items(stores.transcripts, old)[0] == []


def test_a_chat_of_the_command_line(stores):
    chat(stores.cursor, *SPOKEN)
    result = only(stores.chats)
    assert texts(result) == [("user", "Why?"), ("assistant", "Because."), ("assistant", "Fixed.")]
    assert {message.session for message in result.messages} == {"chat-1"}
    facts = result.sessions["chat-1"]
    assert (facts.cwd, facts.title) == ("/srv/demo/harbour", "Crane chat")
    assert (result.messages[0].at, result.messages[0].approximate) == (HOUR, True)
    assert not result.unknown
    assert not result.bad_lines


def test_equal_words_of_a_chat_are_two_messages_with_lasting_ids(stores):
    go = {"role": "user", "content": "go on"}
    yes = {"role": "assistant", "content": [{"type": "text", "text": "yes"}]}
    path = chat(stores.cursor, go, yes, go)
    first = [message.uid for message in only(stores.chats).messages]
    assert len(set(first)) == 3
    path.unlink()
    chat(stores.cursor, go, yes, go, yes, meta={"lastUsedModel": "model-x"})
    result = only(stores.chats)
    assert [message.uid for message in result.messages][:3] == first
    assert [message.model for message in result.messages] == [None, "model-x"] * 2
    assert result.messages[0].at == AT


def test_the_folder_of_a_chat_stands_beside_it(stores):
    path = chat(stores.cursor, *SPOKEN, digest="0" * 32)
    assert only(stores.chats).sessions["chat-1"].cwd is None
    path.with_name("meta.json").write_text(json.dumps({"cwd": "/srv/demo/beside"}))
    assert only(stores.chats).sessions["chat-1"].cwd == "/srv/demo/beside"


def test_a_chat_with_a_transcript_is_left_to_it(stores):
    chat(stores.cursor, *SPOKEN)
    transcript(stores.cursor, "chat-1")
    assert items(stores.chats)[0] == []
    assert set(only(stores.transcripts).sessions) == {"chat-1"}


def test_blobs_that_are_gone_and_chats_without_a_beginning(stores):
    path = chat(stores.cursor, *SPOKEN, more=["ab" * 32])
    result = only(stores.chats)
    assert len(result.messages) == 3
    assert result.unknown == {"message that is listed but gone": 1}
    path.unlink()
    chat(stores.cursor, *SPOKEN, meta={"latestRootBlobId": None})
    assert [bad.reason for bad in only(stores.chats).bad_lines] == [
        "the chat does not say where it begins"
    ]


@pytest.mark.parametrize("data", [b"", b"\x0a", b"\x0a\xff", b"\x0b\x00", b"\xff" * 40, b"\x08"])
def test_damaged_lists_of_blobs(data):
    assert children(data) == []


def test_lists_of_blobs():
    name = bytes(range(32))
    data = b"\x08\x05" + b"\x0a\x20" + name + b"\x0a\x03abc" + b"\x15abcd" + b"\x0a\x20" + name
    assert children(data) == [name.hex()] * 2


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("plain <b>words</b>", "plain <b>words</b>"),
        (query("ask"), "ask"),
        ("<user_info>x</user_info>\n<open_files>y</open_files>\nask", "ask"),
        ("<user_info>x</user_info>", ""),
        ("<attached_files>\nx\n</attached_files>\n<user_query>a</user_query>", "a"),
        ("<div>mine</div>", "<div>mine</div>"),
        ("<never_closed> mine", "<never_closed> mine"),
        ("<git_status> cut off", ""),
        ("<open_files>x</open_files><user_query>\nmine", "mine"),
        ("<user_info>x</user_info>\n<any_thing> cut off", ""),
        ("", ""),
    ],
)
def test_words_of_prompts(text, words):
    assert prompt_of(text).text == words


def test_marks_in_answers_are_taken_out():
    assert answer_of("[REDACTED]") == ""
    assert answer_of("a\n\n[REDACTED]\n\nb [REDACTED] c") == "a\n\nb [REDACTED] c"


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("Tuesday, Sep 8, 2026, 10:04 AM (UTC+2)", HOUR),
        ("Tuesday, Sep 8, 2026, 1:34 PM (UTC+5:30)", HOUR),
        ("2026-09-08T08:04:00Z", HOUR),
        ("Sep 8, 2026, 12:04 AM (UTC-8)", HOUR),
        ("Foo 8, 2026, 12:04 AM (UTC)", None),
        ("Sep 80, 2026, 12:04 AM (UTC)", None),
        ("soon", None),
    ],
)
def test_times_in_words(text, moment):
    assert instant_of_words(text) == moment


def test_slugs_stand_for_known_folders_only():
    known = ["/srv/demo/harbour.map", "/srv/demo/other", "/a/b-c", "/a/b/c"]
    assert folder_of_slug("srv-demo-harbour-map", known) == "/srv/demo/harbour.map"
    assert folder_of_slug("srv-demo-unknown", known) is None
    assert folder_of_slug("a-b-c", known) is None


@pytest.mark.parametrize(
    ("address", "path"),
    [
        ("file:///srv/a%20b", "/srv/a b"),
        ("file:///c%3A/Work/demo", r"C:\Work\demo"),
        ("file://server/share/x", r"\\server\share\x"),
        ("vscode-remote://wsl%2Bubuntu/home/pat/", "/home/pat"),
        ("https://x/y", None),
    ],
)
def test_addresses(address, path):
    assert path_of_uri(address) == path
    assert folder_of(json.dumps({"folder": address}).encode()) == path


def test_places(tmp_path):
    environment = {"CURSOR_CONFIG_DIR": "/opt/c", "XDG_CONFIG_HOME": "/opt/x"}
    agents = agent_folders(environment, tmp_path)
    assert [str(each) for each in agents] == ["/opt/c", "/opt/x/cursor", str(tmp_path / ".cursor")]
    assert agent_folders({}, tmp_path) == (tmp_path / ".cursor",)
    for platform, place in (
        ("linux", ".config"),
        ("darwin", "Library/Application Support"),
        ("win32", "AppData/Roaming"),
    ):
        assert user_folders({}, tmp_path, platform)[0] == tmp_path / place / "Cursor" / "User"
    portable = user_folders({"VSCODE_PORTABLE": "/opt/p"}, tmp_path, "linux")
    assert str(portable[0]) == "/opt/p/user-data/User"


@pytest.mark.parametrize(
    "text", ["\n" * 300_000 + "x", "<user_query>" * 30_000, "\n[REDACTED]" * 20_000]
)
def test_words_that_would_be_looked_through_again_and_again(text):
    assert len(answer_of(text)) <= len(text)
    assert len(prompt_of(text).text) <= len(text)
