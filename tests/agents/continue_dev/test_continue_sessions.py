"""What is read of Continue's sessions."""

import os
from pathlib import Path

import pytest
from agents.sources import items, read, texts
from continue_kit import (
    BEGUN,
    CHAT,
    HISTORY,
    WRITTEN,
    Home,
    assistant,
    code,
    editor,
    mention,
    only,
    paragraph,
    user,
)

from cloxy_plugins.continue_dev.places import global_folder, path_of
from cloxy_plugins.continue_dev.words import MARGIN, answer_of

BODY = "def lift(self):\n    return self.hook.raise_to(self.top)\n" * 40


@pytest.fixture
def home(tmp_path):
    return Home(tmp_path / "global")


def test_a_session(home):
    home.write()
    result = only(home)
    assert texts(result) == CHAT
    prompt, answer = result.messages[:2]
    assert (prompt.author, answer.author) == ("human", "assistant")
    assert (prompt.model, answer.model) == (None, "model-x")
    assert answer.uid == "a1"
    facts = result.sessions["s1"]
    assert (facts.title, facts.cwd, facts.parent) == ("Crane", "/srv/demo/harbour", None)
    assert not result.unknown
    assert not result.bad_lines
    text = repr(result)
    for noise in ("TOOL", "SECRET", "FULL PROMPT"):
        assert noise not in text


@pytest.mark.parametrize("date", [str(BEGUN), BEGUN, "2025-05-04T13:12:50.610Z"])
def test_the_list_says_when_a_session_was_begun_and_the_file_when_the_last_turn_was(home, date):
    path = home.write()
    home.list({"sessionId": "s1", "dateCreated": date}, {"sessionId": "s2", "dateCreated": "1"})
    os.utime(path, (WRITTEN / 1000, WRITTEN / 1000))
    messages = only(home).messages
    assert [message.at for message in messages] == [BEGUN, BEGUN, WRITTEN, WRITTEN]
    assert all(message.approximate for message in messages)


def test_without_a_date_the_time_of_the_file_is_taken(home):
    path = home.write(listed=False)
    os.utime(path, (WRITTEN / 1000, WRITTEN / 1000))
    assert {message.at for message in only(home).messages} == {WRITTEN}
    for broken in (b"[{", b"7", b"{}", b'[null, {"sessionId": 7}, {"sessionId": "s1"}]', b"\xff"):
        (home.sessions / "sessions.json").write_bytes(broken)
        assert {message.at for message in only(home).messages} == {WRITTEN}
    (home.sessions / "sessions.json").unlink()
    home.list({"sessionId": "s1", "dateCreated": "soon"})
    assert {message.at for message in only(home).messages} == {WRITTEN}


def test_a_file_that_is_older_than_its_session_does_not_turn_time_around(home):
    path = home.write()
    os.utime(path, (BEGUN / 1000 - 9000, BEGUN / 1000 - 9000))
    assert {message.at for message in only(home).messages} == {BEGUN}


def test_the_list_is_read_anew_when_it_changes(home):
    path = home.write()
    home.write([user("Other")], "s2")
    (item,) = items(home.source, path)[0]
    assert read(home.source, item).messages[0].at == BEGUN
    home.list({"sessionId": "s1", "dateCreated": str(BEGUN + 5000)})
    (item,) = items(home.source, path)[0]
    assert read(home.source, item).messages[0].at == BEGUN + 5000


def test_entries_without_a_file_and_files_without_an_entry(home):
    home.write(listed=False)
    home.list({"sessionId": "gone", "dateCreated": str(BEGUN), "title": "Gone"})
    assert texts(only(home)) == CHAT


def test_sessions_without_a_word_are_left_out(home):
    home.write([])
    home.write([user("")], "s2")
    home.write([user([]), assistant("")], "s3")
    found, failures = items(home.source)
    assert len(found) == 3
    assert failures == []
    for item in found:
        result = read(home.source, item)
        assert (result.messages, result.sessions, result.bad_lines) == ([], {}, [])
        assert result.silent


def test_context_that_was_put_into_a_prompt_is_left_out(home):
    typed = editor(paragraph("Why does ", mention("crane.py"), " overheat?"), "And the hook?")
    words = "Why does crane.py overheat?\nAnd the hook?"
    home.write([
        user(f"```python crane.py\n{BODY}\n```\n\n{words}", editorState=typed),
        user(words, editorState=typed),
        user(f"{words} {'x' * (MARGIN - 10)}", editorState=typed),
    ])  # fmt: skip
    prompts = [message.text for message in only(home).messages]
    # A prompt is taken as it is unless it is far longer than what was typed.
    assert prompts == [words, words, f"{words} {'x' * (MARGIN - 10)}"]


def test_a_short_body_is_known_by_the_context_that_came_with_the_prompt(home):
    body = "limit = 7  # degrees below the top"
    item = {"name": "crane.py (7-7)", "content": body, "description": "crane.py"}
    typed = editor(code("crane.py (7-7)", body), "Is this right?")
    text = f"\n\n```py crane.py (7-7)\n{body}\n```\nIs this right?"
    home.write([
        user(text, editorState=typed, contextItems=[item, None, {"content": 7}]),
        # What a person typed themselves is theirs, whatever else has it too.
        user(f"{body} is wrong", editorState=editor(f"{body} is wrong"), contextItems=[item]),
    ])  # fmt: skip
    assert [message.text for message in only(home).messages] == [
        "Is this right?",
        f"{body} is wrong",
    ]


def test_a_prompt_of_code_alone_is_told_by_its_name(home):
    home.write([user(f"```py\n{BODY}```", editorState=editor(code("crane.py (1-80)", BODY)))])
    assert [message.text for message in only(home).messages] == ["[file: crane.py (1-80)]"]


def test_commands_stand_as_they_were_typed(home):
    command = {"type": "slashcommand", "attrs": {"id": "review", "label": "/review"}}
    block = {"type": "prompt-block", "attrs": {"item": {"name": "review", "content": BODY}}}
    home.write([
        user("/review the crane"),
        user(BODY, editorState=editor(paragraph(command, "the crane"))),
        user(BODY, editorState=editor(block, "the crane")),
        user(BODY, editorState=editor(paragraph(mention("docs", renderInlineAs=""), "why?"))),
    ])  # fmt: skip
    assert [message.text for message in only(home).messages] == [
        "/review the crane",
        "/review the crane",
        "/review the crane",
        "why?",
    ]


def test_an_editor_that_says_nothing_leaves_the_prompt_as_it_is(home):
    states = [None, "text", [], {}, {"content": 7}, editor(), editor({"type": "hologram"}), {
        "type": "doc", "content": [None, 7, "x", {"content": [{"content": "y"}]}]
    }]  # fmt: skip
    home.write([user(BODY, f"u{number}", editorState=each) for number, each in enumerate(states)])
    assert {message.text for message in only(home).messages} == {BODY.strip()}


def test_an_editor_that_is_nested_without_end_is_borne(home):
    node = "deep"
    for _ in range(200):
        node = {"type": "paragraph", "content": [node if isinstance(node, dict) else {
            "type": "text", "text": node}]}  # fmt: skip
    home.write([user(BODY, editorState=editor(node))])
    assert texts(only(home)) == [("user", "deep")]


def test_pictures_have_a_placeholder(home):
    url = "data:image/png;base64," + "A" * 9000
    home.write([
        user([{"type": "text", "text": "look"}, {"type": "imageUrl", "imageUrl": {"url": url}}]),
        user([{"type": "imageUrl", "imageUrl": {"url": "https://host/a/shot%201.png?x=1"}}]),
        user([{"type": "imageUrl"}]),
    ])  # fmt: skip
    assert [message.text for message in only(home).messages] == [
        "look\n\n[image: image/png]",
        "[image: shot%201.png]",
        "[image: unknown]",
    ]


def test_thoughts_at_the_start_of_an_answer_are_left_out(home):
    home.write([
        user("hi"),
        assistant("<think>\nSECRET\n\n</think>\n\nHello!"),
        assistant("<think>\nSECRET, and stopped"),
        assistant("Write <think> in front of it </think> here."),
    ])  # fmt: skip
    assert texts(only(home)) == [
        ("user", "hi"),
        ("assistant", "Hello!"),
        ("assistant", "Write <think> in front of it </think> here."),
    ]
    assert answer_of(" <thinking>x</thinking> y ") == "y"


def test_a_summary_is_one_and_what_it_sums_up_stays(home):
    history = [*HISTORY[:5], HISTORY[5] | {"conversationSummary": "The crane was mended."}]
    home.write(history)
    result = only(home)
    assert texts(result) == [*CHAT[:3], ("summary", "The crane was mended.")]
    assert result.messages[-1].author == "summary"


def test_the_summary_that_the_command_line_puts_in_place_of_all_is_told_once(home):
    summary = "The crane was mended."
    home.write([assistant(summary, conversationSummary=summary), user("And now?")])
    assert texts(only(home)) == [("summary", summary), ("user", "And now?")]


def test_a_prompt_that_was_edited_is_another_message(home):
    """Continue keeps its id, and takes back what was said after it."""
    home.write()
    before = {message.uid: message.text for message in only(home).messages}
    home.write([user("Why does the winch overheat?", "u1"), assistant("It is dry.", "a9")])
    after = {message.uid: message.text for message in only(home).messages}
    assert len(before) == 4
    assert not before.keys() & after.keys()
    home.write([user("Why does the crane overheat?", "u1"), assistant("Again.", "a10")])
    again = {message.uid: message.text for message in only(home).messages}
    assert len(again.keys() & before.keys()) == 1


def test_messages_without_ids_keep_those_that_they_are_given(home):
    old = [user("go on"), assistant("Yes."), user("go on"), assistant("Yes.")]
    home.write(old)
    before = [message.uid for message in only(home).messages]
    assert len(set(before)) == 4
    home.write([user("First"), assistant("Of all."), *old])
    after = [message.uid for message in only(home).messages]
    assert after[2:] == before
    home.write(old, "s1", name="s1 copy", listed=False)
    copy = next(item for item in items(home.source)[0] if item.uri.endswith("copy.json"))
    result = read(home.source, copy)
    assert [message.uid for message in result.messages] == before
    assert set(result.sessions) == {"s1"}


@pytest.mark.parametrize(
    "title",
    ["New Session", "Untitled Session", "", None, 7, "<think>\nOkay, so the", "Why does the cra",
     "Why does the crane..."],
)  # fmt: skip
def test_what_every_session_is_called_is_no_title(home, title):
    home.write(title=title)
    facts = only(home).sessions["s1"]
    assert (facts.title, facts.title_rank) == ("Why does the crane overheat?", 1)


def test_the_list_has_what_the_file_has_not(home):
    home.write(title="", workspaceDirectory="")
    home.list({"sessionId": "s1", "dateCreated": str(BEGUN), "title": "Listed",
               "workspaceDirectory": "/srv/demo/listed"})  # fmt: skip
    facts = only(home).sessions["s1"]
    assert (facts.title, facts.cwd) == ("Listed", "/srv/demo/listed")


def test_models(home):
    plain = [{"modelTitle": "My model"}]
    home.write(
        [user("?"), assistant("a"), assistant("b", promptLogs=plain),
         assistant("c", promptLogs=[7, None]), assistant("d", model=None)],
        chatModelTitle="Chosen",
    )  # fmt: skip
    models = [message.model for message in only(home).messages]
    assert models == [None, "model-x", "My model", "Chosen", "Chosen"]


def test_a_session_without_an_id_has_that_of_its_file(home):
    home.write(key="s9", listed=False, sessionId=7)
    assert set(only(home).sessions) == {"s9"}


def test_what_is_not_known_is_counted(home):
    home.write([
        user([{"type": "hologram"}, 7, "plain", {"type": "text", "text": None}]),
        {"message": {"role": "oracle", "content": "x"}},
        {"message": None},
        {"message": {"role": "user"}},
        {"message": {"role": "assistant"}},
        {"message": {"role": "assistant", "toolCalls": [{}]}},
        {"message": {"role": "user", "content": 7}},
        "nothing",
    ])  # fmt: skip
    result = only(home)
    assert texts(result) == [("user", "plain")]
    assert result.unknown == {
        "part of type hologram": 1,
        "part of type (no name)": 1,
        "message of role oracle": 1,
    }
    assert len(result.bad_lines) == 6


def test_only_sessions_are_looked_at(home, tmp_path):
    path = home.write()
    for other in ("config.json", "config.yaml", "index/s.json", "dev_data/0.2.0/x.jsonl",
                  "sessions/deep/s.json", "sessions/notes.txt", ".json"):  # fmt: skip
        place = home.root / other
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(path.read_text())
    outside = tmp_path / "outside.json"
    outside.write_text(path.read_text())
    (home.sessions / "linked.json").symlink_to(outside)
    found, failures = items(home.source)
    assert [item.uri for item in found] == [str(path)]
    assert all(failure.deliberate for failure in failures)
    assert home.source.roots() == (home.sessions,)


def test_another_folder_may_be_continues_or_that_of_its_sessions(home, tmp_path):
    other = Home(tmp_path / "other")
    path = other.write()
    for folder in (other.root, other.sessions):
        assert [item.uri for item in home.source.of(folder).discover([])] == [str(path)]
    assert list(home.source.of(tmp_path).discover([])) == []


@pytest.mark.parametrize(
    ("variable", "folder"),
    [
        (None, "/home/pat/.continue"),
        ("", "/home/pat/.continue"),
        ("relative", "/home/pat/.continue"),
        ("/opt/continue", "/opt/continue"),
        ("~/elsewhere", "/home/pat/elsewhere"),
    ],
)
def test_places(variable, folder):
    environment = {} if variable is None else {"CONTINUE_GLOBAL_DIR": variable}
    assert global_folder(environment, Path("/home/pat")) == Path(folder)


@pytest.mark.parametrize(
    ("address", "path"),
    [
        ("/srv/demo/harbour", "/srv/demo/harbour"),
        (r"C:\Work\Shop", r"C:\Work\Shop"),
        ("file:///srv/demo/har%20bour/", "/srv/demo/har bour"),
        ("file:///c%3A/Work/Shop", r"C:\Work\Shop"),
        ("file:///c:/", "C:\\"),
        ("file://server/share/x", r"\\server\share\x"),
        ("vscode-remote://ssh-remote%2Bhost/srv/demo", "/srv/demo"),
        ("vscode-remote://wsl%2Bubuntu/home/pat", "/home/pat"),
        ("https://host/x", None),
        ("file://", None),
        ("file:///a%00b", None),
        ("vscode-remote://[bad/x", None),
        ("x" * 5000, None),
        ("  ", None),
        ("", None),
        (None, None),
    ],
)
def test_folders_of_projects(address, path):
    assert path_of(address) == path


def test_a_session_that_is_too_large_is_told(home):
    path = home.write()
    with path.open("r+b") as file:
        file.truncate((128 << 20) + 1)
    found, failures = items(home.source)
    assert found == []
    assert [(each.uri, "128 MB" in each.reason) for each in failures] == [(str(path), True)]


def test_a_session_that_changes_is_another_version(home):
    path = home.write()
    (before,), _ = items(home.source)
    path.write_text(path.read_text().replace("Done.", "Gone."))
    os.utime(path, ns=(0, before.mtime_ns + 1))
    (after,), _ = items(home.source)
    assert after != before
    assert after.identity == before.identity
