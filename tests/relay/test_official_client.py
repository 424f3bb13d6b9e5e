"""The official client over stdio, in both eras, against the real server."""

import asyncio

import pytest
from mcp import Client, MCPError, StdioServerParameters  # noqa: TID253 - the client that is tried
from process.cli_runner import PROGRAM
from process.launching_kit import Background


@pytest.fixture(scope="module")
def background(tmp_path_factory):
    folder = tmp_path_factory.mktemp("real")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(folder))
        server = Background(folder)
        started = server.run("start", "-d")
        assert started.returncode == 0, started.stderr
        yield server
        server.stop()


@pytest.fixture(params=["2026-07-28", "legacy", "auto"])
def use(request, background):
    """Run a coroutine function with a client that has started `cloxy mcp`."""
    target = StdioServerParameters(
        command=str(PROGRAM), args=["mcp", "--toolsets", "all"], env=background.environ
    )

    def run(work):
        async def connected():
            async with Client(target, mode=request.param) as client:
                return await work(client)

        return asyncio.run(connected())

    return run


def test_every_tool_is_listed_as_over_http(use, background):
    async def names(client):
        return [tool.name for tool in (await client.list_tools()).tools]

    async def over_http():
        async with Client(f"{background.url}/mcp?toolsets=all") as client:
            return await names(client)

    assert use(names) == asyncio.run(over_http())


def test_what_is_remembered_is_recalled_and_forgotten(use):
    async def work(client):
        kept = await client.call_tool("remember", {"text": "the ledger is in PostgreSQL 密钥"})
        found = await client.call_tool("recall", {"query": "ledger PostgreSQL"})
        memory = found.structured_content["results"][0]["id"]
        gone = await client.call_tool("forget", {"memory_id": memory})
        return kept, found, gone

    for result in (kept := use(work)):
        assert not result.is_error, result.content
    assert "密钥" in kept[1].content[0].text


def test_side_by_side(use):
    async def work(client):
        calls = [client.call_tool("memory_status", {}) for _ in range(12)]
        return await asyncio.gather(*calls)

    assert not any(result.is_error for result in use(work))


def test_errors_arrive_as_they_are(use):
    async def work(client):
        wrong = await client.call_tool("recall", {"query": ""})
        with pytest.raises(MCPError) as refused:
            await client.read_resource("cloxy://nonsense/1")
        return wrong, refused.value

    wrong, refused = use(work)
    assert wrong.is_error
    assert refused.error.code < 0
