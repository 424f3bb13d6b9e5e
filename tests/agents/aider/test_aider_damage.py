"""Whatever happened to a history, reading it never fails, and ends."""

import json
import random
from itertools import pairwise

from agents.written_stores import writing
from aider_kit import (
    TALK,
    answer,
    entry,
    found,
    head,
    keys,
    messages,
    parsed,
    parser,
    prompt,
    records,
    source,
    turn,
)

from cloxy_core.testing.mutations import mutate
from cloxy_plugins.aider.typed import Typed, typed


def test_500_damaged_histories():
    whole = (TALK + head("2026-05-26 08:00:00") + turn("x", "```py\ny\n```\n\nz")).encode()
    typed = entry("2026-05-25 19:34:10", "Pin the clock")
    lost = 0
    for seed in range(500):
        data = mutate(whole, seed)
        found = records(data, typed)
        json.dumps(found)
        said = [each for each in found if each["kind"] == "message"]
        lost += len(said) < 7
        assert len({(each["session"], each["uid"]) for each in said}) == len(said)
    assert lost > 50, "the damage has to hit something"


def test_500_damaged_histories_of_what_was_typed():
    whole = entry("2026-05-25 19:34:10", "Pin the clock") + entry("2026-05-25 19:35:10.5", "Y")
    found = 0
    for seed in range(500):
        damaged = mutate(whole.encode(), seed).decode("utf-8", "replace")
        result = parsed(TALK, damaged)
        assert len(result.messages) == 5
        found += any(not message.approximate for message in result.messages)
    assert 100 < found < 500


def test_lines_in_any_order():
    chance = random.Random(7)
    pieces = ["# aider chat started at 2026-05-25 19:33:33", "", "", "#### a  ", "#### b", "> c  ",
              "> d", "####", ">", "```", "```py", "~~~~", "<<<<<<< SEARCH", ">>>>>>> REPLACE",
              "<think>", "</think>", "words", "words  ", "> Tokens: 1 sent, 2 received.  ",
              "*** Begin Patch", "*** End Patch", "► **THINKING**", "► **ANSWER**"]  # fmt: skip
    for _ in range(1500):
        lines = chance.choices(pieces, k=chance.randint(1, 60))
        said = messages("\n".join(lines))
        assert all(each["text"].strip() for each in said)
        assert len({(each["session"], each["uid"]) for each in said}) == len(said)


def test_long_runs_of_what_is_never_closed_are_read_once():
    """Each would be looked through to its end again and again."""
    for line in ("```py", "<think>", "> x", "<<<<<<< SEARCH", "*** Begin Patch", "~~~ x", "```"):
        text = head() + prompt("a") + "\n" + f"{line}\n" * 40_000
        assert len(keys(text)) == 1


WRITER = """
import sys, time
def append(text):
    with open(sys.argv[1], "a", encoding="utf-8") as file:
        file.write(text)
append("\\n# aider chat started at 2026-05-25 19:33:33\\n\\n")
append("> Aider v0.86.1  \\n")
print("ready", flush=True)
until = time.monotonic() + 240
number = 0
while time.monotonic() < until:
    append(f"\\n#### asked {number}  \\n")
    append(f"\\nanswered {number}\\n" + f"line of {number}\\n" * 1500 + "\\n\\n")
    append("> Tokens: 1k sent, 2 received.  \\n> Applied edit to a.py  \\n")
    number += 1
    time.sleep(0.05)
"""


def test_a_history_that_is_written_all_the_time(tmp_path):
    """Each look sees a beginning of the chat; what was seen keeps its id."""
    project = tmp_path / "project"
    project.mkdir()
    made = source(tmp_path, project)
    looks = []
    with writing("-c", WRITER, project / ".aider.chat.history.md") as process:
        # Until it was seen to grow; the writer ends by itself, should that never happen.
        while len(looks) < 10 or len(looks[-1]) == len(looks[0]):
            assert process.poll() is None, "the writer was not disturbed"
            (item,), failures = found(made)
            assert failures == []
            result = parser().parse(item, list(made.read(item, 0)), {})
            assert not result.bad_lines
            said = [(m.role, m.uid) for m in result.messages]
            roles = ("user", "assistant", "note")
            assert [role for role, _ in said] == [roles[n % 3] for n in range(len(said))]
            heads = [m.text.split("\n")[0] for m in result.messages if m.role == "user"]
            assert heads == [f"asked {n}" for n in range(len(heads))]
            looks.append(said)
    for before, after in pairwise(looks):
        assert after[: len(before)] == before


def test_a_question_that_is_repeated_without_end_is_looked_through_once():
    words = "(Y)es/(N)o [x " * 20_000
    (asked,) = [each for each in records(head() + prompt(words)) if each.get("role") == "user"]
    assert asked["text"] == words.strip()
    assert typed("Add a.py? (Y)es/(N)o/(D)on't ask again [Yes]: n") == Typed("", command=True)
    assert typed("(Y)es/(N)o [Yes]: n\nwas asked").words


def reasons(text):
    return [each["reason"] for each in records(text) if each["kind"] == "damaged"]


UNTYPED = "text before anything was typed, in 1 chat(s)"


def test_an_answer_to_nothing_that_was_typed_is_told():
    lost = head() + answer("A clock race.")
    assert (messages(lost), reasons(lost)) == ([], [UNTYPED])
    assert parsed(lost).silent is False
    before = TALK.replace("# aider chat", "# ader chat", 1)
    assert UNTYPED in reasons(before)


def test_what_was_shown_before_the_first_start_is_told():
    assert reasons("> Applied edit to ok.txt  \n" + TALK) == [
        "text before the first start, in 1 chat(s)"
    ]
    assert reasons("\n\n" + TALK) == []


def test_an_answer_to_what_another_aider_was_asked_is_told_of_by_nobody():
    both = head() + prompt("Why?") + head("2026-05-26 08:00:00") + answer("A clock race.")
    assert (len(messages(both)), reasons(both)) == (2, [])


def test_a_damaged_start_in_the_middle_is_told():
    broken = TALK + head("2026-05-26 0x:00:00") + turn("x", "z")
    assert reasons(broken) == ["the start of a chat is damaged, in 1 chat(s)"]
    quoted = TALK + turn("x", "```\n# aider chat started at some time\n```\nso it says")
    assert reasons(quoted) == []


def test_what_was_shown_without_its_mark_is_told_unless_it_is_a_text_of_several_lines():
    several = TALK + "> one  \ntwo  \n> three\n\nfour  \n" + prompt("x")
    assert reasons(several) == []
    assert reasons(TALK + "> one  \ntwo\n" + prompt("x")) == [
        "a text of Aider's without its end, in 1 chat(s)"
    ]
    assert reasons(TALK + "> one  \ntw") == [], "it is still being written"


def test_text_right_behind_what_was_typed_is_told():
    broken = TALK.replace("#### Pin the clock  \n\n", "#### Pin the clock  \n")
    assert reasons(broken) == ["text right behind what was typed, in 1 chat(s)"]


def test_thoughts_without_an_end_are_told():
    thought = head() + turn("x", "<think>\nhm\n</think>\n\nso be it")
    assert reasons(thought) == []
    assert reasons(thought.replace("</think>", "")) == ["thoughts without an end"]


def test_of_lines_that_were_trimmed_nothing_is_told():
    trimmed = "\n".join(line.rstrip() for line in (TALK + answer("more")).split("\n"))
    assert reasons(trimmed) == []
