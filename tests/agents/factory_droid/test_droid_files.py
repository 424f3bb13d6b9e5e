"""Where logs lie."""

from pathlib import Path

import pytest
from agents.line_logs import found_names
from droid_kit import SESSION

from cloxy_plugins.factory_droid.places import session_folders
from cloxy_plugins.factory_droid.source import trees_of

HOME = Path("/home/ann")
USUAL = HOME / ".factory" / "sessions"


@pytest.mark.parametrize(
    ("environment", "folders"),
    [
        ({}, [USUAL]),
        ({"FACTORY_DIR": "/srv/f"}, [Path("/srv/f/sessions"), USUAL]),
        ({"FACTORY_DIR": "~/.factory"}, [USUAL]),
        ({"FACTORY_DIR": "relative"}, [USUAL]),
        ({"FACTORY_DIR": "a\0b"}, [USUAL]),
    ],
)
def test_the_folder_may_be_elsewhere(environment, folders):
    assert list(session_folders(environment, HOME)) == folders


def test_sessions_are_found_and_nothing_else(tmp_path):
    wanted = {f"-srv-app/{SESSION}.jsonl", "early.jsonl", "btw/side.jsonl"}
    others = {
        f"-srv-app/{SESSION}.settings.json", f"-srv-app/{SESSION}.jsonl.bak", "sessions-index.json",
        "-srv-app/.jsonl", f"-srv-app/{SESSION}.old.jsonl", "-srv-app/deeper/x.jsonl",
        "history.json",
    }  # fmt: skip
    assert found_names(trees_of([tmp_path]), tmp_path, wanted | others) == wanted
