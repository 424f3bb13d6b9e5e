"""What is kept of a history, and what is not."""

import pytest
from aider_kit import (
    SHOWN,
    TALK,
    USAGE,
    answer,
    head,
    keys,
    messages,
    prompt,
    records,
    said_by_aider,
    told,
    turn,
)

WHOLE = "Main model: maker/large with whole edit format"


def test_a_talk():
    assert told(TALK) == [
        ("user", "Why does the crane stop?"),
        ("assistant", "A clock race."),
        ("note", "Applied edit to crane.py"),
        ("user", "Pin the clock"),
        ("assistant", "It is pinned."),
    ]
    authors = [each["author"] for each in messages(TALK)]
    assert authors == ["human", "assistant", "program", "human", "assistant"]
    assert messages(TALK)[1]["model"] == "maker/large"


def test_several_lines_are_one_message():
    text = head() + turn("One\n\nthree", "Yes\n\n* a\n* b")
    assert told(text) == [("user", "One\n\nthree"), ("assistant", "Yes\n\n* a\n* b")]


@pytest.mark.parametrize(
    "typed",
    ["/add a.py", "/run make test", "/drop", "/model maker/small", "/ask", "!ls", "<blank>",
     "/add a.py\n/add b.py", "/co words", "/chat-mode ask",
     "Add file to the chat? (Y)es/(N)o/(A)ll/(S)kip all/(D)on't ask again [Yes]: all"],
)  # fmt: skip
def test_commands_and_answers_to_questions_are_no_words(typed):
    assert told(head() + prompt(*typed.split("\n"))) == []
    assert told(head() + turn(typed, "Well.")) == [("assistant", "Well.")]


@pytest.mark.parametrize(
    "typed", ["/usr/bin/crane is slow", "// a comment", "/** a doc */", "> quoted", "# heading"]
)
def test_what_only_looks_like_a_command_is_kept(typed):
    assert told(head() + prompt(typed)) == [("user", typed)]


@pytest.mark.parametrize("command", ["/ask", "/code", "/architect", "/context", "/help", "/arch"])
def test_words_behind_a_command_are_kept_once(command):
    text = head() + prompt(f"{command} what is it", "and why") + turn("what is it\nand why", "So.")
    assert told(text) == [("user", "what is it\nand why"), ("assistant", "So.")]
    again = text + turn("what is it\nand why", "As I said.")
    assert [role for role, _ in told(again)] == ["user", "assistant", "user", "assistant"]


def test_what_the_architect_hands_to_the_editor_is_not_typed():
    shown = (*SHOWN[:1], "Model: maker/large with architect edit format",
             "Editor model: maker/small with editor-diff edit format")  # fmt: skip
    plan = "Change it:\n\n```py\nx = 1\n```\n\nDone."
    text = head("2026-05-25 19:33:33", *shown) + prompt("Plan") + answer(plan)
    text += said_by_aider(USAGE, "Edit the files? (Y)es/(N)o [Yes]: y")
    text += prompt(*plan.split("\n")) + answer("I did.") + turn("Next", "Yes.")
    assert told(text) == [
        ("user", "Plan"),
        ("assistant", plan),
        ("assistant", "I did."),
        ("user", "Next"),
        ("assistant", "Yes."),
    ]
    models = [each["model"] for each in messages(text) if each["role"] == "assistant"]
    assert models == ["maker/large", "maker/small", "maker/large"]


def test_models_change():
    text = head() + turn("a", "b") + prompt("/model maker/other")
    text += said_by_aider("Main model: maker/other with whole edit format", "Weak model: w")
    text += turn("c", "d")
    assert [each["model"] for each in messages(text)] == [None, "maker/large", None, "maker/other"]


def test_headings_and_quotations_in_an_answer_are_of_the_answer():
    text = "Look:\n\n#### A heading\n\n> a quotation\n\n# Another\n\nEnd."
    assert told(head() + turn("a", text)) == [("user", "a"), ("assistant", text)]


@pytest.mark.parametrize("blanks", ["", "  "])
def test_fenced_lines_are_of_the_answer(blanks):
    code = ["```", "# aider chat started at 2020-01-01 00:00:00", "", f"#### fake{blanks}",
            f"> fake{blanks}", "```", "", "End."]  # fmt: skip
    if blanks:
        del code[1]
    text = head() + turn("a", "So:\n\n" + "\n".join(code)) + turn("b", "c")
    assert [role for role, _ in told(text)] == ["user", "assistant", "user", "assistant"]
    assert "#### fake" in told(text)[1][1]
    assert len(keys(text)) == 1


@pytest.mark.parametrize("usage", [True, False])
def test_a_fence_that_is_never_closed_ends_with_its_answer(usage):
    text = head() + prompt("a") + answer("So:\n```py\nx = 1")
    text += said_by_aider(USAGE) if usage else ""
    text += turn("b", "```js\ny\n```") + head("2026-05-26 08:00:00") + turn("c", "d")
    assert [words for role, words in told(text) if role == "user"] == ["a", "b", "c"]
    assert len(keys(text)) == 2


def test_edits_are_marks_with_the_name_of_the_file():
    edit = "src/a.py\n```python\n<<<<<<< SEARCH\n```\n=======\nNEW\n>>>>>>> REPLACE\n```"
    inside = "```\nb.py\n<<<<<<< SEARCH\n=======\nNEW\n>>>>>>> REPLACE\n```"
    bare = "**c.py**\n<<<<<<< SEARCH\n=======\nNEW\n>>>>>>> REPLACE"
    patch = "*** Begin Patch\n*** Update File: d.py\n-NEW\n*** End Patch"
    text = head() + turn("a", "\n\n".join(["So:", edit, edit, inside, bare, patch, "End."]))
    words = told(text)[1][1]
    names = ("src/a.py", "b.py", "c.py", "d.py")
    marks = " ".join(f"[edit: {name}]" for name in names)
    assert " ".join(words.split()) == f"So: {marks} End."


def test_whole_files_and_diffs_are_edits_where_the_model_writes_them_so():
    whole = "a.py\n```\nNEW\n```"
    assert told(head("2026-05-25 19:33:33", WHOLE) + turn("a", whole))[1][1] == "[edit: a.py]"
    assert told(head() + turn("a", whole))[1][1] == whole
    diff = "```diff\n--- a.py\n+++ a.py\n@@ @@\n-x\n```"
    udiff = head("2026-05-25 19:33:33", "Model: m with udiff edit format")
    assert told(udiff + turn("a", diff))[1][1] == "[edit: a.py]"
    assert told(head() + turn("a", diff))[1][1] == diff


@pytest.mark.parametrize(
    "thoughts",
    ["<think>\nHM\n\n#### HM\n```\n</think>\n",
     "<thinking-content-0123456789abcdef>\nHM\n</thinking-content-0123456789abcdef>\n",
     "--------------\n► **THINKING**\n\nHM\n\n------------\n► **ANSWER**\n"],
)  # fmt: skip
def test_thoughts_are_not_kept(thoughts):
    text = head() + turn("a", thoughts + "\nSo.") + turn("b", "c")
    assert told(text)[1:3] == [("assistant", "So."), ("user", "b")]


def test_thoughts_without_an_answer_are_no_message():
    text = head() + turn("a", "<think>\nHM") + turn("b", "Use <think> tags:\n<think>\nx\n</think>")
    assert [words for _, words in told(text)] == [
        "a", "b", "Use <think> tags:\n<think>\nx\n</think>"]  # fmt: skip


def test_what_is_shown_is_not_kept():
    text = head() + prompt("a") + "> SHOWN first\nSHOWN second\n\nSHOWN third  \n"
    text += "> SHOWN padded    \nSHOWN behind\n" + answer("b")
    text += "> Tokens: 1k sent, 2 received.  \n> SHOWN a\n\n## SHOWN b\n\nSHOWN c  \n" + answer("d")
    assert told(text) == [("user", "a"), ("assistant", "b"), ("assistant", "d")]


def test_what_was_done_is_a_note():
    done = ("Applied edit to a.py", "Commit 1a2b3c4 fix: the crane", "You can use /undo")
    assert told(head() + turn("a", "b", *done))[2:] == [
        ("note", "Applied edit to a.py\nCommit 1a2b3c4 fix: the crane")
    ]


def test_a_history_that_an_editor_trimmed_says_the_same():
    trimmed = "\n".join(line.rstrip() for line in TALK.split("\n"))
    for other in (trimmed, TALK.replace("\n", "\r\n"), trimmed.replace("\n", "\r\n")):
        assert [(e["session"], e["uid"], e["text"]) for e in messages(other)] == [
            (e["session"], e["uid"], e["text"]) for e in messages(TALK)
        ]


def test_chats_in_which_nothing_was_typed_are_none():
    assert records(head() + head("2026-05-25 19:40:00")) == []
    (lost,) = records(head() + head("2026-05-25 19:40:00") + answer("LEFTOVER"))
    assert lost["kind"] == "damaged"


def test_what_stands_before_the_first_start_is_a_chat():
    text = turn("a", "b") + head() + turn("c", "d")
    assert len(keys(text)) == 2
    assert keys(text)[0].startswith("undated-")


def test_another_file_of_that_name_is_told():
    (record,) = records("# Notes\n\nNothing of Aider.\n")
    assert record["kind"] == "unknown"
    assert records("\n\n") == []


def test_damaged_bytes_are_told():
    data = TALK.encode().replace(b"clock race", b"clock \xff\x00 race")
    first, second, *_ = records(data)
    assert (first["kind"], second["kind"]) == ("damaged", "damaged")
    assert len([each for each in records(data) if each["kind"] == "message"]) == 5


def test_what_is_answered_behind_the_start_of_another_aider_is_of_the_first():
    first, second = prompt("a"), head("2026-05-25 19:40:00")
    text = head() + first + second + answer("b") + said_by_aider(USAGE) + turn("c", "d")
    one, two = keys(text)
    said = [(each["session"], each["text"]) for each in messages(text)]
    assert said == [(one, "a"), (one, "b"), (two, "c"), (two, "d")]
    started = head() + first + second + answer("b")
    assert told(started) == [("user", "a"), ("assistant", "b")]
    assert [each["uid"] for each in messages(started)] == [
        each["uid"] for each in messages(text)[:2]
    ]
    answered = head() + turn("a", "x") + second + answer("LEFTOVER") + turn("c", "d")
    assert "LEFTOVER" not in [words for _, words in told(answered)]


def test_output_that_looks_like_a_name_of_a_model_is_none():
    text = head() + prompt("/run lshw") + said_by_aider("Model: T14") + turn("a", "b")
    assert [each["model"] for each in messages(text)] == [None, "maker/large"]
    assert messages(head("2026-05-25 19:33:33", "Model: old") + turn("a", "b"))[1]["model"] == "old"


def test_code_in_thoughts_is_no_part_of_code_in_the_answer():
    thoughts = "<think>\nHM\n```\nHM\n</think>\n\n"
    text = head("2026-05-25 19:33:33", WHOLE) + turn("a", thoughts + "a.py\n```\nNEW\n```\n\nSo.")
    assert told(text)[1] == ("assistant", "[edit: a.py]\n\nSo.")


def test_a_fence_that_is_never_closed_ends_with_its_chat():
    text = head() + prompt("a") + answer("So:\n```\nx = 1")
    text += head("2026-05-26 08:00:00") + turn("b", "```\ny\n```")
    assert [words for role, words in told(text) if role == "user"] == ["a", "b"]


def test_what_is_shown_at_the_start_of_a_trimmed_chat_answers_nothing():
    shown = "> /bin/aider --message one  \n\nSHOWN two --yes  \n> Aider v0.86.1  \n"
    second = "\n# aider chat started at 2026-05-25 19:40:00\n\n" + shown + turn("c", "d")
    trimmed = "\n".join(line.rstrip() for line in second.split("\n"))
    assert [words for _, words in told(head() + prompt("a") + trimmed)] == ["a", "c", "d"]
