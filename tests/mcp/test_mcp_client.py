"""The official client, over HTTP, in both eras: everything that a client does."""

import asyncio

import pytest
from mcp import Client, MCPError  # noqa: TID253 - the client that is tried

MODES = ("2026-07-28", "legacy")
EIGHT = {"forget", "memory_status", "projects", "recall", "remember"}
HINTS = {
    "recall": (True, False, True, False),
    "projects": (True, False, True, False),
    "memory_status": (True, False, True, False),
    "remember": (False, False, True, False),
    "forget": (False, True, True, False),
    "ingest": (False, False, True, False),
    "reindex": (False, False, True, False),
    "forget_source": (False, True, False, False),
}


@pytest.fixture(params=MODES)
def use(request, filled):
    """Run a coroutine function with a connected client."""

    def run(work, path="/mcp"):
        async def connected():
            async with Client(filled.url + path, mode=request.param) as client:
                return await work(client)

        return asyncio.run(connected())

    return run


def text_of(result):
    assert len(result.content) == 1
    return result.content[0].text


def test_lists_tools_with_schemas_titles_and_hints(use):
    async def work(client):
        return (await client.list_tools()).tools

    tools = {tool.name: tool for tool in use(work, "/mcp?toolsets=all")}
    assert set(tools) >= EIGHT | {"ingest", "reindex", "forget_source"}
    for name, tool in tools.items():
        hints = tool.annotations
        assert tool.title
        assert tool.description
        assert tool.input_schema["type"] == tool.output_schema["type"] == "object"
        if name in HINTS:
            assert HINTS[name] == (
                hints.read_only_hint,
                hints.destructive_hint,
                hints.idempotent_hint,
                hints.open_world_hint,
            )
    asked = set(tools["recall"].input_schema["properties"])
    assert asked == {"query", "top_k", "project", "since", "until", "mode", "cursor"}
    assert tools["recall"].input_schema["required"] == ["query"]
    assert "next_cursor" in tools["recall"].output_schema["properties"]
    assert set(tools["remember"].input_schema["properties"]) == {"text", "source", "project"}
    assert set(tools["forget"].input_schema["properties"]) == {"memory_id"}


def test_only_the_default_toolset_is_shown_unasked(use):
    async def work(client):
        return {tool.name for tool in (await client.list_tools()).tools}

    names = use(work)
    assert names >= EIGHT
    assert not names & {"ingest", "reindex", "forget_source"}


def test_recall_answers_as_text_and_as_data(use):
    async def work(client):
        return await client.call_tool("recall", {"query": "harbour ledger", "mode": "keyword"})

    result = use(work)
    assert not result.is_error
    lines = text_of(result).splitlines()
    # The sessions are of 13:56 UTC; the server runs in Tokyo.
    assert lines[2].startswith("#1 [2026-05-08 22:56 · shop · ")
    (hit,) = result.structured_content["results"]
    assert f"(score {hit['score']:.3f}, id {hit['id']})" in lines[2]
    assert "session s-one, the user and the assistant" in lines[2]
    assert lines[3] == "USER: We decided to keep the harbour ledger in PostgreSQL."
    assert result.structured_content["next_cursor"] is None


def test_nothing_relevant_is_said_in_a_sentence(use):
    async def work(client):
        asked = {"query": "zeppelin", "mode": "keyword", "project": "shop"}
        return await client.call_tool("recall", asked)

    result = use(work)
    assert text_of(result).startswith("No relevant memories were found.")
    assert result.structured_content["results"] == []


def test_remember_recall_and_forget(use):
    async def work(client):
        text = "Grapefruit juice goes to the third shelf."
        stored = await client.call_tool("remember", {"text": text, "project": "/srv/kitchen"})
        (id_,) = stored.structured_content["ids"]
        found = await client.call_tool("recall", {"query": "grapefruit", "mode": "keyword"})
        gone = await client.call_tool("forget", {"memory_id": id_})
        again = await client.call_tool("forget", {"memory_id": id_})
        return stored, found, gone, again

    stored, found, gone, again = use(work)
    assert text_of(stored).startswith("Stored 1 new memory (ids: ")
    (hit,) = found.structured_content["results"]
    assert hit["source"].startswith("mcp")
    assert "a note" in text_of(found)
    assert "\nDeleted memory " in text_of(gone)
    assert again.is_error
    assert "no" in text_of(again)
    assert again.structured_content is None


def test_projects_and_status(use):
    async def work(client):
        return await client.call_tool("projects"), await client.call_tool("memory_status")

    projects, status = use(work)
    (line,) = [row for row in text_of(projects).splitlines() if row.startswith("/srv/demo/shop")]
    assert line == "/srv/demo/shop: 2 memories, 2 sessions, 2026-05-08 → 2026-05-08"
    assert status.structured_content["health"]["service"] == "cloxy"
    assert status.structured_content["health"]["port"] > 0
    assert status.structured_content["stats"]["total_memories"] >= 2
    assert '"embed_model"' in text_of(status)


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("recall", {}, "query: Field required"),
        ("recall", {"query": "x", "top_k": 0}, "top_k: Input should be greater"),
        ("recall", {"query": "x", "mode": "psychic"}, "mode: Input should be 'hybrid'"),
        ("recall", {"query": "x", "since": "never ever"}, "is not a date"),
        ("remember", {"text": ""}, "text: String should have at least 1"),
        ("forget", {"memory_id": "seven"}, "memory_id: Input should be a valid integer"),
        ("recall", {"query": "x", "cursor": "%%%"}, "this is no cursor"),
        ("recall", {"query": "x", "cursor": 7}, "cursor: must be a text"),
    ],
)
def test_what_is_wrong_is_told_in_the_result(use, tool, arguments, words):
    async def work(client):
        return await client.call_tool(tool, arguments)

    result = use(work)
    assert result.is_error
    assert words in text_of(result)


def test_a_tool_that_does_not_exist_is_an_error_of_the_protocol(use):
    async def work(client):
        with pytest.raises(MCPError) as missing:
            await client.call_tool("no_such_tool", {})
        with pytest.raises(MCPError) as hidden:
            await client.call_tool("reindex", {})
        return missing.value, hidden.value

    missing, hidden = use(work)
    assert "no_such_tool" in missing.message
    assert "toolsets=admin" in hidden.message


def test_bulk_deletion_needs_the_count_of_a_dry_run(use):
    async def work(client):
        for word in ("one", "two"):
            given = {"text": f"Bulk fact {word}", "source": "bulky"}
            await client.call_tool("remember", given)
        counted = await client.call_tool("forget_source", {"source_prefix": "bulky"})
        wrong = await client.call_tool(
            "forget_source", {"source_prefix": "bulky", "confirm_count": 3}
        )
        right = await client.call_tool(
            "forget_source", {"source_prefix": "bulky", "confirm_count": 2}
        )
        return counted, wrong, right

    counted, wrong, right = use(work, "/mcp?toolsets=cloxy,admin")
    assert counted.structured_content["dry_run"] is True
    assert "2 memories of the source bulky would be deleted" in text_of(counted)
    assert wrong.is_error
    assert "there are 2 memories of that, not 3" in text_of(wrong)
    assert right.structured_content["deleted"] == 2
    assert right.structured_content["dry_run"] is False


def test_reindex_and_ingest(use):
    async def work(client):
        heard = []

        async def on_progress(done, total, message):
            heard.append((done, total, message))

        ingested = await client.call_tool("ingest", {"force": True}, progress_callback=on_progress)
        return ingested, heard, await client.call_tool("reindex")

    ingested, heard, reindexed = use(work, "/mcp?toolsets=admin")
    assert ingested.structured_content["chunks_duplicate"] == 3
    assert heard[-1][:2] == (2, 2)
    assert "Rebuilt every index" in text_of(reindexed)


def test_resources(use):
    async def work(client):
        listed = await client.list_resources()
        templates = await client.list_resource_templates()
        found = await client.call_tool("recall", {"query": "lighthouse", "mode": "keyword"})
        (hit,) = found.structured_content["results"]
        memory = await client.read_resource(f"cloxy://memory/{hit['id']}")
        session = await client.read_resource(f"cloxy://session/{hit['session_id']}")
        projects = await client.read_resource("cloxy://projects")
        return listed, templates, memory, session, projects

    listed, templates, memory, session, projects = use(work)
    assert [resource.uri for resource in listed.resources] == ["cloxy://projects"]
    assert {template.uri_template for template in templates.resource_templates} == {
        "cloxy://memory/{id}",
        "cloxy://session/{id}",
        "cloxy://session/{id}/{start}",
    }
    assert "The lighthouse lamp needs new bulbs." in memory.contents[0].text
    assert "Session s-two of claude-code" in session.contents[0].text
    assert "USER: The lighthouse lamp" in session.contents[0].text
    assert "/srv/demo/shop: " in projects.contents[0].text
    for read in (memory, session, projects):
        assert read.contents[0].text.startswith("<cloxy-memory mark=")


@pytest.mark.parametrize(
    ("uri", "words"),
    [
        ("cloxy://memory/999999", "there is no memory 999999"),
        ("cloxy://memory/seven", "id: Input should be a valid integer"),
        ("cloxy://session/nobody", "there is no such session"),
        ("cloxy://elsewhere", "there is no resource"),
        ("file:///etc/passwd", "there is no resource"),
    ],
)
def test_a_resource_that_is_not_there(use, uri, words):
    async def work(client):
        with pytest.raises(MCPError) as refused:
            await client.read_resource(uri)
        return refused.value

    error = use(work)
    assert error.code == -32602
    assert words in error.message


def test_prompts_are_questions_of_the_person_with_findings(use):
    async def work(client):
        listed = (await client.list_prompts()).prompts
        decided = await client.get_prompt("what_did_we_decide", {"topic": "the harbour ledger"})
        resumed = await client.get_prompt("resume_project", {"project": "/srv/demo/shop"})
        return listed, decided, resumed

    listed, decided, resumed = use(work)
    arguments = {prompt.name: [(a.name, a.required) for a in prompt.arguments] for prompt in listed}
    assert arguments["what_did_we_decide"] == [("topic", True), ("project", False)]
    assert arguments["resume_project"] == [("project", True)]
    for got in (decided, resumed):
        (message,) = got.messages
        assert message.role == "user"
        question, found = message.content.text.split("\n\n", 1)
        assert "cloxy-memory" not in question
        assert found.startswith("<cloxy-memory mark=")
    assert decided.messages[0].content.text.startswith(
        "What did we decide about the harbour ledger?"
    )
    assert "PostgreSQL" in decided.messages[0].content.text
    assert "go on with the project /srv/demo/shop" in resumed.messages[0].content.text


def test_a_prompt_without_its_argument_is_refused(use):
    async def work(client):
        with pytest.raises(MCPError) as refused:
            await client.get_prompt("resume_project", {})
        with pytest.raises(MCPError) as unknown:
            await client.get_prompt("no_such_prompt", {})
        return refused.value, unknown.value

    refused, unknown = use(work)
    assert "project: Field required" in refused.message
    assert "no_such_prompt" in unknown.message
