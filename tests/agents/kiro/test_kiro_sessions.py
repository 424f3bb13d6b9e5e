"""Session logs: what is said in them, the facts beside them, copies, and who says it."""

import json
import os

import pytest
from agents.sources import items, only, read
from kiro_kit import (
    AT,
    CWD,
    A,
    B,
    Bucketed,
    C,
    Log,
    Stores,
    card,
    chat,
    every,
    part,
    said,
    store,
    talk,
    texts,
)


@pytest.fixture
def stores(tmp_path):
    return Stores(tmp_path)


def test_prompts_and_answers_are_kept_and_tools_are_not(stores):
    stores.log(chat(), facts=card())
    result = only(stores.logs)
    assert said(result) == [
        ("user", "human", "Why does the crane overheat?"),
        ("assistant", "assistant", "It never idles."),
        ("user", "human", "Add a test for Ünïcödé 港"),
        ("assistant", "assistant", "Done."),
    ]
    assert [m.uid for m in result.messages] == ["m0", "m3", "m4", "m5"]
    assert not result.bad_lines
    assert not result.unknown


def test_words_beside_a_call_of_a_tool_are_kept(stores):
    stores.log(Log().user("go").tool("I look first.").agent("Fine."))
    assert texts(only(stores.logs)) == ["go", "I look first.", "Fine."]


def test_facts_come_from_the_file_beside(stores):
    stores.log(chat(), facts=card())
    result = only(stores.logs)
    facts = result.sessions[A]
    assert (facts.cwd, facts.title, facts.parent) == (CWD, "Why does the crane overheat?", None)
    # Every session says `subagent`; without a parent it means nothing.
    assert facts.relation is None
    assert {m.model for m in result.messages if m.role == "assistant"} == {"model-k"}
    assert {m.model for m in result.messages if m.role == "user"} == {None}
    assert {m.cwd for m in result.messages} == {CWD}


def test_a_log_without_facts_is_called_by_its_words(stores):
    stores.log(chat())
    result = only(stores.logs)
    facts = result.sessions[A]
    assert (facts.cwd, facts.title) == (None, "Why does the crane overheat?")
    assert len(result.messages) == 4


def test_facts_that_come_later_make_a_new_version(stores):
    path = stores.log(chat())
    (before,), _ = items(stores.logs)
    path.with_suffix(".json").write_text(json.dumps(card()))
    (after,), _ = items(stores.logs)
    assert before != after
    assert before.identity == after.identity
    assert read(stores.logs, after).sessions[A].cwd == CWD


@pytest.mark.parametrize("data", [b"{", b"[]", b"7", b"\xff\xfe\0"])
def test_damaged_facts_are_told_and_the_log_is_read(stores, data):
    stores.log(chat(), facts=data)
    result = only(stores.logs)
    assert len(result.messages) == 4
    assert next(bad.reason for bad in result.bad_lines).startswith("the facts beside it are no")


def test_a_placeholder_is_no_title(stores):
    stores.log(chat(), facts=card(title="New Session"))
    assert only(stores.logs).sessions[A].title == "Why does the crane overheat?"


def test_only_prompts_have_a_time_and_the_end_of_a_turn_dates_its_answer(stores):
    log = chat()
    ids = log.ids()
    ends = [(ids[:4], "2026-07-07T04:13:45Z"), (ids[4:], AT + 95)]
    stores.log(log, facts=card(ends=ends))
    result = only(stores.logs)
    assert [(m.at, m.approximate) for m in result.messages] == [
        ((AT + 10) * 1000, False),
        ((AT + 25) * 1000, True),
        ((AT + 20) * 1000, False),
        ((AT + 95) * 1000, True),
    ]


def test_an_answer_without_an_end_has_the_time_of_its_prompt(stores):
    stores.log(chat(), facts=card())
    result = only(stores.logs)
    assert [(m.at, m.approximate) for m in result.messages][:2] == [
        ((AT + 10) * 1000, False),
        ((AT + 10) * 1000, True),
    ]


def test_a_prompt_without_a_time_has_that_of_the_session(stores):
    log = Log().add("Prompt", content=[part("text", "hello")])
    stores.log(log, facts=card())
    (message,) = only(stores.logs).messages
    assert (message.at, message.approximate) == (AT * 1000 + 500, True)


def test_pictures_are_marks_and_thoughts_are_dropped_but_name_the_model(stores):
    picture = part("image", {"format": "png", "source": {"bytes": "QUJD"}})
    other = part("image", {"source": {"type": "base64", "media_type": "image/jpeg", "data": "QQ"}})
    thought = part("thinking", {"modelId": "model-t", "text": "SECRET THOUGHTS"})
    stores.log(Log().user("see", picture, other).agent("I do.", thought), facts=card(model="auto"))
    result = only(stores.logs)
    assert texts(result) == ["see\n\n[image: png]\n[image: image/jpeg]", "I do."]
    assert result.messages[1].model == "model-t"


def test_a_model_that_is_chosen_each_time_is_none(stores):
    stores.log(chat(), facts=card(model="auto"))
    assert {m.model for m in only(stores.logs).messages} == {None}


@pytest.mark.parametrize(
    "summary",
    ["They met.", {"content": "They met."}, [part("text", "They met.")]],
)
def test_a_compaction_is_a_summary_without_its_copy_of_messages(stores, summary):
    copy = [{"role": "user", "content": [part("text", "COPY")]}]
    log = chat().add("Compaction", summary=summary, messages_snapshot=copy).both("more", "yes")
    stores.log(log)
    result = only(stores.logs)
    assert said(result)[4:] == [
        ("summary", "summary", "They met."),
        ("user", "human", "more"),
        ("assistant", "assistant", "yes"),
    ]
    assert "COPY" not in "".join(texts(result))


def test_a_compaction_without_an_id_has_the_same_one_each_time(stores):
    log = chat().add("Compaction", summary="They met.")
    del log.lines[-1]["data"]["message_id"]
    stores.log(log)
    first = only(stores.logs).messages[-1]
    stores.log(log.both("more", "yes"))
    assert first.uid in {m.uid for m in only(stores.logs).messages if m.role == "summary"}


def test_known_noise_is_silent_and_other_kinds_are_counted(stores):
    log = chat().add("Clear").add("ResetTo", target_index=2).add("Later", content="?")
    log.agent("x", part("hologram", {})).add("AssistantMessage", content=7)
    stores.log(log)
    assert dict(only(stores.logs).unknown) == {"Later": 1, "part/hologram": 1, "content": 1}


def test_a_message_that_comes_twice_in_a_log_is_one(stores):
    log = chat()
    log.copy_of(log, 2).both("three", "3")
    stores.log(log)
    result = only(stores.logs)
    assert len(result.messages) == 6
    assert len({m.uid for m in result.messages}) == 6


def rewound():
    """A session, and one that was begun by going back to its second prompt."""
    old = Log("o").both("say one", "one").both("say two", "two")
    new = Log("n", AT + 100).copy_of(old, 2).both("say three", "three")
    return old, new


@pytest.mark.parametrize("named", [True, False])
def test_a_rewind_tells_what_it_copied_as_the_session_that_said_it(stores, named):
    old, new = rewound()
    stores.log(old, A, card(A))
    parent = {"parent_session_id": A} if named else {}
    stores.log(new, B, card(B, created_at="2026-07-07T04:15:00Z", **parent))
    found = every(stores.logs)
    assert [(m.session, m.uid) for m in found[B].messages] == [
        (A, "o0"), (A, "o1"), (B, "n2"), (B, "n3"),
    ]  # fmt: skip
    assert [(m.session, m.uid) for m in found[A].messages] == [(A, uid) for uid in old.ids()]
    facts = found[B].sessions[B]
    assert (facts.parent, facts.relation, facts.title) == (A, "fork", "say three")
    assert {m.author for m in found[B].messages} == {"human", "assistant"}


def test_a_rewind_of_a_rewind_knows_who_said_what(stores):
    old, new = rewound()
    last = Log("p", AT + 200).copy_of(new, 4).both("say four", "four")
    stores.log(old, A, card(A))
    stores.log(new, B, card(B, created_at="2026-07-07T04:15:00Z", parent_session_id=A))
    stores.log(last, C, card(C, created_at="2026-07-07T04:17:00Z", parent_session_id=B))
    result = every(stores.logs)[C]
    assert [m.session for m in result.messages] == [A, A, B, B, C, C]
    assert result.sessions[C].parent == B


def test_a_rewind_whose_origin_is_gone_is_told_by_the_times(stores):
    _old, new = rewound()
    facts = card(B, created_at="2026-07-07T04:14:55Z", parent_session_id=A)
    stores.log(new, B, facts)
    result = only(stores.logs)
    assert [m.session for m in result.messages] == [A, A, B, B]
    assert result.sessions[B].relation == "fork"
    assert result.messages[0].author == "human"


def test_parents_that_go_in_circles(stores):
    old, new = rewound()
    stores.log(old, A, card(A, parent_session_id=B))
    stores.log(new, B, card(B, parent_session_id=A))
    assert sum(len(result.messages) for result in every(stores.logs).values()) == 8


def test_a_sub_agent_is_a_session_of_its_parent_and_no_human(stores):
    stores.log(chat(), A, card(A))
    child = Log("s", AT + 30).both("find the crane", "found")
    stores.log(child, B, card(B, created_at="2026-07-07T04:13:55Z", parent_session_id=A))
    result = every(stores.logs)[B]
    assert said(result) == [
        ("user", "subagent", "find the crane"),
        ("assistant", "subagent", "found"),
    ]
    facts = result.sessions[B]
    assert (facts.parent, facts.relation) == (A, "subagent")


def test_our_own_sessions_are_not_taken(stores):
    stores.log(chat(), facts=card(cwd="/srv/demo/cloxy-data/work"))
    assert only(stores.logs).messages == []


def test_what_a_log_is_not(stores):
    path = stores.log(chat(), facts=card())
    for name in ("x.history", "x.lock", f"{A}.bak.jsonl", "settings.json"):
        path.with_name(name).write_bytes(path.read_bytes())
    for place in ("tool-outputs", "other"):
        folder = stores.sessions / "c25a05601239adfe" / place
        folder.mkdir(parents=True)
        (folder / "messages.jsonl").write_bytes(path.read_bytes())
    found, _ = items(stores.logs)
    assert [item.uri for item in found] == [str(path)]


@pytest.mark.skipif(os.name == "nt", reason="links need a right of their own there")
def test_facts_that_are_a_link_are_not_followed(stores, tmp_path):
    path = stores.log(chat())
    (tmp_path / "outside.json").write_text(json.dumps(card(cwd="/srv/demo/elsewhere")))
    path.with_suffix(".json").symlink_to(tmp_path / "outside.json")
    result = only(stores.logs)
    assert len(result.messages) == 4
    assert result.sessions[A].cwd is None


FACTS = {
    "id": "sess_one",
    "title": "Crane",
    "workspacePaths": [CWD, "/srv/demo/other"],
    "createdAt": "2026-07-07T04:13:20Z",
    "modelId": "model-v",
}


def bucketed():
    log = Bucketed().add("session_start", "Why does the crane overheat?", agentType="x")
    log.add("turn_start").add("assistant", "SECRET THOUGHTS", operationType="Reasoning")
    log.add("tool_call", toolName="read", args={"path": "TOOL INPUT"})
    log.add("tool_result", "TOOL OUTPUT").add("usage_summary")
    log.add("assistant", "It never idles.", operationType="Say", reasoningModelId="model-w")
    return log.add("user", "Thanks").add("assistant", "Welcome.")


def test_the_newer_form_with_the_first_prompt_in_its_first_line(stores):
    stores.bucketed(bucketed(), facts=FACTS)
    result = only(stores.logs)
    assert said(result) == [
        ("user", "human", "Why does the crane overheat?"),
        ("assistant", "assistant", "It never idles."),
        ("user", "human", "Thanks"),
        ("assistant", "assistant", "Welcome."),
    ]
    assert [m.model for m in result.messages] == [None, "model-w", None, "model-v"]
    assert next((m.at, m.approximate) for m in result.messages) == (AT * 1000, False)
    facts = result.sessions["sess_one"]
    assert (facts.cwd, facts.title) == (CWD, "Crane")
    assert not result.unknown


def test_a_first_prompt_that_comes_in_two_lines_is_one(stores):
    log = Bucketed().add("session_start", "hello").add("user", "hello").add("assistant", "hi")
    stores.bucketed(log.add("user", "hello"))
    assert texts(only(stores.logs)) == ["hello", "hi", "hello"]


def test_what_the_editor_puts_around_a_prompt_is_dropped(stores):
    log = Bucketed().add(
        "user",
        "<kiro-ide-message>\nfix <b>it</b>\n</kiro-ide-message>"
        "\n<EnvironmentContext>\nOPEN FILES\n</EnvironmentContext>",
    )
    log.add("user", "## Included Rules (x.md)\nRULES").add("user", [part("text", "and that")])
    log.add("user", "why is <EnvironmentContext>x</EnvironmentContext> there?")
    log.add("user", "<fileTree depth='2'>FILES</fileTree>\n<user-rule>RULE</user-rule>\nbegin")
    log.add("user", "<EnvironmentContext>\ncut off")
    stores.bucketed(log)
    assert texts(only(stores.logs)) == [
        "fix <b>it</b>",
        "and that",
        "why is <EnvironmentContext>x</EnvironmentContext> there?",
        "begin",
    ]


def test_newer_forks_and_sub_agents(stores):
    stores.bucketed(bucketed(), facts=FACTS)
    fork = Bucketed("f")
    fork.lines += bucketed().lines[:7]
    stores.bucketed(fork.add("user", "go on"), "sess_two", {**FACTS, "parentSessionId": "sess_one"})
    child = Bucketed("s").add("session_start", "find").add("assistant", "found")
    stores.bucketed(child, "sess_three", {**FACTS, "parentSessionId": "sess_one"})
    found = {item.uri.split("/")[-2]: read(stores.logs, item) for item in items(stores.logs)[0]}
    assert [m.session for m in found["sess_two"].messages] == ["sess_one", "sess_one", "sess_two"]
    assert found["sess_two"].sessions["sess_two"].relation == "fork"
    assert {m.author for m in found["sess_three"].messages} == {"subagent"}


def test_a_log_that_was_made_of_an_older_one_repeats_its_words_under_other_ids(stores):
    stores.log(Log().both("say one", "one"), facts=card())
    log = Bucketed().add("session_start", "say one").add("assistant", "one").add("user", "say two")
    key = f"cli_{A}_uHORXqEL"
    stores.bucketed(log.add("user", "say one"), key)
    (_flat, item) = sorted(items(stores.logs)[0], key=lambda each: each.uri.endswith("s.jsonl"))
    result = read(stores.logs, item)
    assert [(m.session, m.uid) for m in result.messages] == [
        (A, "m0"), (A, "m1"), (key, "v2"), (key, "v3"),
    ]  # fmt: skip
    assert (result.sessions[key].parent, result.sessions[key].relation) == (A, "resume")


def test_a_message_that_the_database_has_keeps_its_id(stores):
    turns = [("say one", "one")]
    store(stores.data, talk(A, turns))
    before = {m.text: m.uid for m in only(stores.store).messages}
    stores.log(Log().both("say one", "one").both("say two", "two"), facts=card())
    result = only(stores.logs)
    assert [m.uid for m in result.messages] == [before["say one"], before["one"], "m2", "m3"]
    assert items(stores.store) == ([], [])
