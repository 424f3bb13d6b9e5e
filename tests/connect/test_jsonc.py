"""JSON with comments: what is read, what is refused and where, and that edits keep the rest."""

import json

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from cloxy_core.connect.edits import apply, inverse
from cloxy_core.connect.errors import TextFault
from cloxy_core.connect.formats import JsonFormat
from cloxy_core.connect.jsonc import parse

RANDOM = settings(deadline=None, max_examples=60)
ENTRY = {"command": "/opt/cloxy/bin/cloxy", "args": ["mcp"], "env": {"A": 'quo"te\\ ü'}}
FORMAT = JsonFormat("mcpServers", strict=False)

FAULTS = [
    ("[1", 1, 1, "not closed"),
    ('{"a": 1', 1, 1, "not closed"),
    ('{\n "a" 1}', 2, 6, "colon"),
    ('{\n "a": }', 2, 7, "not a JSON value"),
    ('{\n "a":', 2, 6, "value is missing"),
    ('{"a": 1 "b": 2}', 1, 9, "comma"),
    ("{a: 1}", 1, 2, "double quotes"),
    ("{'a': 1}", 1, 2, "double quotes"),
    ("{\"a\": 'x'}", 1, 7, "not a JSON value"),
    ("{,}", 1, 2, "double quotes"),
    ('{"a": 1,,}', 1, 9, "double quotes"),
    ("[1,,2]", 1, 4, "not a JSON value"),
    ('{"a": "x\ny"}', 1, 7, "quotes does not end"),
    ('{"a": "\\x"}', 1, 7, "quotes does not end"),
    ('{"a": "open}', 1, 7, "quotes does not end"),
    ('{"a": NaN}', 1, 7, "not a JSON value"),
    ('{"a": -Infinity}', 1, 7, "not a JSON value"),
    ('{"a": 01}', 1, 7, "not a JSON value"),
    ('{"a": 1.}', 1, 7, "not a JSON value"),
    ('{"a": +1}', 1, 7, "not a JSON value"),
    ('{"a": truely}', 1, 7, "not a JSON value"),
    ('{"a": /* open', 1, 7, "comment does not end"),
    ("{} {}", 1, 4, "follows the end"),
    ("{}\n\n}", 3, 1, "follows the end"),
    ("[" * 100_000, 1, 202, "nested too deep"),
]


@pytest.mark.parametrize(("text", "line", "column", "reason"), FAULTS)
def test_a_fault_has_its_place(text, line, column, reason):
    with pytest.raises(TextFault, match=reason) as caught:
        parse(text)
    assert (caught.value.line, caught.value.column) == (line, column)


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("[]", 1, "JSON object"),
        ('"text"', 1, "JSON object"),
        ('{\n "mcpServers": []}', 2, "mcpServers must be an object"),
        ('{\n "mcpServers": null}', 2, "mcpServers must be an object"),
        ('{"mcpServers": {},\n "mcpServers": {}}', 2, "twice"),
        ('{"mcpServers": {"cloxy": {},\n "cloxy": {}}}', 2, "twice"),
        ('{"mcpServers": {"cloxy":\n 1}}', 2, "must be an object"),
    ],
)
def test_another_shape_is_refused_with_its_place(text, line, reason):
    for act in (FORMAT.entries, lambda text: FORMAT.added(text, "cloxy", ENTRY)):
        with pytest.raises(TextFault, match=reason) as caught:
            act(text)
        assert caught.value.line == line


@pytest.mark.parametrize(
    "text", ['{"a": [1, -2.5e3, true, false, null, "\\u00fc\\n"], "b": {}}', "[]", '""', "0"]
)
def test_plain_json_is_read_as_json_reads_it(text):
    assert parse(text).root.plain() == json.loads(text)
    assert parse(text).extensions == []


def test_a_long_text_in_quotes_that_does_not_end_is_refused_at_once():
    with pytest.raises(TextFault):
        parse('{"a": "' + "x" * 2_000_000)


def test_a_client_of_plain_json_is_warned_of_comments():
    strict = JsonFormat("mcpServers", strict=True)
    assert strict.warning('{"a": 1}') is None
    assert "a comment in line 2" in strict.warning('{\n// hi\n"a": 1}')
    assert "a comma before a closing bracket in line 1" in strict.warning('{"a": 1,}')
    assert FORMAT.warning("{} // hi") is None


def test_a_closing_bracket_behind_ours_is_not_swallowed_by_a_comment():
    text = '{\n "mcpServers": { "a": {}, // note\n  "cloxy": {"command": "cloxy"} }\n}'
    left = FORMAT.removed(text, "cloxy", container=False)
    assert parse(left).root.plain() == {"mcpServers": {"a": {}}}
    assert "// note" in left


# Random documents: values with random space, comments and commas between their tokens.

NAMES = st.text(alphabet='abxyü "\\/😀\n\t', max_size=6)
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-(10**6), 10**6), st.floats(-1e6, 1e6), NAMES
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(NAMES, inner, max_size=3)),
    max_leaves=12,
)
GAPS = st.sampled_from(
    ["", "", " ", "\n", "\r\n", "\t", "\n  ", "/* , } ] */", "// { ,\n", " // x\r\n\t", "\n\n    "]
)


@st.composite
def written(draw, value):
    def gap():
        return draw(GAPS)

    def end(filled):
        return "," + gap() if filled and draw(st.booleans()) else ""

    if isinstance(value, dict):
        parts = [
            f"{gap()}{json.dumps(key, ensure_ascii=draw(st.booleans()))}{gap()}:{gap()}"
            f"{draw(written(each))}{gap()}"
            for key, each in value.items()
        ]
        return "{" + gap() + ",".join(parts) + end(parts) + "}"
    if isinstance(value, list):
        parts = [f"{gap()}{draw(written(each))}{gap()}" for each in value]
        return "[" + gap() + ",".join(parts) + end(parts) + "]"
    return json.dumps(value)


@st.composite
def documents(draw):
    """A random text and what it says."""
    value = draw(st.dictionaries(NAMES.filter(lambda k: k != "mcpServers"), VALUES, max_size=3))
    servers = draw(
        st.none() | st.dictionaries(NAMES, st.dictionaries(NAMES, VALUES, max_size=2), max_size=3)
    )
    if servers is not None:
        items = [*value.items(), ("mcpServers", servers)]
        value = dict(draw(st.permutations(items)))
    return draw(GAPS) + draw(written(value)) + draw(GAPS), value


@RANDOM
@given(documents())
def test_reading_random_documents(document):
    text, value = document
    assert parse(text).root.plain() == value


@RANDOM
@given(documents())
def test_adding_keeps_everything_else_and_is_taken_back_exactly(document):
    text, value = document
    edits = FORMAT.added(text, "cloxy", ENTRY)
    assert all(edit.removed == "" for edit in edits)
    after = apply(text, edits)
    expected = {**value, "mcpServers": {**value.get("mcpServers", {}), "cloxy": ENTRY}}
    found = parse(after).root.plain()
    assert found == expected
    # Order too: what was there comes first, as it was.
    others = list(value) if "mcpServers" in value else [*value, "mcpServers"]
    assert list(found) == others
    assert list(found["mcpServers"]) == [*value.get("mcpServers", {}), "cloxy"]
    assert comments(after) == comments(text)
    assert apply(after, inverse(edits)) == text


@RANDOM
@given(documents())
def test_removing_by_what_it_says_keeps_everything_else(document):
    text, value = document
    after = apply(text, FORMAT.added(text, "cloxy", ENTRY))
    left = FORMAT.removed(after, "cloxy", container="mcpServers" not in value)
    assert parse(left).root.plain() == value
    assert comments(left) == comments(text)


@RANDOM
@given(documents(), st.data())
def test_any_server_can_be_removed_from_any_place(document, data):
    text, value = document
    assume(value.get("mcpServers"))
    name = data.draw(st.sampled_from(sorted(value["mcpServers"])))
    left = FORMAT.removed(text, name, container=False)
    rest = {key: each for key, each in value["mcpServers"].items() if key != name}
    assert parse(left).root.plain() == {**value, "mcpServers": rest}


@RANDOM
@given(documents())
def test_bringing_up_to_date_keeps_everything_else(document):
    text, value = document
    old = {"command": "/old/cloxy", "args": ["mcp"], "timeout": 3}
    after = apply(text, FORMAT.added(text, "cloxy", old))
    new = FORMAT.updated(after, "cloxy", {"url": "http://127.0.0.1:9055/mcp"})
    servers = value.get("mcpServers", {})
    entry = {"timeout": 3, "url": "http://127.0.0.1:9055/mcp"}
    assert parse(new).root.plain() == {**value, "mcpServers": {**servers, "cloxy": entry}}
    assert comments(new) == comments(text)


def comments(text):
    document = parse(text)
    return [text[start:end] for start, end in document.comments]
