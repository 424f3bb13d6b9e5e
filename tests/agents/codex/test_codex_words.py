"""Which words are a person's, and what else is kept."""

import base64
import hashlib

import pytest
from codex_kit import CWD, START, THREAD, Log, authors, parse, said, uuid7

INJECTED = [
    f"<environment_context>\n  <cwd>{CWD}</cwd>\n</environment_context>",
    f"# AGENTS.md instructions for {CWD}\n\n<INSTRUCTIONS>\nBe kind.\n</INSTRUCTIONS>",
    "<user_instructions>\n\nBe kind.\n\n</user_instructions>",
    "<permissions instructions>\nNothing is allowed.",
    "<skills_instructions>\n## Skills\n</skills_instructions>",
    "<apps_instructions>\n## Apps\n</apps_instructions>",
    "<recommended_plugins>none</recommended_plugins>",
    "<multi_agent_mode>off</multi_agent_mode>",
    "<collaboration_mode># Default</collaboration_mode>",
    "<app-context>\nopen</app-context>",
    "<turn_aborted>\nThe user interrupted.\n</turn_aborted>",
    "<skill>\n<name>x</name>\n</skill>",
    "<user_shell_command>\n<command>ls</command>\n</user_shell_command>",
    "The following is the Codex agent history whose request is to be judged.",
    "<SUBAGENT_NOTIFICATION>{}</subagent_notification>",
    '<codex_internal_context source="extension">\nx\n</codex_internal_context>',
    "<not_known_yet>\nx\n</not_known_yet>",
]


@pytest.mark.parametrize("text", INJECTED)
@pytest.mark.parametrize("later", [False, True])
def test_what_the_harness_says_in_the_user_s_name_is_not_the_user_s(text, later):
    log = Log().meta()
    log.item("user", text).item("user", "rename the queue").item("assistant", "done")
    if later:
        log.item("user", text)
    messages, facts, result = parse(log)
    assert [(m.role, m.text) for m in messages] == [
        ("user", "rename the queue"),
        ("assistant", "done"),
    ]
    assert facts[THREAD].title == "rename the queue"
    assert not result.unknown


def test_parts_of_one_item_are_told_apart():
    log = Log().meta().item("user", INJECTED[1], INJECTED[0], "rename the queue")
    messages, facts, _result = parse(log)
    assert [m.text for m in messages] == ["rename the queue"]
    assert facts[THREAD].cwd == CWD


def test_where_parts_say_who_wrote_them_that_counts():
    kinds = {"content_item_kinds": ["context.new", "user.text"]}
    log = (
        Log()
        .meta()
        .item(
            "user",
            "Something new that no rule knows",
            "<my_own_markup>is what I typed</my_own_markup>",
            internal_chat_message_metadata_passthrough=kinds,
        )
    )
    assert said(log) == [("user", "<my_own_markup>is what I typed</my_own_markup>")]


@pytest.mark.parametrize(
    "heading", ["# Context from my IDE setup:", "# Files mentioned by the user:"]
)
@pytest.mark.parametrize("form", ["item", "event", "both"])
def test_the_prompt_follows_the_heading_of_an_editor(heading, form):
    request = "fix the crane\n\nand oil it"
    text = f"{heading}\n\n## Active file: a.py\n\n## My request for Codex:\n{request}\n"
    log = Log().meta()
    if form != "event":
        log.item("user", text)
    if form != "item":
        log.event("user_message", message=text)
    assert said(log) == [("user", request)]


def test_an_editor_s_heading_in_a_person_s_own_text_stays():
    text = "Why does it print\n## My request for Codex:\nat all?"
    assert said(Log().meta().event("user_message", message=text)) == [("user", text)]


def test_once_there_are_events_items_of_the_user_s_role_are_not_believed():
    log = Log().meta().both("hello", "hi there")
    log.item("user", "A note of a kind that no rule knows").both("go on", "done")
    assert said(log)[2:] == [("user", "go on"), ("assistant", "done")]


def test_an_event_that_repeats_one_part_of_an_item_is_that_item():
    log = Log().meta().item("user", "A note of a kind that no rule knows", "hello")
    log.event("user_message", message="hello").event("agent_message", message="hi there")
    assert [role for role, _text in said(log)] == ["user", "assistant"]


def test_an_event_of_another_kind_than_plain_is_no_prompt():
    log = Log().meta().event("user_message", message="x", kind="user_instructions")
    log.event("user_message", message="hello", kind="plain")
    assert said(log) == [("user", "hello")]


def picture(data=b"\x89PNG picture"):
    return f"data:image/png;base64,{base64.b64encode(data).decode()}"


def mark(data=b"\x89PNG picture"):
    return f"[image: image/png, sha256 {hashlib.sha256(data).hexdigest()[:12]}]"


def test_pictures_are_named_with_a_digest_and_their_data_never_kept():
    image = {"type": "input_image", "image_url": picture()}
    log = Log().meta()
    log.item("user", "<image name=[Image #1]>", image, "</image>", "what is this?")
    log.event("user_message", message="what is this?", local_images=["/home/pat/crane.png"])
    log.both("and", "a crane")
    log.item("user", image, "and this?").event("user_message", message="and this?", images=[])
    texts = [m.text for m in parse(log)[0] if m.role == "user"]
    assert texts == [f"what is this?\n\n{mark()}", "and", f"and this?\n\n{mark()}"]


def test_a_picture_of_several_megabytes_is_one_short_message():
    data = bytes(6_000_000)
    image = {"type": "input_image", "image_url": {"url": picture(data)}}
    (message,), _facts, _result = parse(Log().meta().item("user", image))
    assert message.text == mark(data)


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/home/pat/crane.png", "crane.png"),
        (r"C:\Users\pat\crane.png", "crane.png"),
        ("https://example.org/a/crane.png?token=FAKE", "crane.png"),
        ("", "unknown"),
    ],
)
def test_a_picture_without_data_is_named(path, name):
    log = Log().meta().event("user_message", message="look", local_images=[path])
    assert said(log) == [("user", f"look\n\n[image: {name}]")]


PLAN = "# Plan\n\n1. Oil the crane"
MARKED = f"<proposed_plan>\n{PLAN}\n</proposed_plan>"


def planned():
    return Log().meta().turn(uuid7(START, 1)).item("user", "plan it")


def test_a_plan_is_a_summary_and_is_told_once():
    log = planned().done("Plan", None, text=PLAN + "\n").item("assistant", MARKED)
    assert said(log) == [("user", "plan it"), ("summary", PLAN)]
    assert authors(log)[1] == ("summary", "summary")


def test_a_plan_that_stands_only_in_an_answer_stays_there():
    answer = f"Here it is:\n{MARKED}\nAgreed?"
    assert said(planned().item("assistant", MARKED))[1:] == [("assistant", MARKED)]
    assert said(planned().item("assistant", answer))[1:] == [("assistant", answer)]


def test_what_is_said_around_a_plan_is_kept_whatever_comes_first():
    around = ("assistant", "Here it is:\n\nAgreed?")
    answer = f"Here it is:\n{MARKED}\nAgreed?"
    log = planned().done("Plan", None, text=PLAN).item("assistant", answer)
    assert said(log)[1:] == [("summary", PLAN), around]
    log = planned().item("assistant", answer).done("Plan", None, text=PLAN)
    assert said(log)[1:] == [("assistant", answer)]
    log = planned().event("agent_message", message=around[1]).item("assistant", answer)
    assert said(log)[1:] == [around, ("assistant", MARKED)]


def test_of_a_compaction_the_summary_is_kept_and_never_the_copies():
    log = Log().meta().both("hello", "hi there")
    log.item("user", "go on").event("user_message", message="go on")
    history = [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hello"}]},
        {"type": "message", "role": "assistant", "content": "an old answer"},
    ]
    log.line("compacted", {"message": "They greeted.", "replacement_history": history})
    log.event("context_compacted").line(
        "compacted", {"message": "", "replacement_history": history}
    )
    assert said(log)[3:] == [("summary", "They greeted.")]


def test_a_thread_s_name_is_its_title():
    log = Log().meta().both("hello", "hi there")
    log.event("thread_name_updated", thread_id=THREAD, thread_name="Crane  firmware")
    log.event("thread_name_updated", thread_id="another", thread_name="No")
    facts = parse(log)[1][THREAD]
    assert (facts.title, facts.title_rank) == ("Crane firmware", 4)


@pytest.mark.parametrize(
    ("meta", "author", "program"),
    [
        ({"source": "cli"}, "human", False),
        ({"source": "vscode", "originator": "codex_vscode"}, "human", False),
        ({"source": "vscode", "originator": "Codex Desktop"}, "human", False),
        ({"source": None, "originator": "codex_cli_rs"}, "human", False),
        ({"source": "exec", "originator": "codex_exec"}, "program", True),
        ({"source": None, "originator": "codex_exec"}, "program", True),
        ({"source": "mcp"}, "program", True),
        ({"source": "vscode", "originator": "someones_front_end"}, "program", False),
        ({"source": "novelty"}, "program", False),
        ({"source": {"internal": "memory_consolidation"}}, "program", True),
        ({"source": {}}, "program", False),
        ({"thread_source": "automation"}, "program", True),
    ],
)
def test_who_speaks_as_the_user_is_told_by_the_source(meta, author, program):
    log = Log().meta(**meta).both("hello", "hi there")
    assert authors(log) == [("user", author), ("assistant", "assistant")]
    assert parse(log)[1][THREAD].program is program


@pytest.mark.parametrize(
    "meta",
    [
        {"source": {"subagent": {"thread_spawn": {"parent_thread_id": "boss", "depth": 1}}}},
        {"source": {"subagent": {"other": "guardian"}}, "parent_thread_id": "boss"},
        {"source": {"subagent": "review"}, "parent_thread_id": "boss"},
        {"source": "review", "parent_thread_id": "boss"},
        {"source": "cli", "thread_source": "subagent", "parent_thread_id": "boss"},
    ],
)
def test_both_sides_of_a_sub_agent_are_the_sub_agent_s(meta):
    log = Log().meta(**meta).both("look it up", "found")
    assert authors(log) == [("user", "subagent"), ("assistant", "subagent")]
    facts = parse(log)[1][THREAD]
    assert (facts.parent, facts.relation) == ("boss", "subagent")


def test_what_a_worker_of_compaction_writes_is_a_summary():
    log = Log().meta(source={"subagent": "compact"}, parent_thread_id="boss")
    log.both("summarise", "They greeted.")
    assert authors(log) == [("user", "program"), ("summary", "summary")]


def test_sessions_in_our_own_folder_are_not_taken():
    log = Log().meta(cwd="/srv/cloxy/inner").both("hello", "hi there")
    messages, facts, result = parse(log)
    assert (messages, facts, result.silent) == ([], {}, True)
    near = Log().meta(cwd="/srv/cloxy-too").both("hello", "hi there")
    assert len(parse(near)[0]) == 1 + 1
