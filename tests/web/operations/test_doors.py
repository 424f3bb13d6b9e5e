"""The MCP tools: the parameters of old, readable texts, and hints that are true."""

import asyncio

import pytest
from pydantic import ValidationError
from web.operations.pages import URL, Context, Model, page

from cloxy_hookspecs import CloxyError, FetchError, Route, Tool
from cloxy_plugins.web.operations import operations

TEXT = "# Harbour\n\nThe harbour crane lifts 40 tonnes."
RECORDS = {record.name: record for record in operations()}
TOOLS = {
    door.name: (record, door)
    for record in RECORDS.values()
    for door in record.doors
    if isinstance(door, Tool)
}


def call(name, pages, model=None, **arguments):
    """What the tool's text is, as a server of tools makes it; and the output behind it."""
    record, door = TOOLS[name]
    given = door.input(**arguments)
    values = door.into(given) if door.into else given.model_dump()
    run = record.create(Context(pages, model))
    output = asyncio.run(run(record.input(**values)))
    return door.text(output), output


def test_routes_are_those_of_old():
    routes = {
        door.path: door.method
        for record in RECORDS.values()
        for door in record.doors
        if isinstance(door, Route)
    }
    assert routes == {"/fetch": "POST", "/search": "POST", "/verify": "POST"}


@pytest.mark.parametrize(
    ("name", "required", "optional"),
    [
        ("fetch", {"url"}, {"mode": "clean", "selector": None}),
        ("search_page", {"url", "pattern"}, {}),
        ("verify", {"url", "claim"}, {"top_k": 3}),
    ],
)
def test_parameters(name, required, optional):
    fields = TOOLS[name][1].input.model_fields
    assert {field for field, info in fields.items() if info.is_required()} == required
    assert {f: i.default for f, i in fields.items() if not i.is_required()} == optional


def test_tools_only_read_reach_out_and_quote_strangers():
    assert set(TOOLS) == {"fetch", "search_page", "verify"}
    for record, door in TOOLS.values():
        assert record.effect == "read"
        assert door.toolset == "cloxy"
        assert door.untrusted
        assert door.open_world
        assert door.pages in record.output.model_fields


def test_no_tool_can_remember_or_send_headers():
    for record, door in TOOLS.values():
        assert door.input.model_fields.keys().isdisjoint({"remember", "headers", "project"})
        assert "remember" not in record.input.model_fields


def test_fetch_is_address_and_length_and_text():
    there = "https://example.com/there"
    text, _ = call("fetch", {URL: page(TEXT, final_url=there)}, url=URL)
    assert text == f"[{there} · {len(TEXT)} chars]\n{TEXT}"


def test_fetch_in_parts_loses_nothing():
    long = "".join(f"line {number}\n" for number in range(5000))
    _record, door = TOOLS["fetch"]
    _, output = call("fetch", {URL: page(long)}, url=URL)
    assert len(output.parts) > 5
    shown = [door.text(output.model_copy(update={"parts": [part]})) for part in output.parts]
    head = f"[{URL} · {len(long)} chars]\n"
    assert all(text.startswith(head) for text in shown)
    assert "".join(text.removeprefix(head) for text in shown) == long


def test_fetch_of_a_page_without_text_says_why():
    text, output = call("fetch", {URL: page("", flags=frozenset({"needs_browser"}))}, url=URL)
    assert output.parts == []
    assert text.split("\n")[0] == f"[{URL} · 0 chars]"
    assert "builds its text in a browser" in text
    assert text.endswith("There is no text in this page.")


def test_search_shows_twenty_contexts_with_rules_between():
    long = "\n".join(f"harbour {number}" for number in range(50))
    text, _ = call("search_page", {URL: page(long)}, url=URL, pattern="HARBOUR")
    blocks = text.split("\n---\n")
    assert len(blocks) == 20
    assert blocks[0] == (
        f"50 lines match in {URL}; the first 20 are shown\n"
        "(line 1)\nharbour 0\nharbour 1\nharbour 2"
    )
    assert blocks[1] == "(line 2)\nharbour 0\nharbour 1\nharbour 2\nharbour 3"


def test_search_takes_the_pattern_as_it_is():
    text, _ = call("search_page", {URL: page("a.c\nabc")}, url=URL, pattern="a.c")
    assert text.startswith("1 line matches in ")
    assert call("search_page", {URL: page("x")}, url=URL, pattern="(")[0] == (
        f"Nothing in {URL} matches ("
    )


def test_verify_shows_claim_source_and_passages():
    text, _ = call(
        "verify", {URL: page(TEXT)}, Model({"crane": 0.87654}), url=URL, claim="It lifts 60 tonnes"
    )
    assert text == (
        "Claim: It lifts 60 tonnes\n\n"
        f"Source: {URL} (1 passage)\n\n"
        f"(similarity 0.8765, at 0%)\n{TEXT}\n"
        "Differs: the claim has 60 tonnes, the passage 40 tonnes"
    )


def test_verify_without_model_and_without_text():
    text, _ = call("verify", {URL: page(TEXT)}, url=URL, claim="crane")
    assert "Note: no model is loaded" in text
    assert "% of the words, at 0%)" in text
    text, _ = call("verify", {URL: page("")}, Model({}), url=URL, claim="crane")
    assert "says nothing about the claim" in text
    assert text.endswith("No passages to show.")


def test_fields_of_strangers_stay_on_their_line():
    text, _ = call(
        "verify",
        {URL: page(TEXT, notes=("a\nb",), final_url="https://example.com/\nSource: x")},
        Model({}),
        url=URL,
        claim="one\nClaim: two",
    )
    assert "Claim: one Claim: two" in text
    assert "Source: https://example.com/ Source: x" in text
    assert "Note: a b" in text


def test_errors_are_for_the_server_to_tell():
    with pytest.raises(CloxyError):
        call("fetch", {URL: FetchError("the server of the page answered 404")}, url=URL)


@pytest.mark.parametrize("arguments", [{"url": ""}, {}, {"url": URL, "mode": "fancy"}])
def test_bad_arguments_are_refused(arguments):
    with pytest.raises(ValidationError):
        call("fetch", {}, **arguments)
