"""When things were said, and which chat is which."""

import time
from datetime import UTC, datetime

import pytest
from aider_kit import SHOWN, TALK, entry, head, keys, messages, parsed, prompt, turn, zone

pytestmark = pytest.mark.skipif(not hasattr(time, "tzset"), reason="the zone cannot be set here")


def utc(*parts):
    return int(datetime(*parts, tzinfo=UTC).timestamp() * 1000)


def times(text, typed=""):
    return [(each.at, each.approximate) for each in parsed(text, typed).messages]


def test_what_was_typed_has_its_own_time():
    typed = entry("2026-05-25 19:34:10.500000", "Why does the crane stop?")
    typed += entry("2026-05-25 19:34:40.000001", "Y")
    typed += entry("2026-05-25 19:35:00.000001", "/add crane.py")
    typed += entry("2026-05-25 19:36:00", "Pin the clock")
    with zone("Europe/Vienna"):
        first, last = utc(2026, 5, 25, 17, 34, 10) + 500, utc(2026, 5, 25, 17, 36)
        assert times(TALK, typed) == [
            (first, False), (first, True), (first, True), (last, False), (last, True)]  # fmt: skip


def test_without_it_all_are_near_the_start():
    with zone("America/New_York"):
        assert times(TALK) == [(utc(2026, 5, 25, 23, 33, 33), True)] * 5


def test_the_same_words_are_told_apart_by_their_order_and_chat():
    text = head() + turn("go", "a") + turn("go", "b") + head("2026-05-26 08:00:00") + turn("go", "")
    typed = entry("2026-05-24 08:00:00", "go") + entry("2026-05-25 20:00:00", "go")
    typed += entry("2026-05-25 21:00:00", "go") + entry("2026-05-26 08:00:05", "go")
    with zone("UTC"):
        own = [at for at, approximate in times(text, typed) if not approximate]
    assert own == [utc(2026, 5, 25, 20), utc(2026, 5, 25, 21), utc(2026, 5, 26, 8, 0, 5)]


def test_what_was_typed_in_a_later_chat_tells_nothing_of_an_earlier_one():
    text = head() + turn("go", "a") + head("2026-05-26 08:00:00") + turn("stop", "b")
    with zone("UTC"):
        assert times(text, entry("2026-05-26 09:00:00", "go"))[0] == (
            utc(2026, 5, 25, 19, 33, 33),
            True,
        )


def test_several_lines_are_found():
    text = head() + turn("one\n\nthree", "a")
    typed = entry("2026-05-25 20:00:00.1", "one", "", "three", "").replace("\n", "\r\n")
    with zone("UTC"):
        assert times(text, typed)[0] == (utc(2026, 5, 25, 20) + 100, False)


@pytest.mark.parametrize("start", ["2026-13-45 99:99:99", "0001-01-01 00:00:00",
                                   "9999-12-31 23:59:59", "1970-01-01 00:00:00"])  # fmt: skip
def test_a_start_that_cannot_be_believed(start):
    with zone("UTC"):
        ((at, approximate),) = times(head(start) + prompt("a"), entry(start, "a"))
    assert at > utc(2020, 1, 1), "the time of the file"
    assert approximate


def test_chats_have_the_same_key_wherever_they_stand():
    other = head("2026-05-20 08:00:00") + turn("x", "y")
    assert keys(other + TALK)[1:] == keys(TALK)
    before = {each["uid"] for each in messages(TALK)}
    grown = TALK + turn("And now?", "Now it runs.")
    assert before < {each["uid"] for each in messages(other + grown)}


def test_chats_of_one_second_are_told_apart():
    assert len(set(keys(head() + turn("a", "b") + head() + turn("c", "d")))) == 2
    assert len(set(keys(head() + turn("a", "b") + head() + turn("a", "d")))) == 2
    other = head("2026-05-25 19:33:33", *SHOWN, "Repo-map: using 1 tokens")
    assert keys(other + turn("a", "b")) != keys(head() + turn("a", "b"))


def test_an_answer_that_grows_keeps_its_id():
    part = head() + prompt("a") + "\nThe answer is"
    whole = head() + turn("a", "The answer is 42.")
    assert [each["uid"] for each in messages(part)] == [each["uid"] for each in messages(whole)]


def test_what_is_still_being_written_waits():
    half = TALK + "\n#### And wha"
    assert [each["uid"] for each in messages(half)] == [each["uid"] for each in messages(TALK)]
