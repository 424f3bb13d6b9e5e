"""Long answers in parts: everything comes, nothing twice, and cursors are judged."""

import asyncio
import itertools
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel
from server.mcp_wire import Wire

from cloxy_core.surfaces.mcp.calls import Calls
from cloxy_core.surfaces.mcp.catalogue import Catalogue
from cloxy_core.surfaces.mcp.pages import (
    KEPT_SECONDS,
    MOST_KEPT,
    Place,
    Shelf,
    read_cursor,
    write_cursor,
)
from cloxy_core.surfaces.mcp.parts import MOST_JSON, MOST_TEXT
from cloxy_core.surfaces.operations import Operation
from cloxy_hookspecs import InputError, OperationProvider, Tool


class Nothing(BaseModel):
    topic: str = "x"


class Item(BaseModel):
    key: int
    text: str
    notes: list[str] = []


class Output(BaseModel):
    items: list[Item]
    total: int


def as_text(output):
    return "\n".join(f"{item.key}={item.text}" for item in output.items) or "nothing"


class Bench:
    """A tool over a list of texts, called as a client calls it."""

    def __init__(self, texts, clock=lambda: 0.0, *, text=as_text, untrusted=False):
        self.texts = texts
        self.runs = 0
        tools = tuple(
            Tool(
                name=name,
                title=name,
                description=name,
                pages="items",
                text=text,
                untrusted=untrusted,
            )
            for name in ("list", "other")
        )

        async def call(_given):
            self.runs += 1
            items = [Item(key=key, text=text) for key, text in enumerate(self.texts)]
            return Output(items=items, total=len(items))

        record = OperationProvider(
            name="bench-list",
            summary="List",
            input=Nothing,
            output=Output,
            create=lambda _context: call,
            effect="read",
            doors=tools,
        )
        self.shelf = Shelf(clock)
        self.calls = Calls(Catalogue([Operation(record, call)]), self.shelf)

    def ask(self, cursor=None, tool="list", **arguments):
        given = arguments if cursor is None else {**arguments, "cursor": cursor}
        return asyncio.run(self.calls.tool(self.calls.catalogue.tools[tool], given))

    def all(self):
        answers = [self.ask()]
        while (cursor := answers[-1].value["next_cursor"]) is not None:
            answers.append(self.ask(cursor))
            assert not answers[-1].failed, answers[-1].text
        return answers


def plain_text(answers):
    """The text of all parts, without what stands around a part."""
    kept = []
    for answer in answers:
        lines = answer.text.split("\n")
        while lines and lines[-1].startswith(("(There is more", "(Part ")):
            lines.pop()
        kept.append("\n".join(lines))
    return kept


def test_a_short_answer_is_one_part():
    answers = Bench(["a", "b"]).all()
    assert [answer.text for answer in answers] == ["0=a\n1=b"]
    assert answers[0].value["next_cursor"] is None
    assert answers[0].value["total"] == 2


def test_an_empty_answer_is_its_own_words():
    (answer,) = Bench([], untrusted=True).all()
    assert answer.text == "nothing"
    assert answer.value == {"items": [], "total": 0, "next_cursor": None}


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.integers(0, 3).flatmap(
            lambda size: (
                st.sampled_from(
                    [10, 3_000, MOST_TEXT - 10, MOST_TEXT + 10, 3 * MOST_TEXT + 1, MOST_JSON + 7]
                )
                if size
                else st.integers(0, 50)
            )
        ),
        max_size=12,
    )
)
def test_all_of_it_comes_and_nothing_twice(sizes):
    letters = itertools.cycle("abcdefgh")
    texts = ["".join(itertools.islice(letters, size)) for size in sizes]
    bench = Bench(texts)
    answers = bench.all()
    assert bench.runs == 1
    shown = {}
    for answer in answers:
        assert len(answer.text) <= MOST_TEXT + 1_000
        for item in answer.value["items"]:
            shown[item["key"]] = shown.get(item["key"], "") + item["text"]
    assert shown == dict(enumerate(texts))
    together = "\n".join(plain_text(answers)) if texts else ""
    for key, text in enumerate(texts):
        whole = f"{key}={text}"
        assert whole.replace("\n", "") in together.replace("\n", "")
    assert together.count("=") == len(texts)


def test_short_fields_of_a_long_item_stay_whole():
    bench = Bench(["x" * (3 * MOST_JSON)])
    answers = bench.all()
    assert len(answers) > 2
    assert all(answer.value["items"][0]["key"] == 0 for answer in answers)
    assert "(Part 1 of " in answers[0].text
    assert 'cursor="' in answers[0].text
    assert 'cursor="' not in answers[-1].text


def test_every_part_has_a_fence_of_its_own():
    answers = Bench(["y" * (MOST_TEXT - 10)] * 3, untrusted=True).all()
    assert len(answers) == 3
    marks = {answer.text.split("\n")[0] for answer in answers}
    assert len(marks) == 3
    for answer in answers:
        opening = answer.text.split("\n")[0]
        assert f"</{opening[1:]}" in answer.text


def test_a_part_can_be_asked_for_again():
    bench = Bench(["z" * MOST_TEXT] * 3)
    cursor = bench.ask().value["next_cursor"]
    assert bench.ask(cursor).value == bench.ask(cursor).value
    assert bench.runs == 1


@pytest.mark.parametrize(
    "cursor", ["", "x", "%%%", "AAAA", "ä", "a" * 5_000, write_cursor("not-there", Place())]
)
def test_a_broken_or_foreign_cursor_is_told(cursor):
    answer = Bench(["a"]).ask(cursor)
    assert answer.failed
    assert answer.value is None
    assert "cursor" in answer.text
    assert "again without the cursor" in answer.text


def test_a_cursor_belongs_to_its_tool_its_question_and_its_answer():
    bench = Bench(["z" * MOST_TEXT] * 3)
    cursor = bench.ask(topic="one").value["next_cursor"]
    assert "one of the tool 'list'" in bench.ask(cursor, tool="other").text
    assert "other arguments" in bench.ask(cursor, topic="two").text
    assert not bench.ask(cursor).failed
    assert not bench.ask(cursor, topic="one").failed
    id_, place = read_cursor(cursor)
    beyond = write_cursor(id_, replace(place, item=99))
    assert "names no place" in bench.ask(beyond).text


def test_what_is_kept_is_dropped_after_a_while_and_when_there_is_too_much():
    now = [0.0]
    bench = Bench(["z" * MOST_TEXT] * 2, clock=lambda: now[0])
    old = bench.ask().value["next_cursor"]
    now[0] = KEPT_SECONDS + 1
    assert "no longer leads anywhere" in bench.ask(old).text
    first = bench.ask().value["next_cursor"]
    for _ in range(MOST_KEPT):
        bench.ask()
    assert bench.ask(first).failed


def test_an_answer_that_was_on_its_way_while_all_was_dropped_is_not_kept():
    class Changing(list):
        def __iter__(self):
            bench.shelf.clear()
            return super().__iter__()

    bench = Bench(["z" * MOST_TEXT] * 2)
    assert not bench.ask(bench.ask().value["next_cursor"]).failed
    bench.texts = Changing(bench.texts)
    cursor = bench.ask().value["next_cursor"]
    assert "something was changed since" in bench.ask(cursor).text


@settings(max_examples=200)
@given(st.text(max_size=60))
def test_no_text_breaks_the_reading_of_cursors(text):
    try:
        id_, place = read_cursor(text)
    except InputError:
        return
    assert read_cursor(write_cursor(id_, place)) == (id_, place)


def test_recall_comes_in_parts_and_forgets_them_when_something_changes(live):
    wire = Wire(live)
    for number in range(60):
        text = f"Pelican fact {number}. " + f"It says {number} of its feathers. " * 40
        assert not wire.call("remember", text=text, source="birds")["isError"]
    asked = {"query": "pelican feathers", "top_k": 60, "mode": "keyword"}
    first = wire.call("recall", **asked)["structuredContent"]
    assert first["next_cursor"]
    ids, answer, texts = [], first, []
    while True:
        ids += [hit["id"] for hit in answer["results"]]
        if answer["next_cursor"] is None:
            break
        result = wire.call("recall", **asked, cursor=answer["next_cursor"])
        texts.append(result["content"][0]["text"])
        answer = result["structuredContent"]
    _status, told = live.ask("POST", "/recall", asked)
    assert ids == [hit["id"] for hit in told["results"]]
    assert len(ids) == len(set(ids))
    # Numbers go on from part to part.
    assert "\n#1 [" not in "".join(texts)
    # What was forgotten, at whatever door, is not told from what was kept.
    assert live.ask("DELETE", f"/memory/{ids[-1]}")[0] == 200
    result = wire.call("recall", **asked, cursor=first["next_cursor"])
    assert result["isError"]
    assert "something was changed since" in result["content"][0]["text"]
