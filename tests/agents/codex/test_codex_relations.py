"""Forks, resumes, steps back, and copies of other threads."""

from datetime import timedelta

import pytest
from codex_kit import START, THREAD, Log, authors, parse, said, uuid7

LATER = START + timedelta(hours=1)
CHILD = uuid7(LATER)
QUICK = 0.002


def turns(*numbers):
    return [uuid7(START + timedelta(minutes=n), n) for n in numbers]


def parent():
    log = Log().meta()
    for turn, word in zip(turns(1, 2), ("one", "two"), strict=True):
        log.turn(turn).both(f"say {word}", word)
    return log


def replay(log, turn_ids=None, **more):
    """The parent's lines again, in one go."""
    log.step = QUICK
    log.meta(THREAD)
    for turn, word in zip(turn_ids or turns(1, 2), ("one", "two"), strict=True):
        log.turn(turn, **more).both(f"say {word}", word)
    log.step = 2.0
    return log


def own_turn(log, turn=None, **more):
    log.at += timedelta(seconds=20)
    return log.turn(turn or uuid7(LATER + timedelta(seconds=20)), **more).both("say three", "three")


THREE = [("user", "say three"), ("assistant", "three")]


def test_a_fork_leaves_out_what_it_repeats():
    log = own_turn(replay(Log(LATER, QUICK).meta(CHILD, forked_from_id=THREAD)))
    messages, facts, result = parse(log, thread=CHILD)
    assert [(m.role, m.text) for m in messages] == THREE
    assert set(facts) == {CHILD}
    assert (facts[CHILD].parent, facts[CHILD].relation) == (THREAD, "fork")
    assert facts[CHILD].title == "say three"
    assert not result.unknown


def test_a_fork_that_goes_on_at_once_is_told_by_the_age_of_its_turns():
    log = replay(Log(LATER, QUICK).meta(CHILD, forked_from_id=THREAD))
    log.step = QUICK
    log.turn(uuid7(LATER + timedelta(milliseconds=500))).both("say three", "three")
    assert said(log) == THREE


def test_turns_without_ids_that_tell_their_age_tell_it_by_their_start():
    log = Log(LATER, QUICK).meta(CHILD, forked_from_id=THREAD)
    replay(log, ["T1", "T2"], started_at=int(START.timestamp()) + 60)
    log.turn("T3", started_at=int(LATER.timestamp())).both("say three", "three")
    assert said(log) == THREE


def test_turns_that_do_not_tell_their_age_end_with_a_pause():
    log = Log(LATER, QUICK).meta(CHILD, forked_from_id=THREAD)
    assert said(own_turn(replay(log, ["T1", "T2"]), "T3")) == THREE


def test_a_fork_without_its_parent_s_meta_line_is_told_by_its_own():
    log = own_turn(replay(Log(LATER, QUICK).meta(CHILD, forked_from_id=THREAD), ["T1", "T2"]), "T3")
    del log.lines[1]
    assert said(log) == THREE


def test_a_fork_of_nothing_loses_nothing():
    log = own_turn(Log(LATER).meta(CHILD, forked_from_id=THREAD))
    assert said(log) == THREE


def test_a_fork_without_turns_of_its_own_is_no_session_and_no_drift():
    messages, facts, result = parse(replay(Log(LATER, QUICK).meta(CHILD, forked_from_id=THREAD)))
    assert (messages, facts, result.silent) == ([], {}, True)


@pytest.mark.parametrize("nested", [True, False])
def test_a_sub_agent_leaves_out_what_it_repeats_of_its_parent(nested):
    spawn = {"subagent": {"thread_spawn": {"parent_thread_id": THREAD}}}
    log = Log(LATER, QUICK).meta(CHILD, source=spawn, parent_thread_id=THREAD)
    replay(log)
    if not nested:
        del log.lines[1]
    assert said(own_turn(log)) == THREE
    assert authors(log) == [("user", "subagent"), ("assistant", "subagent")]


def test_a_sub_agent_s_order_that_comes_at_once_is_kept():
    log = Log(LATER, QUICK).meta(CHILD, parent_thread_id=THREAD)
    assert said(log.both("look it up", "found")) == [("user", "look it up"), ("assistant", "found")]


def early():
    """A thread of the time without turn ids."""
    log = Log().meta(source=None)
    for word in ("one", "two", "one"):
        log.both(f"say {word}", word)
    return log


def early_copy(*metas):
    """That thread resumed as a new file, with new times."""
    log = Log(LATER).meta(CHILD, source=None)
    log.step = QUICK
    for meta in metas or (THREAD,):
        log.meta(meta, source=None, timestamp=START.isoformat())
    for word in ("one", "two", "one"):
        log.both(f"say {word}", word)
    log.step = 2.0
    log.at += timedelta(seconds=20)
    return log.both("say one", "one")


def test_a_resumed_copy_tells_old_messages_as_the_old_session_s_own():
    old, _facts, _result = parse(early())
    messages, facts, _result = parse(early_copy(), thread=CHILD)
    copied = [message for message in messages if message.session == THREAD]
    assert [(m.uid, m.text) for m in copied] == [(m.uid, m.text) for m in old]
    new = [message for message in messages if message.session == CHILD]
    assert [(m.role, m.text) for m in new] == [("user", "say one"), ("assistant", "one")]
    assert messages == [*copied, *new]
    assert (facts[CHILD].parent, facts[CHILD].relation) == (THREAD, "resume")
    assert facts[THREAD].parent is None
    assert facts[CHILD].title == "say one"


def test_times_of_a_resumed_copy_are_not_those_of_its_writing():
    start = int(START.timestamp() * 1000)
    messages = parse(early_copy(), thread=CHILD)[0]
    assert {(m.at, m.approximate) for m in messages if m.session == THREAD} == {(start, True)}
    assert not any(m.approximate for m in messages if m.session == CHILD)


def test_a_copy_of_a_copy_is_left_out():
    log = early_copy(uuid7(START + timedelta(minutes=5)), THREAD)
    messages, facts, _result = parse(log, thread=CHILD)
    assert {m.session for m in messages} == {CHILD} == set(facts)
    assert [m.text for m in messages] == ["say one", "one"]


def test_a_prompt_of_a_script_right_after_the_copy_is_not_lost():
    log = early_copy()
    log.lines, tail = log.lines[:-4], log.lines[-4:]
    stamp = log.lines[-1]["timestamp"]
    log.lines += [line | {"timestamp": stamp} for line in tail]
    texts = [m.text for m in parse(log, thread=CHILD)[0]]
    assert texts == ["say one", "one", "say two", "two", "say one", "one", "say one", "one"]


def test_a_resume_in_the_same_file_goes_on():
    log = parent()
    for number in range(20):
        log.meta().turn(uuid7(LATER, number)).both("again", f"number {number}")
    messages, facts, _result = parse(log)
    assert len(messages) == 4 + 40
    assert len({m.uid for m in messages}) == 44
    assert set(facts) == {THREAD}


def test_a_meta_line_of_another_thread_in_the_middle_changes_nothing():
    log = Log().meta().both("one", "1").meta("another").both("two", "2")
    assert {m.session for m in parse(log)[0]} == {THREAD}


def test_a_step_back_keeps_what_was_said():
    log = parent().event("thread_rolled_back", num_turns=1)
    log.turn(turns(3)[0]).both("say more", "more")
    assert len(said(log)) == 6


def test_a_turn_that_is_spoken_of_again_gives_no_id_twice():
    one, two = turns(1, 2)
    log = Log().meta().turn(one).both("a", "b").turn(two).both("c", "d").turn(one).both("e", "f")
    uids = [m.uid for m in parse(log)[0]]
    assert len(set(uids)) == 6


def test_turns_of_two_threads_with_one_id_give_different_ids():
    """A message that is forgotten must not take another one with it."""
    logs = [Log().meta(thread).turn("T1").both("say one", "one") for thread in (THREAD, CHILD)]
    one, two = ({m.uid for m in parse(log)[0]} for log in logs)
    assert not one & two


def test_an_id_stays_when_the_words_of_a_turn_are_edited():
    """So that a secret taken out of a rollout goes out of the memory."""
    logs = [Log().meta().turn("T1").both(word, "I see") for word in ("my key is FAKE", "my key")]
    one, two = ([m.uid for m in parse(log)[0]] for log in logs)
    assert one == two


def test_where_turns_have_no_ids_a_lost_message_does_not_change_the_ids_of_the_others():
    log = Log().meta().both("say one", "one").event("agent_message", message="two")
    log.both("say three", "three")
    whole = parse(log)[0]
    del log.lines[3:5]
    assert [m.uid for m in parse(log)[0]] == [m.uid for m in whole if m.text != "one"]
