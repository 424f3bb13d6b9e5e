"""A model in a process of its own: real processes, a model of a few lines."""

import asyncio
import os
import signal
import subprocess
import sys
from contextlib import aclosing
from dataclasses import replace

import pytest
from llm.core_helpers import (
    CHOICE,
    hosted,
    is_running,
    request,
    said,
    texts,
    wait_until,
)

from cloxy_core.services.llm import hosting as hosting_module
from cloxy_core.services.llm import process as process_module
from cloxy_core.services.llm.hosting import HostedBackend, usable_threads
from cloxy_hookspecs import (
    ChatMessage,
    ContextTooLongError,
    ModelError,
    ModelTimeoutError,
    ResponseFormat,
    ToolCall,
    ToolChoice,
    ToolSpec,
    UnsupportedModelError,
)

linux = pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")


def run(work):
    """Run `work(backend)`, and close the backend."""

    async def all_of_it():
        backend = hosted()
        try:
            return await work(backend)
        finally:
            await backend.aclose()

    return asyncio.run(all_of_it())


def test_pieces_come_one_by_one_and_their_end_once():
    async def work(backend):
        return [delta async for delta in backend.stream(request("say a b c"))]

    deltas = run(work)
    assert [delta.text for delta in deltas] == ["a ", "b ", "c ", ""]
    assert [delta.finish for delta in deltas] == [None, None, None, "stop"]
    assert deltas[-1].usage.prompt == 4
    assert deltas[-1].usage.completion == 3


def test_nothing_is_started_before_it_is_needed():
    async def work(backend):
        assert (backend.pid, backend.loaded, backend.trouble) == (None, False, None)
        (info,) = await backend.models()
        assert (info.id, info.tools) == ("parrot", False)
        assert backend.pid is None
        known = await backend.info()
        assert (known.tools, known.context_tokens, known.backend) == (True, 99, "pages")
        assert await backend.models() == [known]
        return backend.loaded

    assert run(work) is True


def test_what_is_asked_arrives_as_it_was():
    asked = replace(
        request("request"),
        messages=(
            ChatMessage("system", "be \ud800 kind", name="n"),
            ChatMessage("assistant", "", tool_calls=(ToolCall("c", "f", "{}"),)),
            ChatMessage("tool", "r", tool_call_id="c"),
            ChatMessage("user", "request"),
        ),
        model="m",
        temperature=0.5,
        top_p=0.25,
        stop=("x", "y"),
        seed=7,
        tools=(ToolSpec("f", "does", {"type": "object"}),),
        tool_choice=ToolChoice("named", "f", True),
        response_format=ResponseFormat({"type": "object"}, "shape"),
    )

    async def work(backend):
        return "".join(await texts(backend.stream(asked)))

    assert run(work) == repr(asked)


def test_calls_of_tools_come_back():
    async def work(backend):
        return [delta async for delta in backend.stream(request("call recall"))]

    (delta,) = run(work)
    assert (delta.finish, delta.tool_calls[0].name, delta.tool_calls[0].id) == (
        "tool_calls",
        "recall",
        "c1",
    )


def test_noise_of_the_library_spoils_nothing():
    assert run(lambda backend: said(backend, "print")) == "quiet"


@linux
def test_the_process_is_polite_alone_and_knows_no_secret(monkeypatch):
    monkeypatch.setenv("CLOXY_API_KEY", "secret")
    monkeypatch.setenv("CLOXY_LLM_API_KEY", "secret")

    async def work(backend):
        pid, nice, session, descriptors = (await said(backend, "pid")).split()
        assert int(pid) == backend.pid
        assert int(nice) >= os.nice(0) + 10 or int(nice) == 19
        assert session == pid
        # Its three own, two of the protocol, and the one that lists them.
        assert int(descriptors) <= 7
        assert await said(backend, "threads") == "2 2"
        return await said(backend, "environment")

    names = run(work).split()
    assert not [name for name in names if name.startswith("CLOXY") or "KEY" in name]
    assert "HOME" in names


def test_settings_reach_it():
    async def work():
        backend = hosted(settings={"parrot.depth": 3})
        try:
            return await said(backend, "settings")
        finally:
            await backend.aclose()

    assert asyncio.run(work()) == "{'parrot.depth': 3}"


@pytest.mark.parametrize(
    ("text", "kind", "words"),
    [
        ("long", ContextTooLongError, "do not fit"),
        ("tools", UnsupportedModelError, "takes no tools"),
        ("fail it", ModelError, "ValueError: cannot say it"),
    ],
)
def test_what_it_raises_keeps_its_meaning_and_it_goes_on(text, kind, words):
    async def work(backend):
        with pytest.raises(kind, match=words) as raised:
            await said(backend, text)
        assert type(raised.value) is kind
        pid = backend.pid
        assert await said(backend, "say on") == "on "
        assert backend.pid == pid

    run(work)


def test_closing_ends_the_work_and_not_the_process(monkeypatch, tmp_path):
    monkeypatch.setattr(process_module, "CANCEL_SECONDS", 60.0)  # it is given time to hear of it
    notes = tmp_path / "notes"

    async def work():
        backend = hosted(settings={"parrot.notes": str(notes)})
        try:
            async with aclosing(backend.stream(request("slow 100000 x"))) as deltas:
                async for _delta in deltas:
                    break
            pid = backend.pid
            assert await said(backend, "say on") == "on "
            assert backend.pid == pid
        finally:
            await backend.aclose()

    asyncio.run(work())
    first, second = notes.read_text().splitlines()
    assert int(first.split()[-1]) < 1000
    assert second == "closed after 1"


async def until_inside(notes):
    while not notes.exists() or "inside" not in notes.read_text():
        await asyncio.sleep(0.01)


@pytest.mark.parametrize("text", ["stuck", "spin"])
def test_what_does_not_stop_is_killed_and_started_anew(monkeypatch, tmp_path, text):
    monkeypatch.setattr(process_module, "CANCEL_SECONDS", 0.2)
    notes = tmp_path / "notes"

    async def work():
        backend = hosted(settings={"parrot.notes": str(notes)})
        try:
            async with aclosing(backend.stream(request(text))) as deltas:
                await anext(deltas)
                await until_inside(notes)
            assert backend.pid is None
            return await said(backend, "say on")
        finally:
            await backend.aclose()

    assert asyncio.run(work()) == "on "


@pytest.mark.parametrize("times", [1, 2])
def test_a_cancelled_reader_ends_the_work(monkeypatch, tmp_path, times):
    """Also one that is cancelled again while it waits for the end."""
    monkeypatch.setattr(process_module, "CANCEL_SECONDS", 0.2)
    notes = tmp_path / "notes"

    async def work():
        backend = hosted(settings={"parrot.notes": str(notes)})
        try:
            reading = asyncio.create_task(said(backend, "stuck"))
            await until_inside(notes)
            for _ in range(times):
                reading.cancel()
                await asyncio.sleep(0.01)
            with pytest.raises(asyncio.CancelledError):
                await reading
            assert backend.pid is None
            return await said(backend, "say on")
        finally:
            await backend.aclose()

    assert asyncio.run(work()) == "on "


def test_a_crash_ends_one_answer_and_nothing_else():
    async def work(backend):
        with pytest.raises(ModelError, match="ended in the middle") as raised:
            await said(backend, "die")
        assert "cloxy init" in raised.value.hint
        return await said(backend, "say on")

    assert run(work) == "on "


@linux
def test_a_process_that_somebody_kills_is_started_anew():
    async def work(backend):
        assert await said(backend, "say a") == "a "
        os.kill(backend.pid, signal.SIGKILL)
        while backend.pid is not None:
            await asyncio.sleep(0.01)
        return await said(backend, "say on")

    assert run(work) == "on "


@pytest.mark.parametrize(
    ("path", "words"),
    [("broken", "no such kind of file"), ("crash", "ended in the middle")],
)
def test_what_cannot_be_loaded_is_said_and_not_tried_at_once(monkeypatch, path, words):
    async def work():
        choice = replace(CHOICE, path=path)
        backend = HostedBackend(hosted()._hosting, lambda: choice)
        try:
            with pytest.raises(ModelError, match=words) as raised:
                await said(backend, "say a")
            assert "'parrot' cannot be loaded" in raised.value.message
            assert raised.value.hint
            assert words in backend.trouble
            starts = []
            monkeypatch.setattr(hosting_module.ModelProcess, "start", lambda *_: starts.append(1))
            with pytest.raises(ModelError, match=words):
                await said(backend, "say a")
            assert starts == []
            monkeypatch.undo()
            # Another choice is tried at once.
            choice = CHOICE
            assert await said(backend, "say a") == "a "
            assert backend.trouble is None
        finally:
            await backend.aclose()

    asyncio.run(work())


def test_it_is_tried_again_later(monkeypatch):
    monkeypatch.setattr(hosting_module, "RETRY_SECONDS", 0.0)

    async def work():
        path = "broken"
        backend = HostedBackend(hosted()._hosting, lambda: replace(CHOICE, path="broken"))
        del path
        starts = []
        start = hosting_module.ModelProcess.start

        async def counted(threads):
            starts.append(threads)
            return await start(threads)

        monkeypatch.setattr(hosting_module.ModelProcess, "start", counted)
        try:
            for _ in range(2):
                with pytest.raises(ModelError, match="no such kind"):
                    await said(backend, "say a")
        finally:
            await backend.aclose()
        return starts

    assert asyncio.run(work()) == [2, 2]


def test_loading_has_an_end():
    async def work():
        backend = HostedBackend(
            replace(hosted()._hosting, load_seconds=1.0), lambda: replace(CHOICE, path="hang")
        )
        try:
            with pytest.raises(ModelTimeoutError, match="within 1 seconds"):
                await said(backend, "say a")
        finally:
            await backend.aclose()

    asyncio.run(work())


def test_who_goes_away_while_it_is_loaded_spoils_nothing():
    async def work():
        backend = HostedBackend(hosted()._hosting, lambda: replace(CHOICE, path="slow"))
        try:
            first = asyncio.create_task(said(backend, "say a"))
            while backend._loading is None:
                await asyncio.sleep(0.005)
            loading = backend._loading
            first.cancel()
            await asyncio.wait((first,))
            assert await said(backend, "say b") == "b "
            assert loading.done()
            assert not loading.cancelled()
        finally:
            await backend.aclose()

    asyncio.run(work())


@linux
def test_another_choice_takes_its_place():
    async def work():
        choice = CHOICE
        backend = HostedBackend(hosted()._hosting, lambda: choice)
        try:
            await backend.info()
            first = backend.pid
            choice = replace(CHOICE, name="second")
            assert (await backend.info()).id == "second"
            assert backend.pid != first
            assert not is_running(first)
        finally:
            await backend.aclose()

    asyncio.run(work())


@linux
def test_idle_it_gives_its_memory_back_and_comes_again():
    async def work():
        backend = hosted(idle_seconds=0.2)
        try:
            assert await said(backend, "say a") == "a "
            pid = backend.pid
            while is_running(pid):
                await asyncio.sleep(0.02)
            assert backend.loaded is False
            assert (await backend.models())[0].tools  # what was known stays known
            # Longer than the idle time, and it is not taken away meanwhile.
            assert await said(backend, "slow 60 x") == "x" * 60
        finally:
            await backend.aclose()

    asyncio.run(work())


def test_counting_asks_the_model_unless_it_is_busy():
    async def work(backend):
        assert await backend.count(request("one two three")) == 3
        async with aclosing(backend.stream(request("slow 100000 x"))) as deltas:
            await anext(deltas)
            assert await backend.count(request("one two three")) is None

    run(work)


def test_closing_the_server_kills_what_is_at_work():
    async def work():
        backend = hosted()
        reading = asyncio.create_task(said(backend, "stuck"))
        while not backend.loaded:
            await asyncio.sleep(0.01)
        pid = backend.pid
        await backend.aclose()
        with pytest.raises(ModelError):
            await reading
        with pytest.raises(ModelError, match="shutting down"):
            await said(backend, "say a")
        return pid

    pid = asyncio.run(work())
    if sys.platform == "linux":
        assert not is_running(pid)


OWNER = """
import asyncio, sys
sys.path[:0] = {path!r}
from llm.core_helpers import hosted, request

async def main():
    backend = hosted()
    async for delta in backend.stream(request({text!r})):
        print(backend.pid, flush=True)
    await asyncio.sleep(600)

asyncio.run(main())
"""


@linux
@pytest.mark.parametrize("text", ["say a", "stuck", "spin"])
def test_a_killed_owner_leaves_no_process(text):
    code = OWNER.format(path=sys.path, text=text)
    owner = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    pid = int(owner.stdout.readline())
    assert is_running(pid)
    owner.kill()
    owner.wait()
    owner.stdout.close()
    wait_until(lambda: not is_running(pid))


@pytest.mark.parametrize(
    ("wanted", "cores", "threads"), [(0, 8, 7), (0, 2, 1), (0, 1, 1), (3, 2, 3), (1, 64, 1)]
)
def test_one_core_is_left_free(wanted, cores, threads):
    assert usable_threads(wanted, cores) == threads
