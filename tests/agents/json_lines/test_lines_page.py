"""The examples in the documentation, read as a description and as a log."""

import re
from pathlib import Path

import pytest
from lines_kit import HOME, NOW, item_for

from cloxy_core.testing.fakes import raw_lines
from cloxy_hookspecs.logs.turns import TurnParser
from cloxy_plugins.json_lines.descriptions import read_descriptions
from cloxy_plugins.json_lines.fields import field_path
from cloxy_plugins.json_lines.parser import RecordParser

DOCS = Path(__file__).parents[3] / "docs" / "agents"
BLOCK = re.compile(r"^( *)```(json|toml)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
PAGE = (DOCS / "json-lines.md").read_text(encoding="utf-8")


def blocks(page):
    """Kinds and words of the blocks of code of a page."""
    return [
        (kind, re.sub(rf"^{indent}", "", words, flags=re.MULTILINE))
        for indent, kind, words in BLOCK.findall(page)
    ]


def agents(folder, words):
    file = folder / "json_lines.toml"
    file.write_text(words, encoding="utf-8")
    found = read_descriptions(file, HOME, named=True)
    assert not found.problem, found.problem
    return found.agents


def examples():
    """A log and its description, one after the other."""
    found = blocks(PAGE.partition("## Examples")[2])
    assert [kind for kind, _words in found] == ["json", "toml"] * (len(found) // 2)
    return [(found[n][1], found[n + 1][1]) for n in range(0, len(found), 2)]


@pytest.mark.parametrize(("log", "words"), examples())
def test_an_example_says_what_its_log_holds(tmp_path, log, words):
    (agent,) = agents(tmp_path, words)
    assert not agent.problem
    data = log.encode()
    parser = RecordParser(TurnParser("/srv/cloxy", lambda: NOW), agent.format)
    result = parser.parse(item_for(data), raw_lines(data), {})
    assert result.messages
    assert not result.bad_lines
    assert not result.unknown
    assert "hm" not in [message.text for message in result.messages]


def test_other_descriptions_on_pages_have_nothing_wrong(tmp_path):
    words = blocks(PAGE.partition("## Examples")[0])
    whole = "\n".join(part for kind, part in words if kind == "toml")
    windsurf = (DOCS / "windsurf.md").read_text(encoding="utf-8")
    for text in (whole, *(part for kind, part in blocks(windsurf) if kind == "toml")):
        assert not any(agent.problem for agent in agents(tmp_path, text))


def test_paths_of_the_page_are_paths():
    table = PAGE.partition("### Field paths")[2].partition("### Conditions")[0]
    found = re.findall(r"^\| `([^`]+)` \|", table, re.MULTILINE)
    assert len(found) >= 6
    for path in found:
        field_path(path)
