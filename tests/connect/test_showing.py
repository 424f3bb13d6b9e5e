"""A change is shown without the secrets around it."""

import pytest
from connect.bench import Bench
from connect.samples import PROGRAM

from cloxy_core.connect.entry import Target
from cloxy_core.connect.perform import Worker
from cloxy_core.connect.plan import Request
from cloxy_core.connect.showing import change_lines, masked


@pytest.mark.parametrize(
    "line",
    [
        '"env": {"API_KEY": "hunter2"}',
        '"Authorization": "Bearer hunter2"',
        '"args": ["--api-key", "hunter2", "x"]',
        '"args": ["--token=hunter2"]',
        'password = "hunter2" # mine',
        "password = 'hunter2'",
        "secret: hunter2",
        '"url": "https://pat:hunter2@example.com/mcp"',
        '"clientSecret":"hun\\"hunter2"',
    ],
)
def test_values_of_secrets_are_not_shown(line):
    assert "hunter2" not in masked(line)
    assert "…" in masked(line)


def test_what_is_no_secret_is_shown():
    for line in (f'"command": "{PROGRAM}",', '"args": ["mcp"]', "// a comment", "model = 3"):
        assert masked(line) == line


def step_of(bench, undo=False):
    target = Target() if undo else Target(PROGRAM)
    worker = Worker(Request("cloxy", target), bench.journal, bench.commands, undo=undo)
    return worker.plan(bench.place)


def test_of_a_file_in_one_long_line_only_our_part_is_shown(tmp_path):
    bench = Bench(tmp_path)
    bench.write('{"mcpServers": {"x": {"command": "' + "y" * 500 + '"}}}')
    lines = change_lines(step_of(bench))
    assert lines == [f'+, "cloxy": {{"command": "{PROGRAM}", "args": ["mcp"]}}']
    bench.connect()
    assert all(len(line) <= 200 for line in change_lines(step_of(bench, undo=True)))


def test_lines_that_go_and_come(tmp_path):
    bench = Bench(tmp_path)
    bench.write('{\n  "a": 1,\n  "b": 2,\n  "c": 3,\n  "mcpServers": {}\n}\n')
    assert change_lines(step_of(bench)) == [
        "@@ -3,4 +3,9 @@",
        '   "b": 2,',
        '   "c": 3,',
        '-  "mcpServers": {}',
        '+  "mcpServers": {',
        '+    "cloxy": {',
        f'+      "command": "{PROGRAM}",',
        '+      "args": ["mcp"]',
        "+    }",
        "+  }",
        " }",
    ]
    assert change_lines(step_of(bench, undo=True)) == []
