"""What is kept of a chat that wants to be remembered."""

import asyncio

import pytest
from llm.openai_kit import WITHOUT_VECTORS, Api, Wait, remember, said

from cloxy_core.testing.harness import App
from cloxy_hookspecs import (
    ChatDelta,
    ModelBusyError,
    ModelError,
    StoreFullError,
    ToolCallDelta,
    TranscriptKeeper,
)

QUESTION = "Which port does the harbour dashboard use?"


@pytest.fixture
def api(tmp_path):
    with App(tmp_path, settings=WITHOUT_VECTORS) as app:
        app.start()
        yield Api(app)


def user(text=QUESTION):
    return {"role": "user", "content": text}


def streamed(api, *messages, **fields):
    body = {"messages": list(messages), "stream": True, "memory_store": True, **fields}
    return api.ask("/v1/chat/completions", body)


async def settled():
    """Let what was begun behind come to its end."""
    mine = asyncio.current_task()
    while others := [task for task in asyncio.all_tasks() if task is not mine]:
        await asyncio.wait(others, timeout=0.01)
        if all(task.get_coro().__qualname__ != "TurnKeeper._kept" for task in others):
            return


def test_the_turn_and_its_answer_are_kept_without_memories(api):
    remember(api.app, "The harbour dashboard listens on port 9187.")
    api.router.scripts.append(said("It is ", "9187."))
    meta = api.chat(QUESTION, memory=True, memory_store=True)["cloxy_meta"]
    assert len(meta["memory"]) == 1 and "memory_note" not in meta
    assert api.keeper.said == [("user", "human", QUESTION), ("assistant", "own", "It is 9187.")]
    (conversation,) = api.keeper.conversations
    assert conversation.agent == "cloxy"
    assert {message.session for message in conversation.messages} == set(conversation.facts)
    assert all(message.cwd is None for message in conversation.messages)


def test_a_streamed_answer_is_kept_before_its_last_chunk(api):
    api.router.scripts.append(said("It is ", "9187."))
    events = api.events(QUESTION, memory_store=True)
    assert api.keeper.said[1] == ("assistant", "own", "It is 9187.")
    assert events.endswith("data: [DONE]\n\n")


def test_nothing_is_kept_unasked(api):
    api.chat(QUESTION, store=True)
    api.chat({"role": "system", "content": "no person"}, memory_store=True)
    assert api.keeper.conversations == []


def uids(conversation):
    return [message.uid for message in conversation.messages]


def test_what_comes_again_has_the_same_names(api):
    api.router.scripts += [said("a"), said("a"), said("b")]
    for _ in range(3):
        api.chat(QUESTION, memory_store=True)
    first, again, other = map(uids, api.keeper.conversations)
    assert first == again
    assert other[0] == first[0] and other[1] != first[1]


def test_a_tool_loop_keeps_its_question_once_and_every_text(api):
    calls = [
        ChatDelta(tool_calls=(ToolCallDelta(0, "c1", "f", "{}"),)),
        ChatDelta(finish="tool_calls"),
    ]
    api.router.scripts += [calls, said("done")]
    tools = [{"type": "function", "function": {"name": "f"}}]
    function = {"name": "f", "arguments": "{}"}
    turn = {"role": "assistant", "tool_calls": [{"id": "c1", "function": function}]}
    result = {"role": "tool", "tool_call_id": "c1", "content": "found"}
    api.chat(user(), tools=tools, memory_store=True)
    api.chat(user(), turn, result, tools=tools, memory_store=True)
    step, end = map(uids, api.keeper.conversations)
    assert len(step) == 1 and end[0] == step[0] and len(end) == 2
    assert [text for _role, _author, text in api.keeper.said] == [QUESTION, QUESTION, "done"]


def test_turns_of_a_conversation_share_a_session_and_only_the_last_is_kept(api):
    api.chat(user("first"), memory_store=True)
    api.chat(
        user("first"), {"role": "assistant", "content": "a"}, user("second"), memory_store=True
    )
    one, two = api.keeper.conversations
    assert one.messages[0].session == two.messages[0].session
    assert [message.text for message in two.messages] == ["second", "second"]
    api.chat(user("another"), memory_store=True)
    assert api.keeper.conversations[2].messages[0].session != one.messages[0].session


def test_the_same_words_at_another_place_are_another_message(api):
    api.chat(user("yes"), memory_store=True)
    turns = [user("yes"), {"role": "assistant", "content": "a"}, user("yes")]
    api.chat(*turns, memory_store=True)
    one, two = api.keeper.conversations
    assert not set(uids(one)) & set(uids(two))


def test_a_named_session_and_the_folder_of_a_project(api):
    api.chat(QUESTION, memory_store=True, memory_session="mine", memory_project="/srv/demo/shop")
    api.chat(QUESTION, memory_store=True, memory_project="shop")
    named, plain = api.keeper.conversations
    assert {(m.session, m.cwd) for m in named.messages} == {("mine", "/srv/demo/shop")}
    assert named.facts["mine"].cwd == "/srv/demo/shop"
    assert plain.messages[0].cwd is None


def test_another_day_is_another_session(api):
    api.chat(QUESTION, memory_store=True)
    api.app.clock.advance(days=1)
    api.chat(QUESTION, memory_store=True)
    one, two = api.keeper.conversations
    assert one.messages[0].session != two.messages[0].session


def test_what_an_agent_adds_to_a_turn_is_not_kept(api):
    api.chat(f"{QUESTION}\n<system-reminder>be good</system-reminder>", memory_store=True)
    assert api.keeper.said[0] == ("user", "human", QUESTION)


@pytest.mark.parametrize("pieces", [0, 1, 2])
def test_of_an_answer_that_nobody_waited_for_only_the_question_is_kept(api, pieces):
    wait = Wait()
    api.router.scripts.append([ChatDelta("half"), wait, *said("never")])

    async def leave():
        answer = await streamed(api, user())
        for _ in range(pieces):
            await anext(answer.body)
        await answer.body.aclose()
        await settled()

    api.app.do(leave())
    assert api.keeper.said == [("user", "human", QUESTION)]


def test_cancelled_before_the_first_piece_too(api):
    wait = Wait()
    api.router.scripts.append([wait, *said("never")])

    async def leave():
        asking = asyncio.create_task(streamed(api, user()))
        while not wait.reached.is_set():
            await asyncio.sleep(0)
        asking.cancel()
        await asyncio.wait({asking})
        await settled()

    api.app.do(leave())
    assert api.keeper.said == [("user", "human", QUESTION)]


def test_of_an_answer_that_broke_off_only_the_question_is_kept(api):
    api.router.scripts.append([ChatDelta("half"), ModelError("it broke")])
    api.events(QUESTION, memory_store=True)
    api.app.do(settled())
    assert api.keeper.said == [("user", "human", QUESTION)]


def test_nothing_is_kept_of_what_was_refused(api):
    api.router.scripts.append([ModelBusyError("full")])
    with pytest.raises(ModelBusyError):
        api.chat(QUESTION, memory_store=True)
    api.app.do(settled())
    assert api.keeper.conversations == []


@pytest.mark.parametrize("error", [StoreFullError("the disk is full"), RuntimeError("secret")])
def test_an_answer_stands_when_it_cannot_be_kept(api, error, caplog):
    api.keeper.error = error
    answer = api.chat(QUESTION, memory_store=True)
    assert answer["choices"][0]["message"]["content"] == QUESTION
    note = answer["cloxy_meta"]["memory_note"]
    assert "not kept" in note and "secret" not in note
    assert "not kept" in caplog.text and "secret" not in caplog.text
    assert '"memory_note"' in api.events(QUESTION, memory_store=True)


def test_without_anybody_who_keeps_it_says_so(api):
    alone = Api(api.app, ports={TranscriptKeeper: None})
    assert "not kept" in alone.chat(QUESTION, memory_store=True)["cloxy_meta"]["memory_note"]
