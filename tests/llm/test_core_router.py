"""The router: who answers, in turn, within a time, and let go in every case."""

import asyncio
import json
from contextlib import aclosing
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from llm.core_fakes import FakeLLM, record
from llm.core_helpers import request, said, texts

from cloxy_core.core_settings import CORE_SETTINGS
from cloxy_core.kernel.settings import Settings
from cloxy_core.services.llm.choosing import ChoiceFile
from cloxy_core.services.llm.joining import Joining, estimated_tokens
from cloxy_core.services.llm.making import make_router, plain
from cloxy_core.services.llm.queue import ModelQueueError, Places
from cloxy_hookspecs import (
    ChatDelta,
    ChatMessage,
    ConfigError,
    ContextTooLongError,
    HostedModelProvider,
    ModelBusyError,
    ModelError,
    ModelMissingError,
    ModelTimeoutError,
    RemoteModelError,
    SettingError,
    ToolCall,
    ToolCallDelta,
    ToolSpec,
)

HOSTED = HostedModelProvider(
    name="parrots", summary="Parrots", format="gguf", target="llm.core_parrot:load"
)


def router(tmp_path, *records, **given_settings):
    view = Settings(
        CORE_SETTINGS,
        command_line={f"llm.{name}": str(value) for name, value in given_settings.items()},
    )
    choices = ChoiceFile(tmp_path / "config.json")
    return make_router(records, view, choices, lambda record: record.create(None))


def chosen(tmp_path, **more):
    choice = {"model_short_name": "parrot", "format": "gguf", "path": "/m.gguf", **more}
    (tmp_path / "config.json").write_text(json.dumps(choice))


def run(work):
    return asyncio.run(work)


# --- who answers


def test_without_a_model_it_says_what_to_do(tmp_path):
    async def work():
        found = router(tmp_path, record(FakeLLM(configured=False)), HOSTED)
        assert await found.models() == ()
        assert found.status() is None
        for asked in (found.choose(None), found.complete(request("x")), found.count(request("x"))):
            with pytest.raises(ModelMissingError, match="no language model is set up") as raised:
                await asked
            assert "cloxy init" in raised.value.hint
            assert "CLOXY_LLM_BASE_URL" in raised.value.hint

    run(work())


def test_one_that_its_owner_configured_goes_first(tmp_path):
    chosen(tmp_path)

    async def work():
        found = router(tmp_path, HOSTED, record(FakeLLM(), "http"))
        assert (await found.choose(None)).backend == "http"
        assert (await found.choose("second")).id == "second"
        assert (await found.choose("gpt-4o")).id == "first"
        assert [each.id for each in await found.models()] == ["first", "second"]

    run(work())


def test_the_chosen_file_decides_and_is_read_again(tmp_path):
    async def work():
        found = router(tmp_path, record(FakeLLM(configured=False), "http"), HOSTED)
        with pytest.raises(ModelMissingError):
            await found.choose(None)
        chosen(tmp_path)
        try:
            assert await said(found, "say hello") == "hello "
            status = found.status()
            assert (status.name, status.model, status.loaded) == ("parrots", "parrot", True)
            chosen(tmp_path, model_short_name="another")
            assert (await found.choose(None)).id == "another"
        finally:
            await found.aclose()
        chosen(tmp_path, format="mlx")
        with pytest.raises(ModelMissingError, match="of the form mlx"):
            await found.choose(None)
        assert "of the form mlx" in found.status().trouble
        (tmp_path / "config.json").write_text("{")
        with pytest.raises(ConfigError):
            await found.choose(None)
        assert "config.json" in found.status().trouble

    run(work())


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"modules": ("no_such_module",)}, "the module 'no_such_module' is not installed"),
        ({"modules": ("no_such.inner",)}, "is not installed"),
        ({"available": lambda: "it needs a machine of Apple"}, "it needs a machine of Apple"),
        ({"available": lambda: 1 / 0}, "ZeroDivisionError"),
    ],
)
def test_a_library_that_cannot_run_here_says_why(tmp_path, more, words):
    chosen(tmp_path)
    unfit = HostedModelProvider(
        name="unfit", summary="", format="gguf", target="x:y", extra="llama", **more
    )

    async def work():
        for wanted in ("auto", "unfit"):
            found = router(tmp_path, unfit, chat=wanted)
            with pytest.raises(ModelMissingError, match=words) as raised:
                await found.choose(None)
            assert raised.value.hint == "pip install 'cloxy[llama]'"
        found = router(tmp_path, unfit, HOSTED)
        assert [each.backend for each in await found.models()] == ["parrots"]

    run(work())


def test_roles_have_back_ends_of_their_own(tmp_path):
    async def work():
        found = router(
            tmp_path, record(FakeLLM(["x"]), "one"), record(FakeLLM(["y"]), "two"), extract="two"
        )
        assert (await found.complete(request("?"))).text == "x"
        assert (await found.complete(request("?"), "extract")).text == "y"
        with pytest.raises(ModelMissingError, match=r"llm\.reflect is none"):
            await found.complete(request("?"), "reflect")
        assert found.status("rerank") is None

    run(work())


def test_a_name_that_nobody_has_is_refused_at_the_start(tmp_path):
    with pytest.raises(SettingError, match=r"llm\.chat: there is no 'none-such'") as raised:
        router(tmp_path, record(FakeLLM()), chat="none-such")
    assert "fake" in raised.value.hint


def test_a_server_without_a_model_says_so(tmp_path):
    llm = FakeLLM()
    llm.names = ()

    async def work():
        with pytest.raises(ModelMissingError, match="has no model"):
            await router(tmp_path, record(llm)).choose(None)

    run(work())


# --- answers


def test_pieces_and_the_whole(tmp_path):
    async def work():
        found = router(tmp_path, record(FakeLLM()))
        deltas = [delta async for delta in found.stream(request("?"))]
        assert [delta.finish for delta in deltas] == [None, None, "stop", None]
        answer = await found.complete(request("?"))
        assert (answer.text, answer.finish, answer.usage.completion) == ("a b ", "stop", 2)
        assert (found.status().running, found.status().waiting) == (0, 0)

    run(work())


def test_calls_of_tools_are_joined_by_index():
    joining = Joining()
    for part in (
        ChatDelta(tool_calls=(ToolCallDelta(1, "b", "second", '{"x"'),)),
        ChatDelta(text="now "),
        ChatDelta(
            tool_calls=(ToolCallDelta(0, "a", "first", "{}"), ToolCallDelta(1, arguments=":1}"))
        ),
        ChatDelta(tool_calls=(ToolCallDelta(2, name="third"),)),
        ChatDelta(finish="tool_calls"),
    ):
        joining.add(part)
    answer = joining.answer()
    assert answer.tool_calls == (
        ToolCall("a", "first", "{}"),
        ToolCall("b", "second", '{"x":1}'),
        ToolCall("call_2", "third", ""),
    )
    assert (answer.text, answer.finish) == ("now ", "tool_calls")


def test_an_answer_that_breaks_off_is_no_answer(tmp_path):
    async def work():
        with pytest.raises(ModelError, match="in the middle"):
            await router(tmp_path, record(FakeLLM(finish=False))).complete(request("?"))

    run(work())


def test_errors_of_others_keep_no_word_of_the_conversation(tmp_path, caplog):
    async def work():
        llm = FakeLLM()
        found = router(tmp_path, record(llm))
        llm.error = RuntimeError("the secret heron")
        with pytest.raises(ModelError, match="'fake' failed: RuntimeError") as raised:
            await found.complete(request("?"))
        assert "heron" not in str(raised.value) + caplog.text
        llm.error = ContextTooLongError("too long")
        with pytest.raises(ContextTooLongError):
            await found.complete(request("?"))
        assert found.status().running == 0

    run(work())


# --- turns and times


def test_one_at_a_time_then_a_queue_then_a_refusal(tmp_path):
    async def work():
        llm = FakeLLM()
        llm.gate.clear()
        found = router(tmp_path, record(llm, concurrent=1), queue=1)
        first = asyncio.create_task(found.complete(request("?")))
        second = asyncio.create_task(found.complete(request("?")))
        while (found.status().running, found.status().waiting) != (1, 1):
            await asyncio.sleep(0)
        with pytest.raises(ModelBusyError) as raised:
            await found.complete(request("?"))
        assert 1 <= raised.value.retry_seconds <= 60
        llm.gate.set()
        assert {(await first).text, (await second).text} == {"a b "}
        assert llm.most == 1

    run(work())


def test_who_goes_away_leaves_the_queue(tmp_path):
    async def work():
        llm = FakeLLM()
        llm.gate.clear()
        found = router(tmp_path, record(llm, concurrent=1), queue=1)
        first = asyncio.create_task(found.complete(request("?")))
        gone = asyncio.create_task(found.complete(request("?")))
        while found.status().waiting != 1:
            await asyncio.sleep(0)
        gone.cancel()
        await asyncio.wait((gone,))
        assert found.status().waiting == 0
        third = asyncio.create_task(found.complete(request("?")))
        while found.status().waiting != 1:
            await asyncio.sleep(0)
        llm.gate.set()
        await asyncio.gather(first, third)

    run(work())


def test_waiting_has_an_end(tmp_path):
    async def work():
        llm = FakeLLM()
        llm.gate.clear()
        found = router(tmp_path, record(llm, concurrent=1), wait=0.05)
        first = asyncio.create_task(found.complete(request("?")))
        while found.status().running != 1:
            await asyncio.sleep(0)
        with pytest.raises(ModelBusyError, match=r"0\.05 seconds"):
            await found.complete(request("?"))
        assert found.status().waiting == 0
        llm.gate.set()
        await first

    run(work())


@pytest.mark.parametrize(
    ("given_settings", "words"),
    [
        ({"first_piece": 0.05}, "said nothing for 0.05 seconds"),
        ({"timeout": 0.05}, "did not end its answer within 0.05 seconds"),
    ],
)
def test_an_answer_has_an_end(tmp_path, given_settings, words):
    async def work():
        llm = FakeLLM()
        llm.gate.clear()
        found = router(tmp_path, record(llm), **given_settings)
        with pytest.raises(ModelTimeoutError, match=words):
            await found.complete(request("?"))
        assert (llm.open, llm.left, found.status().running) == (0, 1, 0)

    run(work())


def test_a_limit_on_the_first_piece_is_none_on_the_others(tmp_path):
    async def work():
        llm = FakeLLM()
        found = router(tmp_path, record(llm), first_piece=1.0)
        async with aclosing(found.stream(request("?"))) as deltas:
            await anext(deltas)
            llm.gate.clear()
            rest = asyncio.create_task(texts(deltas))
            await asyncio.sleep(1.2)
            assert not rest.done()
            llm.gate.set()
            assert await rest == ["b "]

    run(work())


def test_the_first_come_is_first_served():
    async def work():
        places = Places(1, 10, 5)
        order = []

        async def one(number):
            async with places.place():
                order.append(number)
                await asyncio.sleep(0)

        await asyncio.gather(*(one(number) for number in range(6)))
        return order

    assert run(work()) == list(range(6))


def test_how_long_to_wait_follows_how_long_answers_take():
    now = [0.0]

    async def work():
        places = Places(1, 0, 5, lambda: now[0])
        told = []
        for seconds in (2, 2, 2, 2, 2, 2, 500, 500):
            async with places.place():
                with pytest.raises(ModelQueueError) as raised:
                    async with places.place():
                        pass
                told.append(raised.value.retry_seconds)
                now[0] += seconds
        return told

    told = run(work())
    assert told[0] == 10
    assert told[5] < 5
    assert told[-1] == 60


STEPS = st.lists(
    st.sampled_from(["all", "close", "cancel", "error", "drop", "unstarted", "throw"]),
    min_size=1,
    max_size=8,
)


@settings(max_examples=60, deadline=None)
@given(steps=STEPS, pieces=st.integers(0, 3))
def test_a_place_is_free_again_whatever_happens(tmp_path_factory, steps, pieces):
    async def work():
        llm = FakeLLM()
        found = router(tmp_path_factory.getbasetemp(), record(llm, concurrent=1), queue=0)
        for step in steps:
            llm.error = RuntimeError() if step == "error" else None
            llm.gate.set()
            deltas = found.stream(request("?"))
            if step == "unstarted":
                await deltas.aclose()
                continue
            if step in {"all", "error"}:
                try:
                    async for _delta in deltas:
                        pass
                except ModelError:
                    assert step == "error"
                continue
            if step == "cancel":
                llm.gate.clear()
                reading = asyncio.create_task(texts(deltas))
                for _ in range(pieces):
                    await asyncio.sleep(0)
                reading.cancel()
                await asyncio.wait((reading,))
                await deltas.aclose()
                continue
            for _ in range(pieces):
                await anext(deltas)
            if step == "throw" and pieces:
                with pytest.raises(ValueError, match="thrown"):
                    await deltas.athrow(ValueError("thrown"))
            elif step == "drop":
                del deltas
                for _ in range(200):
                    await asyncio.sleep(0)
                continue
            await deltas.aclose()
        assert found.status().running == 0
        assert found.status().waiting == 0
        assert llm.open == 0
        llm.error = None
        llm.gate.set()
        assert (await found.complete(request("?"))).text == "a b "

    asyncio.run(work())


# --- what leaves this machine


def test_answers_for_which_a_conversation_left_are_counted(tmp_path):
    async def work():
        llm = FakeLLM(remote=True)
        found = router(tmp_path, record(llm))
        assert (found.status().remote, found.status().sent_away) == (True, 0)
        await found.complete(request("?"))
        llm.error = RuntimeError()
        with pytest.raises(ModelError):
            await found.complete(request("?"))
        assert found.status().sent_away == 2
        llm.words, llm.error = (), RemoteModelError("not allowed")
        with pytest.raises(RemoteModelError):
            await found.complete(request("?"))
        assert found.status().sent_away == 2

    run(work())


def test_a_model_that_a_server_here_passes_on_counts_as_well(tmp_path):
    class PassesOn(FakeLLM):
        async def models(self):
            return [replace(info, remote=info.id == "second") for info in await super().models()]

    async def work():
        found = router(tmp_path, record(PassesOn()))
        await found.choose("second")
        for model, left in (("first", 0), (None, 0), ("second", 1), ("second", 2)):
            await found.complete(request("?", model=model))
            status = found.status()
            assert (status.remote, status.sent_away) == (left > 0, left)

    run(work())


# --- counting, loading beforehand


def test_an_estimate_is_on_the_safe_side():
    words = "The quick brown fox jumps over the lazy dog. " * 20
    assert estimated_tokens(request(words)) > len(words) / 4
    assert estimated_tokens(request("字" * 100)) >= 100
    tools = request("x", tools=(ToolSpec("f", "d", {"type": "object", "x": "y" * 300}),))
    assert estimated_tokens(tools) > 100
    with_calls = request("x")
    assert estimated_tokens(with_calls) < estimated_tokens(
        type(with_calls)(messages=(ChatMessage("assistant", "", (ToolCall("a", "b", "c" * 90),)),))
    )


def test_counting_falls_back_to_the_estimate(tmp_path):
    async def work():
        asked = request("hello there")
        found = router(tmp_path, record(FakeLLM()))
        assert await found.count(asked) == estimated_tokens(asked)
        chosen(tmp_path)
        found = router(tmp_path, HOSTED)
        try:
            assert await found.count(asked) == 2
        finally:
            await found.aclose()

    run(work())


@pytest.mark.parametrize("eager", ["0", "1"])
def test_it_is_loaded_beforehand_only_where_that_is_wanted(tmp_path, eager):
    chosen(tmp_path)

    async def work():
        found = router(tmp_path, HOSTED, eager=eager)
        try:
            await found.warm()
            return found.status() and found.status().loaded
        finally:
            await found.aclose()

    assert run(work()) is (eager == "1")


def test_nothing_to_load_beforehand_is_no_failure(tmp_path):
    run(router(tmp_path, eager="1").warm())


def test_settings_become_plain(tmp_path):
    given_values = {"a": (1, tmp_path), "b": None, "c": frozenset({"x"})}
    assert plain(given_values) == {"a": [1, str(tmp_path)], "b": None, "c": ["x"]}
