"""Where a session comes from, which model spoke, and times that are only near, go along."""

import json

from exchange.exchange_kit import HEADER, Place


def write(path, *records):
    counts = {kind: sum(r["kind"] == kind for r in records) for kind in ("session", "message")}
    end = {
        "kind": "end",
        "sessions": counts["session"],
        "messages": counts["message"],
        "notes": 0,
    }
    lines = [{**HEADER, "cloxy": "6", "created": "2026-05-02T09:00:00.000Z"}, *records, end]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def session(**more):
    return {"kind": "session", "agent": "toy", "key": "b", "parent": "a", **more}


def message(uid, role, **more):
    return {
        "kind": "message",
        "agent": "toy",
        "session": "b",
        "uid": uid,
        "role": role,
        "author": "human" if role == "user" else "assistant",
        "text": f"words of {uid}",
        **more,
    }


def test_they_come_out_as_they_went_in(tmp_path):
    said = (message("1", "user"), message("2", "assistant", model="toy-1", approximate=True))
    file = write(tmp_path / "in.jsonl", session(relation="fork"), *said)
    place = Place(tmp_path / "there")
    place.folder.mkdir()

    place.take(file)

    assert place.rows("SELECT relation FROM sessions") == [("fork",)]
    out = {line.get("uid") or line["kind"]: line for line in place.export()}
    assert (out["session"]["relation"], out["session"]["parent"]) == ("fork", "a")
    assert (out["1"]["model"], out["2"]["model"]) == (None, "toy-1")
    assert out["2"]["approximate"] is True


def test_files_of_before_have_none_of_them(tmp_path):
    file = write(tmp_path / "in.jsonl", session(), message("1", "assistant"))
    place = Place(tmp_path / "there")
    place.folder.mkdir()

    place.take(file)

    assert place.rows("SELECT relation FROM sessions") == [(None,)]
    out = {line.get("uid") or line["kind"]: line for line in place.export()}
    assert (out["1"]["model"], out["1"]["approximate"]) == (None, False)


def test_relation_that_is_none_is_refused(tmp_path):
    file = write(tmp_path / "in.jsonl", session(relation="cousin"), message("1", "user"))
    place = Place(tmp_path / "there")
    place.folder.mkdir()

    _summary, told = place.take(file, code=1)

    assert "relation: is none of subagent, fork, resume" in told
