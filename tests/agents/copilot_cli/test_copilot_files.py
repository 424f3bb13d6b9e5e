"""Where logs lie, and the cards beside them."""

from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from copilot_kit import NOW, SESSION, Log

from cloxy_core.services.logs.reader import Logs
from cloxy_hookspecs import LogReader
from cloxy_plugins.copilot_cli.cards import title_in
from cloxy_plugins.copilot_cli.parser import create_parser
from cloxy_plugins.copilot_cli.roots import copilot_home, session_of_file, sessions_folder
from cloxy_plugins.copilot_cli.source import create_source, trees_of
from cloxy_plugins.copilot_cli.yaml_scalars import top_level_texts

HOME = Path("/home/ann")


@pytest.fixture
def context(tmp_path):
    services = {LogReader: Logs(tmp_path / "copies")}
    return SimpleNamespace(
        service=services.__getitem__,
        paths=SimpleNamespace(data=tmp_path / "cloxy"),
        clock=SimpleNamespace(now_ms=lambda: NOW),
    )


def write(path, data=b"{}\n"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


@pytest.mark.parametrize(
    ("named", "folder"),
    [
        (None, HOME / ".copilot"),
        ("  ", HOME / ".copilot"),
        ("/srv/copilot", Path("/srv/copilot")),
        ("~/work", HOME / "work"),
        ("~bob/x", Path.cwd() / "~bob/x"),
        ("a\0b", HOME / ".copilot"),
    ],
)
def test_the_folder_may_be_elsewhere(named, folder):
    environment = {} if named is None else {"COPILOT_HOME": named}
    assert copilot_home(environment, HOME) == folder
    assert sessions_folder(environment, HOME) == folder / "session-state"


@pytest.mark.parametrize("above", ["session-state", ".copilot/session-state"])
def test_a_folder_above_the_sessions_can_be_read_once(tmp_path, context, above):
    folder = tmp_path / "of-pat"
    log = write(folder / above / SESSION / "events.jsonl")
    for other in ("logs/x.jsonl", f"logs/{SESSION}/events.jsonl", f"{above}/.x/events.jsonl"):
        write(folder / other)
    found = create_source(context).of(folder).discover([])
    assert [Path(item.uri) for item in found] == [log]


def test_logs_of_both_times_are_found_and_nothing_else(tmp_path, context, monkeypatch):
    monkeypatch.setenv("COPILOT_HOME", str(tmp_path))
    folder = tmp_path / "session-state"
    for name in (
        f"{SESSION}/events.jsonl", "old.jsonl", f"{SESSION}/workspace.yaml", "notes.txt",
        f"{SESSION}/checkpoints/events.jsonl", f"{SESSION}/other.jsonl", ".x/events.jsonl",
        f"{SESSION}/session.db", ".hidden.jsonl",
    ):  # fmt: skip
        write(folder / name)
    write(tmp_path / "events.jsonl")
    source = create_source(context)
    found = sorted(item.uri for item in source.discover([]))
    assert found == [str(folder / f"{SESSION}/events.jsonl"), str(folder / "old.jsonl")]
    assert [session_of_file(uri) for uri in found] == [SESSION, "old"]
    assert [tree.root for tree in trees_of(folder)] == list(source.roots())


CARDS = {
    "plain": "id: 1\nname: Clock race  # no\nsummary: other\n",
    "quoted": 'name: "a: b \\"c\\" \\u00fc"\n',
    "single": "name: 'it''s: a race'\nx: 1\n",
    "block": "a: 1\nsummary: |-\n  # First: line\n\n  key: value\n   deeper\nb: 2\n",
    "clip": "summary: |\n  one\n  two\n",
    "folded": "summary: >-\n  one\n  two\nname:\n",
    "going on": "summary: why does it\n  flake: so\nb: 1\n",
    "nested": "other:\n  name: no\n  summary: no\n",
    "number": "name: 12\n",
}


@pytest.mark.parametrize("name", CARDS)
def test_cards_say_what_a_yaml_library_reads(name):
    text = CARDS[name]
    try:
        whole = yaml.safe_load(text)
    except yaml.YAMLError:
        # A colon in a value that goes on is no YAML; what is there is taken all the same.
        whole = {"summary": "why does it flake: so"}
    expected = {k: str(whole[k]).strip() for k in ("name", "summary") if whole.get(k)}
    found = top_level_texts(text, ("name", "summary"))
    assert {k: v.strip() for k, v in found.items()} == expected


@pytest.mark.parametrize("text", ["", "name: [a]", "name: ~", "name: null", "name: {", "name: &x"])
def test_cards_without_a_text_have_no_title(text):
    assert title_in(text.encode()) is None


def test_a_name_is_better_than_a_summary():
    assert title_in(b"summary: a\nname: b\n") == ("b", 4)
    assert title_in(b"summary: |-\n  a\n  b\n") == ("a b", 2)
    assert title_in(b"\xff\xfename: b\n") is None


def test_damaged_cards_never_raise():
    from cloxy_core.testing.mutations import mutate

    whole = "\n".join(CARDS.values()).encode()
    for seed in range(500):
        title_in(mutate(whole, seed))


def test_a_card_is_read_again_when_it_changed(tmp_path, context):
    path = write(tmp_path / SESSION / "events.jsonl", Log().start().both("hi", "ho").data())
    source = context.service(LogReader).lines(trees_of(tmp_path))
    (item,) = source.discover([])
    parser = create_parser(context)

    def title():
        return parser.parse(item, source.read(item, 0), {}).sessions[SESSION].title

    assert title() == "hi"
    card = write(path.with_name("workspace.yaml"), b"summary: hi there\n")
    assert title() == "hi there"
    card.write_bytes(b"summary: hi there\nname: Greeting\n")
    assert title() == "Greeting"
    card.unlink()
    card.symlink_to(write(tmp_path / "elsewhere.yaml", b"name: Stolen\n"))
    assert title() == "hi"
