"""Sessions, sub-agents, titles, and what is not conversation."""

import pytest
from claude_logs import OWN, record, text


def test_facts_of_a_session(logs):
    result = logs.result(
        record("user", "u1", "first"),
        record("user", "u2", "second", cwd="/srv/shop/api", gitBranch="fix"),
        record("user", "u3", "third", gitBranch="HEAD"),
    )
    facts = result.sessions["s-aaa"]

    assert (facts.cwd, facts.branch, facts.parent) == ("/srv/shop", "fix", None)
    assert [m.branch for m in result.messages] == ["main", "fix", None]
    assert [m.cwd for m in result.messages] == ["/srv/shop", "/srv/shop/api", "/srv/shop"]


def test_each_message_keeps_its_own_session(logs):
    result = logs.result(
        record("user", "u1", "one"), record("user", "u2", "two", sessionId="s-bbb")
    )

    assert [m.session for m in result.messages] == ["s-aaa", "s-bbb"]


def test_copy_of_a_line_counts_for_each_session_and_once_in_it(logs):
    line = record("user", "u1", "one")

    result = logs.result(line, line, {**line, "sessionId": "s-bbb"})

    assert [(m.uid, m.session) for m in result.messages] == [("u1", "s-aaa"), ("u1", "s-bbb")]


def test_fork_names_its_parent(logs):
    fork = {"sessionId": "s-old", "messageUuid": "u1"}

    result = logs.result(record("user", "u1", "one", sessionId="s-new", forkedFrom=fork))

    facts = result.sessions["s-new"]
    assert (facts.parent, facts.relation) == ("s-old", "fork")


@pytest.mark.parametrize(
    ("name", "extra", "key"),
    [
        ("s-aaa/subagents/agent-9f.jsonl", {"isSidechain": True, "agentId": "9f"}, "agent-9f"),
        ("s-aaa/subagents/agent-9f.jsonl", {"isSidechain": True}, "agent-9f"),
        ("s-aaa/subagents/workflows/wf_1/agent-7.jsonl", {}, "agent-7"),
        ("agent-9f.jsonl", {"isSidechain": True}, "agent-9f"),
        ("s-aaa.jsonl", {"isSidechain": True, "agentId": "9f"}, "agent-9f"),
        ("s-aaa.jsonl", {"isSidechain": True}, "sidechain"),
    ],
)
def test_subagents_are_sessions_of_their_own(logs, name, extra, key):
    result = logs.result(
        record("user", "u1", "list the tests", **extra),
        record("assistant", "a1", text("three"), **extra),
        uri=f"/projects/-srv-shop/{name}",
    )

    assert [(m.session, m.role, m.author) for m in result.messages] == [
        (f"s-aaa/{key}", "user", "subagent"),
        (f"s-aaa/{key}", "assistant", "subagent"),
    ]
    assert result.sessions[f"s-aaa/{key}"].parent == "s-aaa"
    assert result.sessions[f"s-aaa/{key}"].title == "list the tests"


def title_record(kind, value, **extra):
    field = {"custom-title": "customTitle", "ai-title": "aiTitle", "agent-name": "agentName"}
    return {"type": kind, field[kind]: value, "sessionId": "s-aaa", **extra}


CUSTOM = title_record("custom-title", "mine")
GENERATED = title_record("ai-title", "made")
NAMED = title_record("agent-name", "named")
SUMMARY = {"type": "summary", "summary": "summed", "leafUuid": "u1"}
FIRST = record("user", "u1", "why  does\nit flake?")


@pytest.mark.parametrize(
    ("lines", "title"),
    [
        ([FIRST, record("user", "u2", "later")], "why does it flake?"),
        ([FIRST, SUMMARY], "summed"),
        ([SUMMARY, FIRST], "summed"),
        ([{**SUMMARY, "leafUuid": "elsewhere"}, FIRST], "why does it flake?"),
        ([FIRST, NAMED, SUMMARY], "named"),
        ([FIRST, GENERATED, NAMED], "made"),
        ([CUSTOM, FIRST, GENERATED, NAMED, SUMMARY], "mine"),
        ([GENERATED, FIRST, title_record("ai-title", "made anew")], "made anew"),
        ([title_record("ai-title", "  \n"), FIRST], "why does it flake?"),
        ([title_record("ai-title", None), FIRST], "why does it flake?"),
    ],
)
def test_best_title_wins(logs, lines, title):
    assert logs.result(*lines).sessions["s-aaa"].title == title


def test_title_of_first_words_is_cut_between_words(logs):
    words = "please look at the cache " * 20

    title = logs.result(record("user", "u1", words)).sessions["s-aaa"].title

    assert 60 < len(title) <= 81
    assert title.endswith(("cache…", "the…", "at…", "look…", "please…"))


def test_title_of_first_words_without_spaces_is_cut(logs):
    title = logs.result(record("user", "u1", "キャッシュ" * 60)).sessions["s-aaa"].title

    assert len(title) == 81


def test_title_of_first_words_is_not_replaced_in_a_later_run(logs):
    first = logs.result(FIRST)
    later = logs.result(record("user", "u2", "later"), state=first.state)

    assert later.sessions["s-aaa"].title is None
    assert later.sessions["s-aaa"].cwd is None


def test_state_holds_no_words(logs):
    secret = "hunter2hunter2"
    result = logs.result(
        record("user", "u1", secret),
        title_record("ai-title", secret),
        {"type": "summary", "summary": secret, "leafUuid": "u9"},
    )

    long = logs.result(record("user", secret * 1000, "x", sessionId=secret * 1000, cwd=secret))

    assert secret not in str(result.state)
    assert secret not in str(long.state)


@pytest.mark.parametrize("cwd", [OWN, OWN + "/", OWN + "/work/../tmp"])
def test_sessions_in_the_data_folder_are_left_out(logs, cwd):
    result = logs.result(
        title_record("ai-title", "Summarise"),
        record("user", "u1", "Summarise this", cwd=cwd),
        record("assistant", "a1", text("It says"), cwd=cwd),
        record("user", "u2", "keep", cwd=OWN + "-not", sessionId="s-bbb"),
    )
    later = logs.result(title_record("ai-title", "Summary"), state=result.state)

    assert [m.text for m in result.messages] == ["keep"]
    assert set(result.sessions) == {"s-bbb"}
    assert not later.sessions


def test_line_without_session_belongs_to_the_one_before_or_to_the_file(logs):
    bare = record("user", "u1", "one")
    del bare["sessionId"]
    first = logs.result(bare)
    second = logs.result(record("user", "u2", "two", sessionId="s-x"), {**bare, "uuid": "u3"})

    assert first.messages[0].session == "s-aaa"
    assert [m.session for m in second.messages] == ["s-x", "s-x"]


@pytest.mark.parametrize("session", [7, "", "x" * 5000, "a\nb", None])
def test_unusable_session_ids_are_not_used(logs, session):
    assert logs.result(record("user", "u1", "x", sessionId=session)).messages[0].session == "s-aaa"


def test_line_without_id_gets_the_same_one_in_every_copy(logs):
    bare = record("user", None, "swap the cache")
    other = record("user", None, "swap it back")
    one = logs.result(bare, other).messages
    two = logs.result(record("user", "u0", "before"), bare, uri="/elsewhere/copy.jsonl").messages

    assert one[0].uid == two[1].uid
    assert one[0].uid != one[1].uid


def test_file_without_conversation_is_silent(logs):
    result = logs.result(
        GENERATED,
        {"type": "file-history-snapshot", "snapshot": {}},
        {"type": "mode", "mode": "normal", "sessionId": "s-aaa"},
        {"type": "frame-link", "sessionId": "s-aaa"},
        {"type": "brand-new-kind", "sessionId": "s-aaa", "value": 1},
        {"display": "fix it", "project": "/srv/shop", "timestamp": 1767225600000},
    )

    assert result.silent
    assert not result.messages
    assert result.records == 4
    assert dict(result.unknown) == {"brand-new-kind": 1, "(prompt history)": 1}


@pytest.mark.parametrize(
    "line",
    [
        {"type": "human_turn", "message": {"role": "user", "content": "hi"}},
        {"type": "turn", "role": "user", "text": "hi"},
        {"kind": "user", "content": "hi"},
        record("user", "u1", [{"type": "markdown", "markdown": "hi"}]),
        record("assistant", "a1", {"parts": ["hi"]}),
        {**record("user", "u1"), "message": "hi"},
        record("user", "u1"),
        b"not json at all",
    ],
)
def test_unreadable_conversation_is_not_silent(logs, line):
    result = logs.result(line)
    later = logs.result({"type": "mode"}, state=result.state)

    assert not result.messages
    assert not result.silent
    assert not later.silent


def test_unknown_types_are_counted_within_bounds(logs):
    result = logs.result(*({"type": f"kind-{n}" + "x" * 500} for n in range(300)))

    assert 0 < len(result.unknown) <= 100
    assert max(map(len, result.unknown)) <= 60


def test_line_without_session_follows_a_title_too(logs):
    one = record("user", "u1", "one", sessionId="s-bbb")
    bare = record("user", "u3", "three")
    del bare["sessionId"]

    result = logs.result(one, GENERATED, {**one, "uuid": "u2"}, bare)

    assert [m.session for m in result.messages] == ["s-bbb"] * 3


def test_own_session_stays_own_when_it_changes_folder(logs):
    result = logs.result(
        record("user", "u1", "Summarise this", cwd=OWN), record("user", "u2", "go", cwd="/srv/shop")
    )

    assert not result.messages
    assert not result.sessions
