"""Which files below a watched folder are sessions."""

from claude_logs import record, source_of, write

LINE = record("user", "u1", "x")


def found(source, **options):
    failures = []
    items = list(source.discover(failures, **options))
    return sorted(item.uri for item in items), {f.uri: f.reason for f in failures}


def test_sessions_and_subagents_are_found(source, projects):
    wanted = [
        write(projects / name, LINE)
        for name in (
            "-srv-shop/s-aaa.jsonl",
            "-srv-shop/agent-9f.jsonl",
            "-srv-shop/s-aaa/subagents/agent-9f.jsonl",
            "-srv-shop/s-aaa/subagents/workflows/wf_1/agent-7.jsonl",
            "memory/s-ccc.jsonl",
            "top.jsonl",
        )
    ]
    for name in (
        "-srv-shop/s-aaa/subagents/agent-acompact-1.jsonl",
        "-srv-shop/s-aaa/subagents/agent-aprompt_suggestion-1.jsonl",
        "-srv-shop/s-aaa/subagents/agent-aside_question-1.jsonl",
        "-srv-shop/s-aaa/subagents/workflows/wf_1/journal.jsonl",
        "-srv-shop/s-aaa/subagents/agent-9f.meta.json",
        "-srv-shop/s-aaa/tool-results/t.jsonl",
        "-srv-shop/memory/m.jsonl",
        "-srv-shop/.s-bbb.jsonl.AbC123",
        "-srv-shop/.s-bbb.jsonl",
        "-srv-shop/.~tmp~/s-bbb.jsonl",
        "-srv-shop/notes.txt",
    ):
        write(projects / name, LINE)

    uris, failures = found(source)

    assert uris == sorted(map(str, wanted))
    assert not failures


def test_copy_in_progress_is_found_once_it_has_its_name(source, projects):
    temporary = write(projects / "-srv-shop" / ".s-aaa.jsonl.XyZ987", LINE)
    assert found(source) == ([], {})

    final = temporary.rename(projects / "-srv-shop" / "s-aaa.jsonl")

    assert found(source)[0] == [str(final)]


def test_copies_of_workers_and_journals_are_not_asked_for_either(source, projects):
    for name in (
        "agent-acompact-1.jsonl",
        "wf_1/journal.jsonl",
        "-srv-shop/tool-results/t.jsonl",
        "-srv-shop/.~tmp~/s-bbb.jsonl",
    ):
        path = write(projects / name, LINE)
        assert found(source, under=path) == ([], {})


def test_folder_of_a_workflow_may_be_asked_for(projects):
    agent = write(projects / "wf_1" / "agent-7.jsonl", LINE)
    write(projects / "wf_1" / "journal.jsonl", LINE)

    uris, _failures = found(source_of([projects]).of(projects / "wf_1"))

    assert uris == [str(agent)]
