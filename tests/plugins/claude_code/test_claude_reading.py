"""Parsing long files with little memory."""

import subprocess
import sys
import textwrap

import pytest
from claude_logs import dumped, record


@pytest.fixture
def session(projects, source):
    def make(data):
        path = projects / "s-aaa.jsonl"
        path.write_bytes(data)
        (item,) = source.discover([])
        return item

    return make


@pytest.mark.process
def test_huge_line_takes_little_memory(projects):
    path = projects / "s-aaa.jsonl"
    with path.open("wb") as file:
        file.write(b'{"type":"user","message":{"content":"')
        for _ in range(100):
            file.write(b"x" * (1 << 20))
        file.write(b'"}}\n' + dumped(record("user", "u1", "after")))
    script = """
        import resource, sys
        from pathlib import Path
        from cloxy_core.services.logs.lines import LineLogs
        from cloxy_plugins.claude_code.source import trees_of
        from cloxy_plugins.claude_code.parser import ClaudeCodeParser
        source = LineLogs(trees_of([Path(sys.argv[1])]))
        (item,) = source.discover([])
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        result = ClaudeCodeParser("/x", lambda: 0).parse(item, source.read(item, 0), {})
        after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        print(after - before, [m.text for m in result.messages], len(result.bad_lines))
    """
    output = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script), str(projects)],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    grown, rest = output.split(" ", 1)
    unit = 1 if sys.platform == "darwin" else 1024

    assert rest.strip() == "['after'] 1"
    assert int(grown) * unit < 60 << 20


def test_a_million_empty_lines_are_read(source, session, logs):
    item = session(b"\n" * 1_000_000 + dumped(record("user", "u1", "after")))

    result = logs.parser.parse(item, source.read(item, 0), {})

    assert [m.start for m in result.messages] == [1_000_000]
    assert not result.bad_lines
