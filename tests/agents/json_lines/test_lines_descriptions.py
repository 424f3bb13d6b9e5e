"""Descriptions: what they mean, and what is said of wrong ones."""

from pathlib import Path

import pytest
from lines_kit import HOME, PATHS, describe

from cloxy_plugins.json_lines.descriptions import MOST_AGENTS, read_descriptions


def read(folder, words, *, named=True):
    file = folder / "json_lines.toml"
    file.write_bytes(words if isinstance(words, bytes) else words.encode())
    return read_descriptions(file, HOME, named=named)


def test_all_that_can_be_said(tmp_path):
    agent = describe(
        tmp_path,
        'title = "My\\nAgent"\nresume = ["my", "--go", "{session}"]\nsession = ["a", "b"]\n'
        'user = ["me"]\nprogram = "cron"\nignore = ["noise"]\ndrop_tags = ["system-reminder"]\n'
        'where = { type = ["x", "y"], n = 1, "a.b" = true }\nunless = { a.b = "c*" }\n',
    )
    assert agent.problem == ""
    assert (agent.name, agent.title) == ("my-agent", "My Agent")
    assert agent.resume == ("my", "--go", "{session}")
    assert [path.text for path in agent.format.fields["session"]] == ["a", "b"]
    roles = agent.format.roles
    assert (roles["me"], roles["cron"], roles["noise"]) == ("user", "program", "ignore")
    assert (roles.get("user"), roles.get("tool")) == (None, None), "named lists replace the usual"
    assert roles["assistant"] == "assistant"
    assert [each.words for each in agent.format.where] == ["type = x | y", "n = 1", "a.b = true"]
    assert [each.words for each in agent.format.unless] == ["a.b = c*"]
    assert agent.format.drop_tags == ("system-reminder",)


def test_only_the_place_has_to_be_said(tmp_path):
    agent = describe(tmp_path, "")
    assert (agent.problem, agent.title) == ("", "")
    assert agent.patterns[0].root == Path("/srv/agent")
    assert agent.format.told("role") == "role"
    assert agent.format.told("session") == "(nowhere)"


@pytest.mark.parametrize(
    ("words", "head", "problem"),
    [
        ("", "", 'paths is missing; list the logs, such as paths = ["~/.agent/**/*.jsonl"]'),
        ("", "paths = []\n", "paths wants a text or a list of texts, none of them empty"),
        ("", "paths = [1]\n", "paths wants a text or a list of texts, none of them empty"),
        ("", 'paths = "x/*.jsonl"\n', "paths cannot be used: 'x/*.jsonl' is not absolute; begin"),
        ('txt = "a"\n', PATHS, "txt is not known; did you mean 'text'?"),
        ('zzz = "a"\n', PATHS, "zzz is not known; known are title, paths"),
        ("text = 7\n", PATHS, "text wants a text or a list of texts"),
        ('text = "a..b"\n', PATHS, "text cannot be used: 'a..b' wants the name of a field at char"),
        ('text = ["ok", "a[b"]\n', PATHS, "text cannot be used: 'a[b' wants [], [0]"),
        ('user = ["x"]\nassistant = ["x"]\n', PATHS, "assistant lists 'x', which user lists too"),
        ('resume = ["my", "go"]\n', PATHS, "resume has to hold {session}"),
        ("where = 7\n", PATHS, 'where wants a table, such as where = { type = "message" }'),
        ("where = { a = [] }\n", PATHS, "where of 'a' wants a text, a number, true, false or a"),
        ("where = { a = 2026-01-01 }\n", PATHS, "where of 'a' wants a text, a number, true"),
        ("where = { a = {} }\n", PATHS, "where of 'a' wants a text, a number, true"),
        ('unless = { "a..b" = 1 }\n', PATHS, "unless cannot be used: 'a..b' wants the name"),
        ('drop_tags = ["<x>"]\n', PATHS, "drop_tags cannot be used: '<x>' is no name of a tag"),
        ("title = 7\n", PATHS, "title wants a text or a list of texts"),
    ],
)
def test_what_is_wrong_names_the_key_and_what_to_do(tmp_path, words, head, problem):
    agent = describe(tmp_path, words, head=head)
    assert agent.problem.startswith(problem)


def test_several_things_wrong_are_told_together_but_not_without_end(tmp_path):
    words = "".join(f'nonsense{n} = "x"\n' for n in range(20))
    assert describe(tmp_path, words).problem.endswith("; and 15 more")


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (b"\xff\xfe", "is no UTF-8 text"),
        ("agents = 7", "'agents' is no table; write [agents.NAME]"),
        ("[agents", "is not TOML: "),
        ("[agents.a]\n[agents.a]\n", "is not TOML: "),
        ("[agent.a]\n", "'agent' is not known; an agent is described in [agents.NAME]"),
        ("[agents]\na = 7\n", "[agents.a] is no table"),
        (f"[agents.My_Agent]\n{PATHS}", "[agents.My_Agent]: a name has small letters"),
        ('[agents."  "]\n', "[agents.  ]: a name has small letters, digits and single hyphens"),
        (b"x" * (1 << 21), "is larger than 1 MB"),
    ],
)
def test_a_file_that_is_wrong_as_a_whole(tmp_path, words, problem):
    found = read(tmp_path, words)
    assert found.problem.startswith(problem)
    assert not found.agents


def test_a_wrong_name_comes_with_a_likely_one(tmp_path):
    assert read(tmp_path, "[agents.My_Agent]\n").problem.endswith("; call it 'my-agent'")


def test_a_wrong_table_costs_no_other_one(tmp_path):
    found = read(tmp_path, f"[agents.one]\n{PATHS}[agents.Two]\n[agents.three]\n")
    assert [(agent.name, bool(agent.problem)) for agent in found.agents] == [
        ("one", False), ("three", True),
    ]  # fmt: skip
    assert "[agents.Two]" in found.problem


def test_so_many_agents_and_no_more(tmp_path):
    found = read(tmp_path, "".join(f"[agents.a{n}]\n{PATHS}" for n in range(MOST_AGENTS + 1)))
    assert len(found.agents) == MOST_AGENTS
    assert found.problem == f"describes more than {MOST_AGENTS} agents"


def test_a_mark_of_byte_order_is_no_harm(tmp_path):
    assert read(tmp_path, b"\xef\xbb\xbf[agents.a]\n" + PATHS.encode()).agents[0].problem == ""


def test_no_file_is_fine_unless_it_is_named(tmp_path):
    absent = tmp_path / "absent.toml"
    assert read_descriptions(absent, HOME, named=False).problem == ""
    problem = read_descriptions(absent, HOME, named=True).problem
    assert problem == "there is no such file; write it, or unset json_lines.file"
    folder = read_descriptions(tmp_path, HOME, named=True)
    assert folder.problem.startswith("cannot be read: ")
