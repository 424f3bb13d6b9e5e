"""Lines that the frame makes of what a reader of another memory system gives."""

import json
from dataclasses import dataclass, field

import pytest

from cloxy_core.services.exchange.foreign_limits import ForeignTrouble
from cloxy_core.services.exchange.foreign_memories import ForeignMessage, ForeignNote
from cloxy_core.services.exchange.foreign_moving import MemoryReader

NOON = 1_772_366_400_000


@dataclass
class Folder:
    """A system that gives these things, and then may be at its end too early."""

    given: list
    trouble: Exception | None = None
    name: str = "theirs"
    asked: list = field(default_factory=list)

    def knows(self, folder):
        self.asked.append(folder)
        return True

    def items(self, folder, told):
        yield from self.given
        if self.trouble is not None:
            raise self.trouble


def read(folder, *given, trouble=None):
    """Lines as objects, and the report; trouble is raised after the lines are kept."""
    reader = MemoryReader(
        {"sort": "folder", "path": str(folder)}, (), (Folder(list(given), trouble),)
    )
    lines = []
    try:
        for line in reader.lines(None):
            lines.append(json.loads(line))
    except ForeignTrouble as error:
        assert error is trouble
    return lines, reader.report


def message(uid="u1", **more):
    values = {"agent": "claude-code", "session": "s1", "role": "user", "text": "Where?", "at": NOON}
    return ForeignMessage(uid=uid, **values | more)


def test_messages_stand_behind_their_session_which_is_said_once(tmp_path):
    lines, report = read(
        tmp_path,
        message(cwd="/srv/boat", title=" Tides ", approximate=True),
        message("u2", role="assistant", at=None),
        message("u3", role="summary", session="s2"),
        ForeignNote("n1", "The mast is made of larch."),
    )
    kinds = [line["kind"] for line in lines]
    assert kinds == [
        "header", "session", "message", "message", "session", "message", "note", "end",
    ]  # fmt: skip
    assert {name: lines[1][name] for name in ("agent", "key", "cwd", "project", "title")} == {
        "agent": "claude-code",
        "key": "s1",
        "cwd": "/srv/boat",
        "project": "/srv/boat",
        "title": "Tides",
    }
    said = [(line["uid"], line["author"], line["time"]) for line in lines if "author" in line]
    assert said == [
        ("u1", "human", "2026-03-01T12:00:00.000Z"),
        ("u2", "assistant", None),
        ("u3", "summary", "2026-03-01T12:00:00.000Z"),
    ]
    assert lines[2]["approximate"] is True
    assert lines[-1] == {"kind": "end", "sessions": 2, "messages": 3, "notes": 1}
    assert (report.agent, report.conversations, report.kinds) == ("theirs", 2, {"memory": 1})


def test_what_cannot_be_taken_is_told_alone(tmp_path):
    lines, report = read(
        tmp_path,
        message(role="tool"),
        message("blank", text=" \n"),
        ForeignNote("half", "a \ud800 b", at=32_503_680_000_000, tier="core", knowledge="semantic"),
        ForeignNote("none", ""),
    )
    (note,) = lines[1:-1]
    assert (note["text"], note["time"]) == ("a \ufffd b", None)
    assert (note["tier"], note["memory_kind"]) == ("core", "semantic")
    assert [words for _number, words in report.told] == [
        "message u1: nobody is said to have said it",
        "message blank: it has no text",
        "memory none: it has no text",
    ]
    assert report.bad == 3


def test_only_so_many_bad_ones_and_sorts_are_told(tmp_path):
    notes = [ForeignNote(f"n{n}", "x", sort=f"sort {n}") for n in range(200)]
    bad = [ForeignNote(f"b{n}", "") for n in range(100)]
    _lines, report = read(tmp_path, *notes, *bad)
    assert (report.bad, len(report.told)) == (100, 20)
    assert len(report.kinds) <= 51
    assert sum(report.kinds.values()) == 200
    assert report.kinds["other"] == 150
    assert len(report.encoded()) < 64 * 1024


def test_what_was_given_before_trouble_is_kept_and_the_end_is_missing(tmp_path):
    trouble = ForeignTrouble("the rest is lost", "look for it")
    lines, _report = read(tmp_path, ForeignNote("n1", "One."), trouble=trouble)
    assert [line["kind"] for line in lines] == ["header", "note"]


@pytest.mark.parametrize("value", [b"bytes", float("nan"), {"deep": object()}, 1 << 70])
def test_metadata_that_is_no_json_is_left_out_alone(tmp_path, value):
    lines, report = read(tmp_path, ForeignNote("n1", "x", metadata={"bad": value, "good": [1, {}]}))
    assert lines[1]["metadata"] == {"good": [1, {}]}
    assert sum(report.homeless.values()) == 1


def test_all_metadata_of_a_note_has_a_limit(tmp_path):
    metadata = {f"field {n}": "y" * 60_000 for n in range(10)}
    lines, report = read(tmp_path, ForeignNote("n1", "x", metadata=metadata))
    assert len(lines[1]["metadata"]) == 4
    assert sum(report.homeless.values()) == 6
