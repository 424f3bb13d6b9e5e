"""What source plugins share for values: JSON in any state, times, titles, folders."""

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from cloxy_hookspecs import BadLine, RawLine
from cloxy_hookspecs.logs.addresses import path_of_uri
from cloxy_hookspecs.logs.folders import (
    absolute,
    application_data,
    chosen_folder,
    is_inside,
    named_folder,
    parse_folders,
    parts_of,
    root_of,
    touches,
)
from cloxy_hookspecs.logs.instants import (
    instant,
    instant_of_iso,
    instant_of_moment,
    instant_of_uuid,
    latest_instant,
)
from cloxy_hookspecs.logs.json_lines import LineRecovery, decode_line, records_of
from cloxy_hookspecs.logs.json_values import (
    decode,
    encode,
    has_nearly,
    id_of,
    list_of,
    record_of,
    text_of,
    usable_id,
    whole_of,
    words_of,
)
from cloxy_hookspecs.logs.notes import Notes
from cloxy_hookspecs.logs.titles import title_of_name, title_of_words
from cloxy_hookspecs.logs.whole_lines import records_in

HOME = Path("/home/ann")
NOON = 1_788_177_600_000
LATEST = NOON + 86_400_000


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (b'{"a": 1}', {"a": 1}),
        (b'\xef\xbb\xbf{"a": 1}', {"a": 1}),
        (b'{"a": "\\ud83d"}', {"a": "\ufffd"}),
        (b'{"a": "\\ud83d\\ude00"}', {"a": "\U0001f600"}),
        (b'{"a": "\\\\ud83d"}', {"a": "\\ud83d"}),
        (b'{"a": "\xff"}', {"a": "\ufffd"}),
        (b'{"a": "x\ny"}', {"a": "x\ny"}),
        (b'{"a": Infinity}', {"a": float("inf")}),
        ('{"a": "ü"}', {"a": "ü"}),
        (b"[1, 2]", [1, 2]),
    ],
)
def test_texts_that_are_nearly_json_are_decoded(data, value):
    assert decode(data) == value


@pytest.mark.parametrize("data", [b"", b"{", b"{'a': 1}", b"[" * 100_000, b"\0"])
def test_what_is_no_json_is_a_value_error(data):
    with pytest.raises(ValueError, match=r"."):
        decode(data)


def test_an_integer_of_any_length_takes_no_time():
    assert decode(b'{"a": ' + b"9" * 100_000 + b"}") == {"a": float("inf")}


@pytest.mark.parametrize("record", [{"a": "x\ud83d"}, {"a": 2**80}, {"\udc00": "é\n"}])
def test_every_record_becomes_one_line_that_can_be_decoded(record):
    line = encode(record)
    assert b"\n" not in line
    assert len(record_of(decode(line))) == 1


def test_values_of_another_kind_are_empty_ones():
    assert record_of([1]) == {}
    assert list_of({"a": 1}) == []
    odd = {"n": 5, "blank": " \n", "long": "x" * 5000, "bell": "a\a", "none": None}
    assert [words_of(odd, key) for key in ("n", "blank", "none", "gone")] == [""] * 4
    assert words_of(odd, "long") == "x" * 5000
    assert [text_of(odd, key) for key in odd] == [None, None, None, "a\a", None]
    assert [id_of(odd, key) for key in odd] == [None] * 5
    assert usable_id("x" * 200) == "x" * 200
    assert usable_id("x" * 201) is None


RECOVERY = LineRecovery(("id", "$set"), lambda value: "part" not in value)


@pytest.mark.parametrize(
    ("data", "records", "damage"),
    [
        (b'{"id": 1}{"id": 2}', [{"id": 1}, {"id": 2}], None),
        (b'\0\0{"id": 1}', [{"id": 1}], "zero bytes"),
        (b'{"id": 1, "text": "half{"id": 2}', [{"id": 2}], "not JSON"),
        (b'{"id": 1, "text": "half{"$set": 3}', [{"$set": 3}], "not JSON"),
        (b'{"id": 1, "in": {"part": 2}', [], "not JSON"),
        (b'{"id": 1, "in": {"id": 5, "part": 2} {"id": 6}', [{"id": 6}], "not JSON"),
        (b"17", [], "not a JSON object"),
        (b"[" * 100_000, [], "nested too deeply"),
        (b"", [], None),
    ],
)
def test_what_a_damaged_line_holds_is_found(data, records, damage):
    assert decode_line(data) is None
    found = RECOVERY.recover(data)
    assert (found.records, found.damage) == (records, damage)


@pytest.mark.parametrize(
    "value",
    [
        "2026-08-31T12:00:00Z",
        "2026-08-31T14:00:00+02:00",
        "2026-08-31 12:00:00",
        NOON,
        NOON / 1000,
        str(NOON // 1000),
    ],
)
def test_times_in_every_form_are_the_same_point(value):
    assert instant(value, LATEST) == NOON


@pytest.mark.parametrize(
    "value",
    [None, True, "", "soon", 0, -5, float("nan"), float("inf"), 10**30, LATEST + 1, "1999-01-01"],
)
def test_what_is_no_plausible_time_is_none(value):
    assert instant(value, LATEST) is None


def test_times_of_iso_texts_whatever_is_plausible():
    assert instant_of_iso("2026-08-31T12:00:00+02:00") == NOON - 2 * 3_600_000
    assert instant_of_iso("2026-08-31T10:00:00.0019") == instant_of_iso("2026-08-31T10:00:00.001Z")
    assert instant_of_iso("1969-12-31T23:59:59Z") == -1_000
    assert instant_of_iso("9999-12-31T23:59:59Z") > LATEST
    for text in ("", "1788177600", "noon"):
        assert instant_of_iso(text) is None
    assert instant_of_moment(datetime(1970, 1, 1, 0, 0, 1, 500_999, tzinfo=UTC)) == 1_500


def test_the_last_plausible_time_is_a_day_after_now_or_the_last_change():
    day = 86_400_000
    assert latest_instant(NOON, 0) == NOON + day
    assert latest_instant(NOON, (NOON - 1) * 1_000_000) == NOON + day
    assert latest_instant(NOON, (NOON + 5) * 1_000_000 + 999_999) == NOON + 5 + day


def test_a_uuid_of_version_7_has_its_time():
    milliseconds = int(datetime(2026, 8, 31, 12, tzinfo=UTC).timestamp() * 1000)
    text = f"{milliseconds:012x}"
    uuid = f"{text[:8]}-{text[8:]}-7abc-8abc-0123456789ab"
    assert instant_of_uuid(uuid) == milliseconds
    assert instant_of_uuid(uuid.replace("-7", "-4")) is None
    assert instant_of_uuid(7) is None


def test_titles_are_one_line_within_reason():
    assert title_of_words("why\n does  it flake?") == "why does it flake?"
    assert title_of_words("word " * 50) == "word " * 15 + "word…"
    assert title_of_words("語" * 100) == "語" * 80 + "…"
    assert title_of_words("a " + "語" * 100) == "a " + "語" * 78 + "…"
    assert len(title_of_name("x" * 10_000)) == 200


def test_folders_that_variables_name():
    environment = {"A": "~/logs", "B": "/srv/logs", "C": "logs", "D": "/x\0y", "E": " ", "F": "~"}
    found = [named_folder(environment, name, HOME) for name in "ABCDEFG"]
    assert found == [HOME / "logs", Path("/srv/logs"), None, None, None, HOME, None]


def test_folders_that_agents_take_as_they_are_named():
    names = ["~/logs", "/srv/logs", "logs", "~somebody/logs", " ~ ", "", "a\0b", "~\\logs"]
    environment = dict(zip("ABCDEFGH", names, strict=True))
    found = [chosen_folder(environment, name, HOME) for name in "ABCDEFGHI"]
    assert found == [
        HOME / "logs",
        Path("/srv/logs"),
        Path("logs"),
        Path("~somebody/logs"),
        HOME,
        None,
        None,
        HOME / "logs",
        None,
    ]


def test_the_data_of_applications_on_each_system():
    assert application_data({}, HOME, "linux") == HOME / ".config"
    assert application_data({"XDG_CONFIG_HOME": "/c"}, HOME, "linux") == Path("/c")
    support = HOME / "Library" / "Application Support"
    assert application_data({"XDG_CONFIG_HOME": "/c"}, HOME, "darwin") == support
    assert application_data({}, HOME, "win32") == HOME / "AppData" / "Roaming"
    assert application_data({"APPDATA": "/r"}, HOME, "win32") == Path("/r")


@pytest.mark.parametrize(
    ("address", "path"),
    [
        ("file:///srv/demo/har%20bour/", "/srv/demo/har bour"),
        ("file://localhost/srv/demo", "/srv/demo"),
        ("file:///c%3A/Work/demo", "C:\\Work\\demo"),
        ("file:///C:/", "C:\\"),
        ("file://server/share/x", "\\\\server\\share\\x"),
        ("vscode-remote://wsl%2Bubuntu/home/pat/", "/home/pat"),
        ("file:///", "/"),
        ("file:///a%00b", None),
        ("file:relative", None),
        ("https://host/x", None),
        ("http://[", None),
        ("file:///" + "x" * 5000, None),
        ("", None),
    ],
)
def test_addresses_of_folders(address, path):
    assert path_of_uri(address) == path


def test_folders_in_a_setting(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    text = os.pathsep.join(["/a/../b", "~/c", " ", "/b"])
    assert parse_folders(text) == (Path("/b"), tmp_path / "c")
    for wrong in ("a", "/a\0b", "~somebody/x"):
        with pytest.raises(ValueError, match="absolute paths"):
            parse_folders(wrong)


def test_whole_numbers_are_no_truth_values():
    values = {"a": 7, "b": -1, "c": True, "d": 7.0, "e": "7", "f": None}
    assert [whole_of(values, key) for key in "abcdefg"] == [7, -1, None, None, None, None, None]


def test_records_of_lines_come_with_their_lines_and_damage_after_them():
    datas = [b'{"id": 1}', b"", b" \r", b'{"id": 2}{"id": 3}\0', b"[1]", b'{"id": 4}']
    lines = [RawLine(number, number + 1, data) for number, data in enumerate(datas)]
    lines.insert(2, RawLine(9, 99, b"", dropped=90))
    told = []
    for record, line in records_of(lines, RECOVERY.recover, lambda *bad: told.append(bad)):
        told.append((line, record["id"]))
    assert [(line.start, what) for line, what in told] == [
        (0, 1),
        (9, "a line of 90 bytes is too long"),
        (3, 2),
        (3, 3),
        (3, "zero bytes"),
        (4, "not a JSON object"),
        (5, 4),
    ]


def test_notes_are_bounded():
    notes = Notes()
    notes.bad(RawLine(3, 9, b"x"), "not JSON")
    notes.understood()
    for number in range(200):
        notes.unknown(f"kind {number}")
    notes.unknown("kind 7", 5)
    notes.unknown("kind 150")
    notes.understood()
    assert (notes.records, notes.bad_lines) == (2, [BadLine(3, 9, "not JSON")])
    assert len(notes.unknown_kinds) == 100
    assert notes.unknown_kinds["kind 7"] == 6
    assert "kind 150" not in notes.unknown_kinds


def test_a_kind_that_goes_on_for_ever_is_cut():
    notes = Notes()
    notes.unknown("x" * 61)
    notes.unknown("x" * 90)
    assert notes.unknown_kinds == {"x" * 60: 2}


def test_lines_of_a_whole_file():
    problems = []
    data = b'\xef\xbb\xbf{"id": 1}\n\n{"id": 2}{"id": 3}\n{"id": \n{"id": 4}\n{"id'
    assert list(records_in(data, RECOVERY, problems)) == [
        {"id": 1},
        {"id": 2},
        {"id": 3},
        {"id": 4},
    ]
    assert [(each["reason"], each["quiet"]) for each in problems] == [
        ("line 4: not JSON", False),
        ("line 6: not JSON", True),
    ]


def test_paths_inside_others():
    own = parts_of("/srv/cloxy")
    assert is_inside("/srv/cloxy/x", own)
    assert is_inside("/srv/cloxy/", own)
    assert not is_inside("/srv/cloxy2", own)
    assert not is_inside(None, own)
    assert is_inside("C:\\data\\x", parts_of("C:/data"))
    assert root_of([Path("/a"), Path("/b")], Path("/b/c")) == Path("/b")
    assert root_of([Path("/a")], Path("/ab")) is None
    assert touches(Path("/a"), Path("/a/b"))
    assert touches(Path("/a/b"), Path("/a"))
    assert not touches(Path("/a/b"), Path("/a/c"))
    assert absolute([Path("/a/../b"), Path("/b")]) == (Path("/b"),)


@pytest.mark.parametrize("key", ["contemt", "conten", "conte", "ontent", "content\0", "concontent"])
def test_a_key_that_damage_left_is_nearly_the_one_it_was(key):
    assert has_nearly({"type": "x", key: 1}, "content")


@pytest.mark.parametrize("key", ["content_type", "created_at", "type", "c", ""])
def test_a_key_of_its_own_is_not_nearly_another(key):
    assert not has_nearly({key: 1}, "content")
    assert not has_nearly({"content": None, "contemt": 1}, "content")
