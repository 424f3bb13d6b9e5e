"""Commands that go on with a session: nothing stored gets into them but a plain id and a folder."""

import shlex

import pytest

from cloxy_hookspecs import SourceStatus
from cloxy_plugins.sessions.resuming import resume, resume_commands

COMMAND = ("gull", "--go-on", "{session}")


def test_folder_and_command_are_quoted_for_a_shell():
    made = resume(COMMAND, "0b1c-2", "/srv/my shop's; rm -rf ~")
    assert made.arguments == ["gull", "--go-on", "0b1c-2"]
    words = shlex.split(made.line)
    assert words == ["cd", "/srv/my shop's; rm -rf ~", "&&", *made.arguments]


@pytest.mark.parametrize(
    "key",
    ["", "-x", "--help", "a b", "a;b", "a$(b)", "a`b`", "a\nb", "a|b", "../x", "parent/agent-1",
     "'", '"><img src=x onerror=alert(1)>', "a\u202eb", "ä", "a" * 129, "{session}", "a\n"],
)  # fmt: skip
def test_an_id_that_is_not_plain_gets_into_no_command(key):
    assert resume(COMMAND, key, "/srv") is None


@pytest.mark.parametrize(
    "folder", [None, "", "relative/x", "~/x", "-x", "/srv/\x1b[2J", "/srv/a\nb", "/srv/\u202eb"]
)
def test_a_folder_that_is_not_plain_is_left_out(folder):
    made = resume(COMMAND, "abc", folder)
    assert (made.folder, made.line) == (None, "gull --go-on abc")


def test_an_agent_without_a_command_has_none():
    assert resume((), "abc", "/srv") is None


def test_the_first_source_of_an_agent_that_has_a_command_tells_it():
    sources = [
        SourceStatus("a-old", "a", "A", "a", True),
        SourceStatus("a-new", "a", "A", "a", True, resume=("a", "{session}")),
        SourceStatus("a-also", "a", "A", "a", True, resume=("other", "{session}")),
        SourceStatus("b", "b", "B", "b", True),
    ]
    assert resume_commands(sources) == {"a": ("a", "{session}")}
