"""What is kept of what the window of a task shows, and what is not."""

import json

import pytest
from agents.sources import texts
from cline_kit import AT, HARBOUR, PNG, TALK, TASK, Tasks, ask, requested, say, sent, talk

from cloxy_plugins.cline.words import typed_in_session


@pytest.fixture
def tasks(tmp_path):
    return Tasks(tmp_path)


def told(tasks, *messages):
    """What messages behind a task say."""
    tasks.shown(say(0, "text", "Why?"), *messages)
    result = tasks.read()
    assert result.messages[0].text == "Why?"
    return [(each.role, each.author, each.text) for each in result.messages[1:]]


def test_a_task_is_kept_with_its_facts(tasks):
    tasks.shown(*talk())
    result = tasks.read()
    assert texts(result) == TALK
    assert [each.author for each in result.messages] == ["human", "assistant", "assistant", "human"]
    assert [each.at for each in result.messages] == [AT, AT + 3000, AT + 5000, AT + 7000]
    assert not any(each.approximate for each in result.messages)
    facts = result.sessions[TASK]
    assert (facts.cwd, facts.title, facts.parent) == (HARBOUR, "Why does the crane overheat?", None)
    assert {each.cwd for each in result.messages} == {HARBOUR}


def test_each_message_once_though_both_files_have_it(tasks):
    tasks.shown(*talk())
    tasks.sent(*sent())
    assert texts(tasks.read()) == TALK


def test_only_the_first_text_is_a_persons(tasks):
    assert told(tasks, say(1, "text", "Let me look."), say(2, "text", "Found it.")) == [
        ("assistant", "assistant", "Let me look."),
        ("assistant", "assistant", "Found it."),
    ]


def test_a_task_that_is_only_a_picture_is_a_persons_too(tasks):
    tasks.shown(say(0, "text", "", images=[PNG]), say(1, "text", "A crane."))
    role, words = texts(tasks.read())[0]
    assert role == "user"
    assert words.startswith("[image: image/png, sha256 ")
    assert "aGFyYm91cg" not in words
    assert texts(tasks.read())[1] == ("assistant", "A crane.")


def test_feedback_has_its_pictures_behind_it(tasks):
    ((role, author, words),) = told(
        tasks, say(1, "user_feedback", "Like this", images=[PNG, "/home/me/crane%20[1].png", 7])
    )
    assert (role, author) == ("user", "human")
    first, second, third, fourth = words.split("\n\n")
    assert first == "Like this"
    assert second.startswith("[image: image/png, sha256 ")
    assert (third, fourth) == ("[image: crane (1).png]", "[image: unknown]")


def test_a_picture_with_damaged_data_has_a_mark_too(tasks):
    damaged = "data:image/png;base64,x"
    ((_role, _author, words),) = told(tasks, say(1, "user_feedback", "", images=[damaged]))
    assert words.startswith("[image: image/png, sha256 ")


def test_a_diff_of_what_a_person_changed_is_no_words(tasks):
    diff = json.dumps({"tool": "editedExistingFile", "path": "crane.py", "diff": "A DIFF"})
    assert told(
        tasks, say(1, "user_feedback_diff", diff), say(2, "user_feedback_diff", "Not like that")
    ) == [("user", "human", "Not like that")]


@pytest.mark.parametrize(
    ("kind", "fields", "words"),
    [
        ("followup", {"question": "Which crane?", "options": ["one", "two"]}, "Which crane?"),
        ("plan_mode_respond", {"response": "A plan.", "options": []}, "A plan."),
        ("act_mode_respond", {"response": "Going on."}, "Going on."),
        ("followup", {"question": "港?", "suggest": [{"answer": "one"}]}, "港?"),
    ],
)
def test_questions_and_plans_are_inside_of_json(tasks, kind, fields, words):
    assert told(tasks, ask(1, kind, json.dumps(fields))) == [("assistant", "assistant", words)]


def test_the_answer_that_a_person_chose_is_kept(tasks):
    fields = {"question": "Which crane?", "options": ["one", "two"], "selected": "two"}
    tasks.shown(say(0, "text", "Why?"), ask(1, "followup", json.dumps(fields)))
    _task, question, answer = tasks.read().messages
    assert (question.text, question.author, question.approximate) == (
        "Which crane?",
        "assistant",
        False,
    )
    assert (answer.text, answer.author, answer.approximate) == ("two", "human", True)
    assert question.uid != answer.uid


@pytest.mark.parametrize("words", ["Which crane?", "{crane}: which?", '{"question": "Whi'])
def test_a_question_that_is_no_json_is_kept_as_it_is(tasks, words):
    assert told(tasks, ask(1, "followup", words)) == [("assistant", "assistant", words)]


def test_a_result_that_is_asked_about_is_kept_once(tasks):
    assert told(
        tasks,
        say(1, "completion_result", "It never idles."),
        ask(2, "completion_result", "It never idles.HAS_CHANGES"),
        ask(3, "completion_result", "Something else."),
    ) == [
        ("assistant", "assistant", "It never idles."),
        ("assistant", "assistant", "Something else."),
    ]


def test_of_the_list_of_steps_the_last_is_kept(tasks):
    tasks.shown(say(0, "text", "Why?"), say(1, "task_progress", "- [ ] look"), say(2, "text", "So"))
    (*_rest, before) = tasks.read().messages
    assert before.text == "- [ ] look"
    tasks.shown(
        say(0, "text", "Why?"),
        say(1, "task_progress", "- [ ] look"),
        say(2, "text", "So"),
        say(3, "task_progress", "- [x] look"),
        say(4, "task_progress", ""),
    )
    result = tasks.read()
    assert texts(result)[1:] == [("assistant", "So"), ("assistant", "- [x] look")]
    assert result.messages[-1].uid == before.uid


def test_summaries_are_kept_as_such(tasks):
    tool = {"tool": "summarizeTask", "content": "What was done."}
    condensed = {"summary": "Condensed.", "cost": 1}
    assert told(
        tasks,
        say(1, "tool", json.dumps(tool)),
        say(2, "condense_context", None, contextCondense=condensed),
        ask(3, "condense", "Before that."),
        ask(4, "new_task", json.dumps({"context": "For the next."})),
        say(5, "condense_context", None, contextCondense={"cost": 1}),
    ) == [
        ("summary", "summary", "What was done."),
        ("summary", "summary", "Condensed."),
        ("summary", "summary", "Before that."),
        ("summary", "summary", "For the next."),
    ]


NOISE = [
    ("say", "api_req_started"),
    ("say", "api_req_finished"),
    ("say", "reasoning"),
    ("say", "command_output"),
    ("say", "browser_action_result"),
    ("say", "mcp_server_response"),
    ("say", "checkpoint_created"),
    ("say", "checkpoint_saved"),
    ("say", "subtask_result"),
    ("say", "error"),
    ("say", "codebase_search_result"),
    ("ask", "tool"),
    ("ask", "command"),
    ("ask", "resume_task"),
    ("ask", "resume_completed_task"),
    ("ask", "mistake_limit_reached"),
]


@pytest.mark.parametrize(("form", "kind"), NOISE)
def test_noise_is_neither_kept_nor_unknown(tasks, form, kind):
    make = say if form == "say" else ask
    tasks.shown(say(0, "text", "Why?"), make(1, kind, "NOISE"))
    result = tasks.read()
    assert texts(result) == [("user", "Why?")]
    assert not result.unknown
    assert not result.bad_lines


def test_unknown_kinds_are_counted(tasks):
    tasks.shown(
        say(0, "text", "Why?"), say(1, "sung", "la"), say(2, "sung", "la"), ask(3, "danced")
    )
    result = tasks.read()
    assert texts(result) == [("user", "Why?")]
    assert dict(result.unknown) == {"say: sung": 2, "ask: danced": 1}


def test_two_messages_of_one_moment_are_two_and_a_repeated_one_is_one(tasks):
    tasks.shown(
        say(0, "text", "Why?"),
        say(1, "text", "One."),
        say(1, "text", "Two."),
        say(1, "text", "One."),
        say(1, "completion_result", "Done."),
    )
    result = tasks.read()
    assert [each.text for each in result.messages] == ["Why?", "One.", "Two.", "Done."]
    assert len({each.uid for each in result.messages}) == 4


def test_a_copy_with_another_name_has_the_same_ids(tasks):
    tasks.shown(*talk())
    before = [each.uid for each in tasks.read().messages]
    (tasks.tasks / TASK).rename(tasks.tasks / "1769000999999")
    assert [each.uid for each in tasks.read().messages] == before
    tasks.shown(*[{**each, "ts": each["ts"] + 1} for each in talk()], task="1769000999999")
    assert not set(before) & {each.uid for each in tasks.read().messages}


def test_a_text_that_was_still_growing_keeps_its_id(tasks):
    tasks.shown(say(0, "text", "Why?"), say(1, "text", "It ne", partial=True))
    before = tasks.read().messages[1]
    tasks.shown(say(0, "text", "Why?"), say(1, "text", "It never idles.", partial=False))
    after = tasks.read().messages[1]
    assert (before.uid, after.text) == (after.uid, "It never idles.")


def test_models_come_from_the_messages_or_from_the_file_beside_them(tasks):
    chosen = {"providerId": "p", "modelId": "model-x", "mode": "act"}
    tasks.shown(
        say(0, "text", "Why?", modelInfo=chosen),
        say(1, "text", "One.", modelInfo=chosen),
        say(2, "text", "Two."),
        say(5, "text", "Three."),
    )
    assert [each.model for each in tasks.read().messages] == [None, "model-x", None, None]
    usage = [
        {"ts": AT + 4000, "model_id": "model-z"},
        {"ts": AT, "model_id": "model-y"},
        {"ts": "soon", "model_id": "model-q"},
        {"ts": AT},
        None,
    ]
    tasks.beside("task_metadata.json", {"model_usage": usage})
    models = [each.model for each in tasks.read().messages]
    assert models == [None, "model-x", "model-y", "model-z"]


def test_the_folder_is_taken_from_the_details_not_from_what_was_typed(tasks):
    typed = "# Current Working Directory (/srv/other) Files"
    tasks.shown(say(0, "text", typed), requested(1, typed))
    assert tasks.read().sessions[TASK].cwd == HARBOUR


@pytest.mark.parametrize("place", ["Primary: harbour", "harbour", "", "~/harbour"])
def test_a_folder_of_no_path_is_none(tasks, place):
    details = f"<environment_details>\n# Current Working Directory ({place}) Files\n"
    request = json.dumps({"request": details})
    tasks.shown(say(0, "text", "Why?"), say(1, "api_req_started", request))
    assert tasks.read().sessions[TASK].cwd is None


@pytest.mark.parametrize("place", ["/srv/a (b)/c", "C:\\work\\crane", "c:/work/crane"])
def test_folders_of_any_system(tasks, place):
    details = f"<environment_details>\n# Current Workspace Directory ({place}) Files\nx"
    request = json.dumps({"request": details})
    tasks.shown(say(0, "text", "Why?"), say(1, "api_req_started", request))
    assert tasks.read().sessions[TASK].cwd == place


def test_the_folder_of_a_task_without_details_is_in_the_list_of_tasks(tasks):
    listed = tasks.extension / "state" / "taskHistory.json"
    listed.parent.mkdir(parents=True)
    entries = [{"id": TASK, "ts": AT, "task": "Why?", "cwdOnTaskInitialization": "/srv/listed"}]
    listed.write_text(json.dumps(entries))
    tasks.shown(say(0, "text", "Why?"))
    assert tasks.read().sessions[TASK].cwd == "/srv/listed"
    listed.write_text("[{")
    assert tasks.read().sessions[TASK].cwd is None


def test_sessions_of_our_own_are_not_taken(tasks):
    details = "<environment_details>\n# Current Working Directory (/srv/demo/cloxy-data/x) Files\n"
    request = json.dumps({"request": details})
    tasks.shown(say(0, "text", "Why?"), say(1, "api_req_started", request))
    result = tasks.read()
    assert not result.messages
    assert not result.sessions


def test_a_message_without_a_time_has_that_of_the_one_before(tasks):
    late = {"type": "say", "say": "text", "text": "So."}
    tasks.shown(say(0, "text", "Why?"), late, {**late, "ts": 7, "text": "And."})
    _task, *found = tasks.read().messages
    assert [(each.at, each.approximate) for each in found] == [(AT, True), (AT, True)]
    assert len({each.uid for each in found}) == 2


def test_elements_that_never_end_are_looked_for_once():
    for words in (
        "<user_command " + 'slash="a" ' * 60_000,
        "<feedback>" * 40_000,
        "<user_input>" * 30_000,
    ):
        assert len(typed_in_session(words)) <= len(words)
