"""Whatever a file holds, and however a folder lies, reading ends and never fails."""

import json
import os
import random

import pytest
from notes_kit import NOTE, found, messages, parser, records, source

from cloxy_core.testing.mutations import mutate
from cloxy_plugins.notes.settings import parse_folders


def test_500_damaged_notes():
    whole = (NOTE + "```\n## no\n```\n").encode()
    lost = 0
    for seed in range(500):
        result = records(mutate(whole, seed))
        json.dumps(result)
        said = [each for each in result if each["kind"] == "message"]
        assert len({each["uid"] for each in said}) == len(said)
        lost += len(said) != 3
    assert lost > 50


def test_lines_in_any_order():
    chance = random.Random(7)
    pieces = ["---", "+++", "title: x", "date: 2025-01-01", "tags:", "- a", "tags: [a, 'b", "x: |",
              "# A", "## A", "##", "#", "```", "~~~ x", "<!--", "-->", "words", "", "===", "---",
              "  indented", "a: {b: [c", '"', "'''", "\\"]  # fmt: skip
    for _ in range(2000):
        text = "\n".join(chance.choices(pieces, k=chance.randint(1, 40)))
        assert all(each["text"].strip() for each in messages(text))


@pytest.mark.parametrize(
    "text",
    ["```x\n" * 50_000, "````x\n" * 20_000 + "```\n" * 20_000, "<!--\n" * 50_000,
     "## a\n" * 50_000, "# " + " " * 200_000 + "x", "![" * 50_000,
     "![a](data:" + " " * 100_000, "![a](data:" * 40_000,
     "---\ntags: [" + "a," * 30_000 + "\n---\nx",
     "---\ntags: ['" + "''" * 30_000 + "\n---\nx", "---\nx: " + " " * 60_000 + "#\n---\nx",
     "x" * 1_000_000, "---\n" * 50_000],
    ids=range(13),
)  # fmt: skip
def test_texts_that_would_be_looked_through_again_and_again(text):
    for each in records(text):
        assert each["kind"] in ("session", "message")


def write(path, text="Words.\n"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_what_is_looked_into(tmp_path):
    notes = tmp_path / "notes"
    wanted = {write(notes / name) for name in ("a.md", "b/c/d.MD", "e.markdown", "ü ß.md")}
    for name in (".hidden.md", ".obsidian/x.md", ".trash/x.md", "b/.git/x.md", "readme.txt",
                 "node_modules/p/readme.md", "x.mdx", "md"):  # fmt: skip
        write(notes / name)
    write(tmp_path / "elsewhere" / "x.md")
    (notes / "link.md").symlink_to(tmp_path / "elsewhere" / "x.md")
    (notes / "linked").symlink_to(tmp_path / "elsewhere")
    items, failures = found(source(tmp_path, notes))
    assert {item.uri for item in items} == {str(path) for path in wanted}
    assert all(failure.deliberate for failure in failures)
    assert len(failures) == 2


def test_folders_inside_of_each_other_are_read_once(tmp_path):
    write(tmp_path / "notes" / "deep" / "x.md")
    made = source(tmp_path, tmp_path / "notes", tmp_path / "notes" / "deep", tmp_path / "gone")
    items, failures = found(made)
    assert (len(items), failures) == (1, [])
    assert len(parser().parse(items[0], list(made.read(items[0], 0)), {}).messages) == 1


def test_no_folder_is_no_root(tmp_path):
    assert list(source(tmp_path).roots()) == []
    assert found(source(tmp_path)) == ([], [])


def test_a_note_that_is_too_large_is_told(tmp_path):
    path = write(tmp_path / "notes" / "x.md")
    os.truncate(path, (16 << 20) + 1)
    items, (failure,) = found(source(tmp_path, tmp_path / "notes"))
    assert items == []
    assert "larger than 16 MB" in failure.reason


def test_the_setting(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    one, two = tmp_path / "one", tmp_path / "two"
    text = os.pathsep.join([f" {one} ", "", f"{two}{os.sep}x{os.sep}..", str(one), "~/three"])
    assert parse_folders(text) == (one, two, tmp_path / "three")
    assert parse_folders("") == ()
    for wrong in ("notes", "./notes", str(one) + "\0"):
        with pytest.raises(ValueError, match="absolute"):
            parse_folders(wrong)
