"""The sections of a note, their ids, and their times."""

from datetime import UTC, datetime

import pytest
from notes_kit import BODY, CHANGED, FRONT, NOTE, ids, messages, records, texts, times, title


def utc(*parts):
    return int(datetime(*parts, tzinfo=UTC).timestamp() * 1000)


def local(*parts):
    return int(datetime(*parts).timestamp() * 1000)


def test_sections_are_messages_as_they_stand():
    assert texts(BODY) == [
        "# Harbour\n\nIntro words.",
        "## Crane\n\nLifts *ten* tons.",
        "## Quay\n\nIs long.",
    ]
    assert {(each["role"], each["author"]) for each in messages(BODY)} == {("note", "human")}
    assert {each["session"] for each in records(BODY)} == {"note:/srv/notes/plan.md"}
    assert records(BODY)[0]["cwd"] == "/srv/notes"


def test_what_stands_before_the_first_heading_is_one_too():
    assert texts("Words.\n\n## A\n\nb\n") == ["Words.", "## A\n\nb"]
    assert texts("Only words.") == ["Only words."]


@pytest.mark.parametrize("empty", ["", "\n\n", "## A\n", "# A\n\n## B\n\n\n", FRONT, "\ufeff\n"])
def test_notes_without_a_word(empty):
    assert records(empty) == []


def test_deeper_headings_are_part_of_their_section():
    assert texts("## A\n### B\nc\n#### D\n#tag\n##nothing\n") == [
        "## A\n### B\nc\n#### D\n#tag\n##nothing"
    ]


def test_headings_in_code_and_comments_are_none():
    code = "## A\n```sh\n## no\n~~~\n```\n~~~~ x\n# no\n~~~\n~~~~\n<!-- x\n## no\n-->\nend"
    assert texts(code + "\n## B\nb") == [code, "## B\nb"]
    assert len(texts("## A\n    ## indented\n")) == 1
    longer = "## A\n````\n```\n## no\n````\n"
    assert texts(longer) == [longer.rstrip()]


def test_code_that_is_never_closed_hides_nothing():
    assert texts("## A\n```sh\nx\n## B\ny\n<!-- z\n## C\nw") == [
        "## A\n```sh\nx", "## B\ny\n<!-- z", "## C\nw"]  # fmt: skip


def test_underlined_headings():
    intro = "Harbour\n=======\n\nIntro"
    crane = "Crane\n-----\nTen\n\na | b\n--- | ---\n\n* x\n---\n\none\ntwo\n---"
    text = f"{intro}\n\n{crane}\n"
    assert texts(text) == [intro, crane]
    assert title(text) == "Harbour"


def test_marks_that_close_a_heading_are_no_part_of_it():
    assert ids("## A ##\nx").popitem()[1] == ids("##  a\nx").popitem()[1]
    assert ids("## C#\nx").popitem()[1] != ids("## C\nx").popitem()[1]


def test_ids_stay_when_other_sections_change():
    before = ids(NOTE)
    changed = FRONT + BODY.replace("Lifts *ten* tons.", "Lifts twenty.").replace(
        "## Quay", "## New\n\nNew words.\n\n## Quay"
    )
    after = ids(changed)
    assert {key: after[key] for key in before} == before
    assert len(after) == len(before) + 1
    moved = FRONT + "# Harbour\n\nIntro words.\n\n## Quay\n\nIs long.\n\n## Crane\n\nLifts.\n"
    assert ids(moved) == before


def test_equal_headings_are_told_apart_by_what_is_above_and_their_order():
    text = "# A\n## X\n1\n## X\n2\n# B\n## X\n3\n"
    uids = [each["uid"] for each in messages(text)]
    assert len(uids) == len(set(uids)) == 3
    assert uids == [each["uid"] for each in messages(text.replace("3", "3!"))]
    under_b = messages(text.replace("## X\n2\n", ""))[-1]["uid"]
    assert under_b == uids[2]
    emptied = [each["uid"] for each in messages(text.replace("1\n", ""))]
    assert emptied == uids[1:]


def test_ids_of_two_notes_differ():
    assert messages(BODY)[0]["uid"] != messages(BODY, "other.md")[0]["uid"]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [(NOTE, "The harbour: a plan"), (BODY, "Harbour"), ("## A\n# B\nc", "plan"), ("x", "plan"),
     ("---\ntitle: []\n---\n# T\nx", "T"),
     ("---\ntitle: plain # no\n---\nx", "plain"), ("---\ntitle: 'it''s' # no\n---\nx", "it's"),
     ("---\ntitle: a\\b \"c\"\n---\nx", 'a\\b "c"'),
     ("---\ntitle: >\n  one\n  two\n---\nx", "one two"),
     ('---\nTitle: "a\\n\\"b\\""\n---\nx', 'a "b"'), ("+++\ntitle = 'toml'\n+++\nx", "toml"),
     ("+++\ntitle = = 1\n+++\nx", "plan")],
)  # fmt: skip
def test_titles(text, wanted):
    assert title(text) == wanted


def test_tags_stand_before_the_first_words():
    assert texts(NOTE)[0] == "#crane #deep-water\n\n# Harbour\n\nIntro words."
    for tags in ("tags: crane, deep water", "tags:\n  - crane\n  - '#deep water'\n\n  - crane",
                 "tags:\n- crane\n- deep water", "tags: [crane,\n  deep water]"):  # fmt: skip
        assert texts(f"---\n{tags}\nx: y\n---\nz") == ["#crane #deep-water\n\nz"]
    assert texts("---\ntags: {a: b}\n---\nz") == ["#a-b\n\nz"]


@pytest.mark.parametrize(
    "text",
    [
        "---\nno end\n\n## A\nb",
        "---\n" + "x: y\n" * 500 + "---\n",
        "---\nx: " + "y" * 70_000 + "\n---\nz",
    ],
)
def test_front_matter_without_an_end_is_text(text):
    assert texts(text)[0].startswith("---")


@pytest.mark.parametrize(
    ("date", "wanted"),
    [("date: 2025-03-04T10:30:00Z", utc(2025, 3, 4, 10, 30)),
     ("date: 2025-03-04 10:30:00 +0200", utc(2025, 3, 4, 8, 30)),
     ("created: '2025-03-04T10:30'", local(2025, 3, 4, 10, 30)),
     ("date: 2025-03-04", local(2025, 3, 4, 12)), ("date: 2025/03/04 # x", local(2025, 3, 4, 12)),
     ("date: nonsense\nupdated: 2025-03-04", local(2025, 3, 4, 12)),
     ("date: 2025-03-04 at noon", local(2025, 3, 4, 12))],
)  # fmt: skip
def test_the_date_of_the_front_matter(date, wanted):
    assert times(f"---\n{date}\n---\nx", "2020-01-01.md") == [(wanted, False)]


def test_dates_of_toml():
    assert times("+++\ndate = 2025-03-04\n+++\nx") == [(local(2025, 3, 4, 12), False)]
    assert times("+++\ndate = 2025-03-04T10:30:00Z\n+++\nx") == [(utc(2025, 3, 4, 10, 30), False)]


@pytest.mark.parametrize(
    "name", ["2025-03-04.md", "20250304 Harbour.md", "log_2025_03_04.markdown"]
)
def test_the_date_in_the_name(name):
    assert times("x", name) == [(local(2025, 3, 4, 12), False)]


@pytest.mark.parametrize("name", ["plan.md", "2025-13-45.md", "120250304.md", "v2.md"])
def test_without_a_date_it_is_that_of_the_file_and_approximate(name):
    assert times("---\ndate: 2025-99-99\n---\nx", name) == [(CHANGED, True)]


def test_a_diary_has_a_date_for_each_day():
    found = times("# 2025\n\n## 2025-03-04\na\n## Tuesday 2025-03-05\nb\n## Else\nc\n")
    assert found == [
        (local(2025, 3, 4, 12), False),
        (local(2025, 3, 5, 12), False),
        (CHANGED, True),
    ]


def test_pictures_in_the_text_are_marks():
    assert texts("a ![the crane](data:image/png;base64,iVBORw0KGgo=) ![](data:x) ![b](c.png)") == [
        "a [image: the crane] [image: unnamed] ![b](c.png)"
    ]


def test_other_line_ends_and_codes_say_the_same():
    for data in (NOTE.replace("\n", "\r\n").encode(), b"\xef\xbb\xbf" + NOTE.encode(),
                 NOTE.encode("utf-16")):  # fmt: skip
        assert texts(data) == texts(NOTE)
        assert [each["uid"] for each in messages(data)] == list(ids(NOTE).values())


def test_damaged_bytes_are_told():
    first, second, *rest = records(b"a \xff b\x00 c")
    assert (first["kind"], second["kind"]) == ("damaged", "damaged")
    assert rest[1]["text"] == "a \ufffd b c"
