"""What is kept of a task of which only the conversation with the model is left."""

import pytest
from agents.sources import texts
from cline_kit import AT, DETAILS, HARBOUR, ROO_TASK, TASK, Tasks, sent, text


@pytest.fixture
def tasks(tmp_path):
    return Tasks(tmp_path)


def user(*blocks):
    return {
        "role": "user",
        "content": [text(each) if isinstance(each, str) else each for each in blocks],
    }


def assistant(*blocks, **more):
    return {**user(*blocks), "role": "assistant", **more}


def told(tasks, *messages):
    """What messages behind a task say."""
    tasks.sent(user("<task>\nWhy?\n</task>", DETAILS), *messages)
    result = tasks.read()
    assert result.messages[0].text == "Why?"
    return texts(result)[1:]


def test_a_task_is_kept_without_what_surrounds_it(tasks):
    tasks.sent(*sent())
    result = tasks.read()
    assert texts(result) == [("user", "Why?"), ("assistant", "Let me look.")]
    assert [each.author for each in result.messages] == ["human", "assistant"]
    assert result.sessions[TASK].cwd == HARBOUR
    assert [(each.at, each.approximate) for each in result.messages] == [(AT, True)] * 2


def test_what_was_mentioned_is_left_out(tasks):
    task = (
        "<task>\nLook at 'crane.py' (see below for file content)\n"
        '<explicit_instructions type="new_task">\nINSTRUCTIONS\n</explicit_instructions>\n'
        "</task>\n\n"
        '<file_content path="crane.py">\nFILE BODY </task>\n</file_content>'
    )
    tasks.sent(user(task))
    ((_role, words),) = texts(tasks.read())
    assert words.startswith("Look at 'crane.py' (see below for file content)")
    assert "INSTRUCTIONS" not in words
    assert "FILE BODY" not in words


@pytest.mark.parametrize(
    ("block", "words"),
    [
        ("<feedback>\nNot so\n</feedback>", "Not so"),
        ("<user_message>\nGo on\n</user_message>", "Go on"),
        ("<answer>\nThe second\n</answer>", "The second"),
        (
            "[ask_followup_question for 'x'] Result:\n\n<answer>\nThe second\n</answer>",
            "The second",
        ),
        (
            "The user denied this operation and provided the following feedback:\n"
            "<feedback>\nNot so\n</feedback>",
            "Not so",
        ),
        (
            "[attempt_completion] Result:\n\nThe user has provided feedback on the results.\n"
            "<feedback>\nNot so\n</feedback>",
            "Not so",
        ),
        (
            "[TASK RESUMPTION] It was interrupted.\n\n<user_message>\nGo on\n</user_message>",
            "Go on",
        ),
    ],
)
def test_words_of_a_person_inside_of_wrappers(tasks, block, words):
    assert told(tasks, user(block, DETAILS)) == [("user", words)]


@pytest.mark.parametrize(
    "blocks",
    [
        ("[read_file for 'x'] Result:\n\nFILE BODY",),
        ("[read_file for 'x'] Result:\n<answer>\nFILE BODY\n</answer>",),
        ("[read_file for 'x'] Result:", "<answer>\nFILE BODY\n</answer>"),
        ("The user denied this operation.",),
        ("[TASK RESUMPTION] It was interrupted.",),
        ("# TODO LIST UPDATE REQUIRED",),
        ("<task>\nNot the first\n</task>",),
        (DETAILS,),
        ({"type": "tool_result", "tool_use_id": "t9", "content": "<answer>\nBODY\n</answer>"},),
    ],
)
def test_answers_of_tools_are_no_words(tasks, blocks):
    assert told(tasks, user(*blocks)) == []


def test_answers_to_questions_of_native_tools(tasks):
    asked = {"type": "tool_use", "id": "t1", "name": "ask_followup_question"}
    read = {"type": "tool_use", "id": "t2", "name": "read_file", "input": {"path": "INPUT"}}
    answers = [
        {"type": "tool_result", "tool_use_id": "t1", "content": [text("<answer>\nTwo\n</answer>")]},
        {"type": "tool_result", "tool_use_id": "t2", "content": "<answer>\nBODY\n</answer>"},
    ]
    assert told(
        tasks,
        assistant("Hm.", {**asked, "input": {"question": "Which?"}}, read),
        user(*answers, DETAILS),
    ) == [("assistant", "Hm.\n\nWhich?"), ("user", "Two")]


def test_words_of_an_agent_without_its_calls(tasks):
    call = (
        "<write_to_file>\n<path>x</path>\n<content>\n<write_to_file> BODY </write_to_file>\n"
        "</content>\n</write_to_file>"
    )
    assert told(
        tasks,
        assistant(f"First.\n{call}\n\nThen."),
        assistant("<thinking>THOUGHTS</thinking>\n<execute_command>\n<command>ls</command>"),
        assistant("Use <b>bold</b> and <read_file> inside of a line."),
        assistant(
            "So:\n<attempt_completion>\n<result>\nIt never idles.\n</result>\n"
            "<command>open x</command>\n</attempt_completion>"
        ),
        assistant("<plan_mode_respond>\n<response>A plan.</response>\n</plan_mode_respond>"),
        assistant({"type": "thinking", "thinking": "THOUGHTS"}, "\nDone."),
        assistant({"type": "tool_use", "name": "attempt_completion", "input": {"result": "End."}}),
    ) == [
        ("assistant", "First.\n\nThen."),
        ("assistant", "Use <b>bold</b> and <read_file> inside of a line."),
        ("assistant", "So:\n\nIt never idles."),
        ("assistant", "A plan."),
        ("assistant", "Done."),
        ("assistant", "End."),
    ]


def test_pictures_of_a_person_have_a_mark_and_those_of_tools_have_none(tasks):
    source = {"type": "base64", "media_type": "image/png", "data": "aGFyYm91cg=="}
    picture = {"type": "image", "source": source}
    tasks.sent(user("<task>\nWhy?\n</task>", picture), user("[browser_action] Result:", picture))
    ((role, words),) = texts(tasks.read())
    assert role == "user"
    assert words.startswith("Why?\n\n[image: image/png, sha256 ")


def test_models_times_and_ids(tasks):
    tasks.sent(
        user("<task>\nok\n</task>"),
        assistant("ok", modelInfo={"modelId": "model-x"}, ts=AT + 5000),
        user("<feedback>\nok\n</feedback>"),
        assistant("ok"),
    )
    result = tasks.read()
    assert [each.model for each in result.messages] == [None, "model-x", None, None]
    assert [each.at for each in result.messages] == [AT, AT + 5000, AT + 5000, AT + 5000]
    assert [each.approximate for each in result.messages] == [True, False, True, True]
    before = [each.uid for each in result.messages]
    assert len(set(before)) == 4
    tasks.sent(user("<task>\nok\n</task>"), assistant("ok"))
    assert [each.uid for each in tasks.read().messages] == before[:2]


def test_unknown_blocks_are_counted(tasks):
    tasks.sent(user("<task>\nWhy?\n</task>", {"type": "song"}, {"no": "type"}))
    assert dict(tasks.read().unknown) == {"song": 1, "(no type)": 1}


def test_a_subtask_is_an_agents(tasks):
    tasks.sent(user("<task>\nWhy?\n</task>"), assistant("So."), user("<feedback>\nNo\n</feedback>"))
    tasks.beside("history_item.json", {"parentTaskId": ROO_TASK})
    result = tasks.read()
    assert [each.author for each in result.messages] == ["subagent", "subagent", "human"]
    assert result.sessions[TASK].parent == ROO_TASK
