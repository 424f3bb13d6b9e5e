"""TOML and YAML in the shapes that people write them in."""

import tomllib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cloxy_core.connect.edits import apply, inverse
from cloxy_core.connect.errors import TextFault
from cloxy_core.connect.toml_format import TomlFormat
from cloxy_core.connect.yaml_block import YamlBlock

TOML = TomlFormat("mcp_servers")
YAML = YamlBlock()
ENTRY = {"command": 'C:\\Program "Files"\\clöxy.exe', "args": ["mcp"]}
WITH_ENV = {**ENTRY, "env": {"CLOXY_DATA_DIR": "/d"}}

LOOKALIKE = 'note = """\n[mcp_servers.cloxy]\ncommand = "no"\n"""\n'
SHAPES = [
    "",
    'model = "x"\n',
    'model = "x"',
    "[mcp_servers]\n",
    '[mcp_servers]\nother = { command = "y" }\n',
    '[mcp_servers.other]\ncommand = "y" # mine\n\n[mcp_servers.other.env]\nA = "1"\n\n'
    + "[tui]\nx = 1\n",
    '[[profiles]]\nname = "a"\n\n[[profiles]]\nname = "b"\n',
    LOOKALIKE,
    "# only a comment\n",
    'when = 1979-05-27T07:32:00Z\nodd."dotted key".x = 1\n',
]


@pytest.mark.parametrize("text", SHAPES)
@pytest.mark.parametrize("values", [ENTRY, WITH_ENV], ids=["plain", "with variables"])
@pytest.mark.parametrize("tail", ["", "\n[later]\na = 1\n", "\n# about later\n[[later]]\na = 1\n"])
def test_toml_added_and_removed(text, values, tail):
    edits = TOML.added(text, "cloxy", values)
    after = apply(text, edits)
    before = tomllib.loads(text)
    assert tomllib.loads(after) == {
        **before, "mcp_servers": {**before.get("mcp_servers", {}), "cloxy": values}
    }  # fmt: skip
    assert after.startswith(text)
    assert apply(after, inverse(edits)) == text
    # By what it says, also when something else was written behind it.
    left = TOML.removed(after + tail, "cloxy", container=False)
    whole = text if text.endswith("\n") or not text else text + "\n"
    assert left == (whole + tail if text else tail)


@pytest.mark.parametrize(
    "text",
    [
        '[mcp_servers]\na = { command = "b" }\ncloxy = { command = "cloxy", args = ["mcp"] } # x\n',
        'mcp_servers.cloxy.command = "cloxy"\nmcp_servers.a.command = "b"\n',
        '[mcp_servers."cloxy"]\ncommand = "cloxy"\n[mcp_servers.a]\ncommand = "b"\n',
        '[ mcp_servers . cloxy ]\ncommand = "cloxy"\n[mcp_servers.a]\ncommand = "b"\n',
        '[mcp_servers.cloxy.env]\nA = "1"\n[mcp_servers.a]\ncommand = "b"\n[mcp_servers.cloxy]\n'
        'command = "cloxy"\n',
    ],
)
def test_toml_written_by_a_person_is_taken_out_too(text):
    left = tomllib.loads(TOML.removed(text, "cloxy", container=False))
    assert left == {"mcp_servers": {"a": {"command": "b"}}}


def test_toml_that_only_looks_like_ours_stays():
    text = LOOKALIKE + '\n[mcp_servers.cloxy]\ncommand = "cloxy"\nargs = ["mcp"]\n'
    assert TOML.entries(LOOKALIKE) == {}
    assert TOML.removed(text, "cloxy", container=False) == LOOKALIKE


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a = 1\nmcp_servers = 3\n", 2),
        ('mcp_servers = { other = { command = "x" } }\n', 1),
        ("a = 1\nb = \n", 2),
        ("a = 1\na = 2\n", 2),
        ('a = 1\nb = "open\n', 2),
        ("[mcp_servers.x]\n[mcp_servers.x]\n", 2),
    ],
)
def test_toml_that_cannot_be_changed_is_refused_with_its_line(text, line):
    with pytest.raises(TextFault) as caught:
        TOML.added(text, "cloxy", ENTRY)
        TOML.entries(text)
    assert caught.value.line == line


def test_toml_keeps_what_a_person_added():
    text = (
        '[mcp_servers.cloxy]\ncommand = "/old/cloxy" # here\nargs = ["mcp"]\ntool_timeout_sec = 9\n'
    )
    new = TOML.updated(text, "cloxy", {"command": "/new/cloxy", "args": ["mcp"]})
    assert new == text.replace("/old", "/new")
    address = TOML.updated(text, "cloxy", {"url": "http://127.0.0.1:9055/mcp"})
    assert tomllib.loads(address)["mcp_servers"]["cloxy"] == {
        "tool_timeout_sec": 9,
        "url": "http://127.0.0.1:9055/mcp",
    }


PATHS = st.text(st.characters(min_codepoint=32, exclude_categories=["Cs", "Cc"]), min_size=1)


@settings(deadline=None, max_examples=60)
@given(PATHS)
def test_any_path_reads_back_as_it_is(path):
    values = {"command": path, "args": ["mcp"], "env": {"CLOXY_DATA_DIR": path}}
    assert TOML.entries(TOML.snippet("cloxy", values)) == {"cloxy": values}
    assert YAML.entries(YAML.snippet("cloxy", values)) == {"cloxy": values}
    yaml = pytest.importorskip("yaml")
    loaded = yaml.safe_load(YAML.snippet("cloxy", values))
    assert loaded["mcpServers"] == [{"name": "cloxy", **values}]


def test_a_yaml_file_of_another_is_refused():
    for text in ("rules: []\n", "- a\n", "mcpServers: []\n", "mcpServers:\n- name: x\n"):
        with pytest.raises(TextFault):
            YAML.added(text, "cloxy", ENTRY)
            YAML.entries(text)


def test_a_yaml_server_between_others():
    head = "name: Cloxy\nversion: 0.0.1\nschema: v1\nmcpServers:\n"
    one, two = "  - name: one\n    command: x\n", "  # two\n  - name: two\n    command: y\n"
    ours = YAML.snippet("cloxy", ENTRY).removeprefix(head)
    assert YAML.removed(head + one + ours + two, "cloxy", container=False) == head + one + two
    assert list(YAML.entries(head + one + ours + two)) == ["one", "cloxy", "two"]
