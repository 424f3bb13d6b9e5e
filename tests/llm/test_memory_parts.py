"""Places, estimates, the store of blocks, and what a person says in a turn."""

import pytest

from cloxy_hookspecs import ChatMessage, ToolCall
from cloxy_plugins.model_api.memory_cache import Block, BlockCache, turn_keys
from cloxy_plugins.model_api.memory_place import as_turns, human_turns, in_questions, in_system
from cloxy_plugins.model_api.memory_text import Remembered, block_text, estimate, within
from cloxy_plugins.model_api.memory_wish import MemoryWish
from cloxy_plugins.model_api.settings import (
    parse_aliases,
    parse_place,
    parse_switch,
    whole_number,
)
from cloxy_plugins.model_api.turn_words import spoken

WISH = MemoryWish(True, 5, None, 1500, False, None)


def user(text="u"):
    return ChatMessage("user", text)


def calling(*ids):
    return ChatMessage("assistant", "", tuple(ToolCall(name, "f", "{}") for name in ids))


def result(name):
    return ChatMessage("tool", "found", tool_call_id=name)


def shown(messages):
    return " ".join(
        message.text if message.role == "user" else message.role for message in messages
    )


@pytest.mark.parametrize(
    ("messages", "index", "wanted"),
    [
        ([user()], 0, "B u"),
        ([ChatMessage("system", "s"), user()], 1, "system B u"),
        ([user("a"), calling("1"), result("1"), user()], 3, "a assistant tool B u"),
        (
            [user("a"), calling("1", "2"), result("1"), user(), result("2")],
            3,
            "a B assistant tool u tool",
        ),
        ([calling("1"), user(), calling("1"), result("1")], 1, "assistant B u assistant tool"),
        ([calling("1"), user()], 1, "assistant B u"),
    ],
)
def test_a_turn_of_its_own_never_parts_a_call_from_its_result(messages, index, wanted):
    assert shown(as_turns(messages, {index: "B"})) == wanted


def test_several_blocks_at_once():
    messages = [user("a"), ChatMessage("assistant", "x"), user("b")]
    assert shown(as_turns(messages, {0: "A", 2: "B"})) == "A a assistant B b"
    assert shown(in_questions(messages, {0: "A", 2: "B"})) == "A\n\na assistant B\n\nb"


def test_the_first_system_message_grows_or_is_made():
    system = ChatMessage("system", "s")
    assert in_system([user(), system, system], "B")[1].text == "s\n\nB"
    assert in_system([user()], "B") == (ChatMessage("system", "B"), user())


def test_turns_of_persons():
    reminder = user("<system-reminder>x</system-reminder>")
    assert human_turns([ChatMessage("system", "s"), user(" "), user(), reminder]) == [2]


def test_keys_depend_on_all_that_came_before_and_on_the_wish():
    messages = [user("a"), ChatMessage("assistant", "x"), user("b")]
    keys = turn_keys(messages, [0, 2], WISH)
    assert len(set(keys.values())) == 2
    assert turn_keys([ChatMessage("system", "now"), *messages], [1, 3], WISH) == {
        1: keys[0],
        3: keys[2],
    }
    changed = [user("a"), ChatMessage("assistant", "y"), user("b")]
    other = turn_keys(changed, [0, 2], WISH)
    assert other[0] == keys[0] and other[2] != keys[2]
    narrower = MemoryWish(True, 4, None, 1500, False, None)
    assert turn_keys(messages, [0], narrower)[0] != keys[0]


def test_the_store_of_blocks_is_bounded_by_number_and_by_bytes():
    cache = BlockCache(most_blocks=3)
    for name in "abc":
        cache.put(name, Block(text=name))
    assert cache.get("a") is not None
    cache.put("d", Block())
    assert [name for name in "abcd" if cache.get(name) is not None] == ["a", "c", "d"]
    small = BlockCache(most_bytes=3_000)
    for name in "abcdef":
        small.put(name, Block(text="x" * 400))
    assert [name for name in "abcdef" if small.get(name)] == ["d", "e", "f"]
    small.put("f", Block())
    assert len(small) == 3
    small.put("g", Block(text="x" * 400))
    assert [name for name in "defg" if small.get(name)] == ["e", "f", "g"]


def memories(*texts):
    return [Remembered(number, f"id {number}", text) for number, text in enumerate(texts, 1)]


def test_a_budget_cuts_the_last_memory_that_says_something():
    found = memories("a" * 300, "b" * 300, "c" * 300)
    assert within(found, 10_000) == found
    cut = within(found, 240)
    assert [memory.id for memory in cut] == [1, 2] and cut[1].text.endswith("…")
    assert estimate(block_text(cut)) <= 240 - 70
    assert within(found, 60) == []


def test_estimates_are_on_the_safe_side_of_characters():
    assert (estimate(""), estimate("abcd"), estimate("港")) == (0, 2, 1)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("plain < text", "plain < text"),
        ("<system-reminder>a</system-reminder>b", "b"),
        ("a <system-reminder>never closed", "a <system-reminder>never closed"),
        ("<task>\nfix it\n</task>\n<environment_details>\nx\n</environment_details>", "fix it"),
        ("<local-command-stdout>x</local-command-stdout> so", "so"),
        ("<task>a</task> and b", "a\nand b"),
    ],
)
def test_what_a_person_says(text, words):
    assert spoken(text) == words


def test_openings_without_an_end_cost_no_time():
    text = "<system-reminder>" * 100_000
    assert spoken(text) == text


def test_settings_are_read():
    assert parse_aliases("gpt-*=big, a=b:7b ,") == {"gpt-*": "big", "a": "b:7b"}
    assert (parse_switch("On"), parse_switch(""), parse_place(" System ")) == (
        True,
        False,
        "system",
    )
    assert whole_number(1, 20)(" 20 ") == 20


@pytest.mark.parametrize(
    ("parse", "text"),
    [
        (parse_aliases, "a"),
        (parse_aliases, "a="),
        (parse_aliases, "a*b=c"),
        (parse_aliases, "a=b,a=c"),
        (parse_switch, "perhaps"),
        (parse_place, "above"),
        (whole_number(1, 20), "21"),
        (whole_number(1, 20), "x"),
    ],
)
def test_settings_that_cannot_be_used(parse, text):
    with pytest.raises(ValueError, match=r"\w"):
        parse(text)
