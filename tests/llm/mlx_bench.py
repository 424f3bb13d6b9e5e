"""Asks the MLX back-end in a process of its own, as the server does."""

import asyncio
import json
from contextlib import aclosing

from cloxy_core.services.llm.process import ModelProcess, Target
from cloxy_hookspecs import ChatMessage, ChatRequest, HostedOptions, ModelChoice

TARGET = Target("cloxy_plugins.llm_mlx.loading", "load")


def folder_of(tmp_path, says="Paris.", **config):
    """A folder with a model of the stand-in."""
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps({"says": says, **config}))
    return folder


def options_of(folder, **choice):
    return HostedOptions(ModelChoice("tiny", "mlx", str(folder), path=str(folder), **choice), 1)


def ask(text="Where?", **fields):
    messages = (ChatMessage("user", text),) if isinstance(text, str) else tuple(text)
    return ChatRequest(messages=messages, **{"temperature": 0.0, "max_tokens": 400, **fields})


def in_process(options, work):
    """Load a model in a process, and do the work with that."""

    async def done():
        process = await ModelProcess.start(1)
        try:
            info = await process.load(TARGET, options)
            return await work(process, info)
        finally:
            await process.end()

    return asyncio.run(done())


async def said(process, request):
    """Text and last delta of an answer; its calls beside."""
    async with aclosing(process.generate(request)) as stream:
        deltas = [delta async for delta in stream]
    assert [delta.finish is not None for delta in deltas] == [*[False] * (len(deltas) - 1), True]
    calls = [part for delta in deltas for part in delta.tool_calls]
    return "".join(delta.text for delta in deltas), deltas[-1], calls


def answers(folder, *requests, **choice):
    """Text and last delta of one answer after the other, from one process."""

    async def work(process, _):
        return [(await said(process, request))[:2] for request in requests]

    return in_process(options_of(folder, **choice), work)
