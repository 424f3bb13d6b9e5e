"""What holds for any log."""

import json

import pytest
from claude_logs import Logs, dumped, record, source_of, text
from hypothesis import given, settings
from hypothesis import strategies as st

from cloxy_hookspecs import RawLine, SourceItem

LOGS = Logs()
IDS = st.sampled_from([f"u{n}" for n in range(12)])
SESSIONS = st.sampled_from(["s-aaa", "s-bbb"])
WORDS = st.text(max_size=30) | st.sampled_from(["go on", "all green", "yes"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)


@st.composite
def records(draw):
    kind = draw(
        st.sampled_from(["user", "assistant", "summary", "ai-title", "goal", "plan", "queued", "x"])
    )
    words, uuid, session = draw(WORDS), draw(IDS), draw(SESSIONS)
    common = {"sessionId": session, "cwd": draw(st.sampled_from(["/a", "/b", None]))}
    if kind in ("user", "assistant"):
        content = draw(st.sampled_from([words, text(words), text(words, words), JSON]))
        content = draw(JSON) if content is JSON else content
        extra = draw(
            st.sampled_from([{}, {"isSidechain": True}, {"isMeta": True}, {"entrypoint": "sdk-ts"}])
        )
        return record(kind, uuid, content, **common, **extra)
    if kind == "summary":
        return {"type": "summary", "summary": words, "leafUuid": uuid}
    attachment = {
        "goal": {"type": "goal_status", "condition": words},
        "plan": {"type": "plan_file_reference", "planContent": words},
        "queued": {"type": "queued_command", "commandMode": "prompt", "prompt": words},
    }.get(kind)
    if attachment is not None:
        return record("attachment", uuid, **common, attachment=attachment)
    return {"type": kind, "aiTitle": words, **common}


@st.composite
def damaged_lines(draw):
    line = json.dumps(draw(records())).encode()
    at = draw(st.integers(0, len(line)))
    change = draw(st.sampled_from(["none", "cut", "insert", "glue"]))
    if change == "cut":
        line = line[:at]
    elif change == "insert":
        line = line[:at] + draw(st.binary(max_size=5)) + line[at:]
    elif change == "glue":
        line += json.dumps(draw(records())).encode()
    return line.replace(b"\n", b"")


def as_lines(data, start=0):
    lines = []
    for part in data.split(b"\n")[:-1]:
        lines.append(RawLine(start, start + len(part) + 1, part))
        start += len(part) + 1
    return lines


def parse(lines, state):
    return LOGS.parser.parse(SourceItem(LOGS.uri, "1:1", 0, 0), lines, state)


def unique(messages):
    first = {}
    for message in messages:
        first.setdefault((message.session, message.uid), message)
    return list(first.values())


def merged(*results):
    """Facts as a store keeps them: the first place, the last branch, the best title."""
    facts = {}
    for result in results:
        for key, said in result.sessions.items():
            old = facts.get(key, {})
            better = said.title is not None and said.title_rank >= old.get("rank", 0)
            facts[key] = {
                "parent": old.get("parent") or said.parent,
                "cwd": old.get("cwd") or said.cwd,
                "branch": said.branch or old.get("branch"),
                "program": old.get("program", False) or said.program,
                "title": said.title if better else old.get("title"),
                "rank": said.title_rank if better else old.get("rank", 0),
            }
    return facts


def without_waiting_summaries(lines, cut):
    """Leave out summaries whose record comes in a later run: they are not waited for."""
    later = {r.get("uuid") for r in lines[cut:]}
    early = [r for r in lines[:cut] if not (r["type"] == "summary" and r["leafUuid"] in later)]
    return early, lines[cut:]


@settings(max_examples=150, deadline=None)
@given(lines=st.lists(records(), max_size=20), data=st.data())
def test_two_runs_equal_one(lines, data):
    cut = data.draw(st.integers(0, len(lines)))
    early, late = without_waiting_summaries(lines, cut)
    first_bytes, rest = dumped(*early), dumped(*late)

    whole = parse(as_lines(first_bytes + rest), {})
    first = parse(as_lines(first_bytes), {})
    state = json.loads(json.dumps(first.state))
    second = parse(as_lines(rest, len(first_bytes)), state)

    assert unique([*first.messages, *second.messages]) == unique(whole.messages)
    assert merged(first, second) == merged(whole)
    assert first.records + second.records == whole.records
    assert second.silent == whole.silent
    assert second.state == whole.state


@settings(max_examples=150, deadline=None)
@given(lines=st.lists(damaged_lines() | st.binary(max_size=60), max_size=10))
def test_any_lines_parse(lines):
    data = b"".join(line.replace(b"\n", b"") + b"\n" for line in lines)
    places = as_lines(data)

    result = parse(places, {})

    spans = {(line.start, line.end) for line in places}
    assert all((m.start, m.end) in spans and m.text and m.uid for m in result.messages)
    assert all((bad.start, bad.end) in spans for bad in result.bad_lines)
    assert [m.start for m in result.messages] == sorted(m.start for m in result.messages)
    json.dumps(result.state)
    for message in result.messages:
        message.text.encode("utf-8")


@settings(max_examples=100, deadline=None)
@given(fields=st.dictionaries(st.sampled_from(sorted(record("user", "u", "x"))), JSON), kind=IDS)
def test_any_fields_parse(fields, kind):
    for name in ("user", "assistant", "attachment", "system", "summary", "pr-link", kind):
        parse(as_lines(dumped({"type": name, **fields})), {})


@settings(max_examples=100, deadline=None)
@given(
    state=st.dictionaries(st.sampled_from(["sessions", "last", "silent", "recent", "said"]), JSON)
)
def test_any_state_is_accepted(state):
    assert len(parse(as_lines(dumped(record("user", "u1", "x"))), state).messages) == 1


@settings(max_examples=80, deadline=None)
@given(data=st.data(), total=st.integers(1, 12))
def test_growing_torn_and_rewritten_file_gives_each_message_once(tmp_path_factory, data, total):
    root = tmp_path_factory.mktemp("grow")
    path = root / "s-aaa.jsonl"
    content = dumped(*(record("user", f"u{n}", f"text {n}") for n in range(total)))
    source = source_of([root])
    offset, state, said = 0, {}, []
    cuts = data.draw(st.lists(st.integers(0, len(content)), max_size=6))
    for cut in [*cuts, len(content)]:
        path.write_bytes(content[:cut])
        (item,) = source.discover([])
        if item.size < offset:
            offset, state = 0, {}
        lines = [line for line in source.read(item, offset) if line.finished]
        result = LOGS.parser.parse(item, lines, state)
        offset, state = (lines[-1].end if lines else offset), result.state
        said += result.messages
        assert not result.bad_lines

    assert [m.text for m in unique(said)] == [f"text {n}" for n in range(total)]


@pytest.mark.parametrize("size", [2_000, 8_000])
def test_state_stays_small(size):
    lines = (
        record("user", f"{n:036d}", f"words {n}", sessionId=f"s-{n % 300}") for n in range(size)
    )

    assert len(json.dumps(parse(as_lines(dumped(*lines)), {}).state)) < 6_000
