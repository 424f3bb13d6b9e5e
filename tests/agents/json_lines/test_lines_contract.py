"""The conformance kit on a source and a parser that a description makes, and on the plain form."""

import pytest
from lines_kit import PLAIN, lines, says

import cloxy_plugins.json_lines.plugin as json_lines
from cloxy_core.kernel.records import record_fault
from cloxy_core.testing.conformance import ParserConformance, SourceConformance
from cloxy_hookspecs import ParserProvider, SourceProvider

(SOURCE,) = json_lines.cloxy_sources()
(PARSER,) = json_lines.cloxy_parsers()
TALK = [
    says("user", "Why does the crane overheat?", "a", session="s1"),
    says("assistant", "It never idles.", "ab"),
    says("tool", "x" * 200),
    says("user", "Add a test for Ünïcödé 港", "abc"),
]


@pytest.fixture
def described(tmp_path):
    """The file of descriptions of an agent whose logs lie in `agent`."""
    file = tmp_path / "json_lines.toml"
    file.write_text(f"[agents.my-agent]\npaths = {str(tmp_path / 'agent')!r}\n{PLAIN}")
    return file


class Described:
    """What a description makes, in place of what the plugin's own records make."""

    kind = SourceProvider

    @pytest.fixture
    def plugins(self):
        return {"json_lines": json_lines}

    @pytest.fixture
    def settings(self, described):
        return {"json_lines.file": str(described)}

    @pytest.fixture
    def logs(self, tmp_path):
        path = tmp_path / "agent" / "deep" / "talk.jsonl"
        path.parent.mkdir(parents=True)
        path.write_bytes(lines(*TALK))
        return tmp_path / "agent"

    @pytest.fixture
    def made(self, logs, context):
        (record,) = [each for each in SOURCE.further(context) if isinstance(each, self.kind)]
        assert record_fault(self.seat, record, "json_lines", first_party=True) == ""
        return record.create(context)


class TestDescribedSource(Described, SourceConformance):
    """A source."""

    @pytest.fixture
    def provider(self):
        return SOURCE


class TestDescribedParser(Described, ParserConformance):
    """A parser."""

    kind = ParserProvider

    @pytest.fixture
    def provider(self):
        return PARSER

    @pytest.fixture
    def sample(self, logs):
        return logs / "deep" / "talk.jsonl"


class TestPlainParser(ParserConformance):
    """The parser of the plainest form."""

    @pytest.fixture
    def provider(self):
        return PARSER

    @pytest.fixture
    def plugins(self):
        return {"json_lines": json_lines}

    @pytest.fixture
    def sample(self, tmp_path):
        path = tmp_path / "talk.jsonl"
        spoken = [("user", "one"), ("assistant", "two"), ("user", "Ünïcödé 港"), ("tool", "x")]
        path.write_bytes(
            lines(*({"role": role, "text": text, "time": 1_776_017_821} for role, text in spoken))
        )
        return path


def test_source_says_what_it_is():
    assert SOURCE.further is not None
    assert (SOURCE.agent, SOURCE.title) == ("json-lines", "Other agents (JSON Lines)")
    assert SOURCE.parser == PARSER.name
