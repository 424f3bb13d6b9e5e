"""Where logs lie."""

from pathlib import Path

import pytest
from agents.line_logs import found_names
from qwen_kit import SESSION

from cloxy_plugins.qwen_code.roots import project_folders, qwen_folders
from cloxy_plugins.qwen_code.source import trees_of

HOME = Path("/home/ann")
USUAL = HOME / ".qwen"


@pytest.mark.parametrize(
    ("environment", "folders"),
    [
        ({}, [USUAL]),
        ({"QWEN_HOME": "/srv/qwen"}, [Path("/srv/qwen"), USUAL]),
        ({"QWEN_RUNTIME_DIR": "~/run"}, [HOME / "run", USUAL]),
        (
            {"QWEN_HOME": "/srv/q", "QWEN_RUNTIME_DIR": "/srv/r"},
            [Path("/srv/r"), Path("/srv/q"), USUAL],
        ),
        ({"QWEN_HOME": "~/.qwen", "QWEN_RUNTIME_DIR": " "}, [USUAL]),
        ({"QWEN_HOME": "a\0b"}, [USUAL]),
    ],
)
def test_the_folder_may_be_elsewhere(environment, folders):
    assert list(qwen_folders(environment, HOME)) == folders
    assert list(project_folders(environment, HOME)) == [each / "projects" for each in folders]


def test_sessions_archived_ones_and_sub_agents_are_found_and_nothing_else(tmp_path):
    wanted = {
        f"app/chats/{SESSION}.jsonl",
        "app/chats/archive/old.jsonl",
        f"app/subagents/{SESSION}/agent-x1.jsonl",
    }
    others = {
        f"app/chats/{SESSION}.runtime.json", f"app/chats/{SESSION}.ledger.jsonl",
        f"app/subagents/{SESSION}/agent-x1.meta.json", "app/notes.jsonl", "top.jsonl",
        f"app/subagents/{SESSION}/agent-x1.jsonl.stream", f"app/subagents/{SESSION}/x.jsonl",
        "app/chats/other/x.jsonl", "app/memory/x.jsonl", "app/chats/.jsonl",
    }  # fmt: skip
    assert found_names(trees_of([tmp_path]), tmp_path, wanted | others) == wanted
