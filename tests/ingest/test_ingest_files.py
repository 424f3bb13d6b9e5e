"""What happens to session files: nothing is lost, nothing comes twice."""

import os
import shutil

import pytest
from ingest_support import age, append
from session_lines import line, lines, pairs, said, turns

LONG = "a long remark about the harbour master and the tide tables of the estuary. " * 40


def test_an_appended_line_is_stored_once(server):
    records = turns(11)
    path = server.write(lines(*records[:4]))
    server.ingest()
    append(path, lines(*records[4:10]))
    assert server.ingest().messages_added == 6
    server.restart()
    append(path, lines(records[10]))
    assert server.ingest().messages_added == 1
    assert server.messages() == pairs(*records)
    assert server.ingest().files_skipped == 1
    assert server.cursor(path) == (path.stat().st_size, "watched")
    server.check()


def test_only_new_lines_are_read(server):
    path = server.write(lines(*turns(500)))
    server.ingest()
    (reader,) = server.engine.ingest.readers
    source, read = reader.source, []
    original = type(source).read

    def counted(self, item, offset):
        for found in original(self, item, offset):
            read.append(found)
            yield found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(source), "read", counted)
        append(path, lines(*turns(2, first=500)))
        server.ingest()
        server.ingest()
    assert len(read) == 2


def test_a_torn_last_line_waits_and_is_stored_once_when_it_is_whole(server):
    first, second = turns(2)
    path = server.write(line(first) + line(second)[:60])
    assert server.ingest().messages_added == 1
    assert server.cursor(path) == (len(line(first)), "waiting")
    assert server.status().bad_lines == 0
    append(path, line(second)[60:])
    assert server.ingest().messages_added == 1
    assert server.messages() == pairs(first, second)
    server.check()


def test_a_line_torn_again_and_again_inside_characters_stays_whole(server):
    record = said("水が出る 🚀 déjà vu", "torn")
    data = line(record)
    path = server.file()
    for end in range(1, len(data) + 1):
        path.write_bytes(data[:end]) if end == 1 else append(path, data[end - 1 : end])
        if end % 7 == 0 or end > len(data) - 4 or data[end - 1] > 127:
            server.ingest()
    assert server.messages() == pairs(record)
    assert server.status().bad_lines == 0
    server.check()


def test_an_unfinished_last_line_is_taken_when_the_file_is_quiet(server):
    first, second = turns(2)
    path = server.write((line(first) + line(second)).rstrip(b"\n"))
    server.ingest()
    assert server.messages() == pairs(first)
    age(path)
    server.ingest()
    assert server.messages() == pairs(first, second)
    assert server.ingest().files_skipped == 1
    append(path, b"\n")
    server.ingest()
    assert server.messages() == pairs(first, second)
    assert server.cursor(path) == (path.stat().st_size, "watched")
    server.check()


@pytest.mark.parametrize("words", ["checking the pool size", "no", LONG * 2])
def test_a_line_taken_unfinished_and_completed_differently_is_stored_as_completed(server, words):
    first = said("how large is the pool?", "m0")
    early, late = said("checking", "m1", role="assistant"), said(words, "m1", role="assistant")
    path = server.write(line(first) + line(early).rstrip(b"\n"))
    age(path)
    server.ingest()
    assert server.messages() == pairs(first, early)
    path.write_bytes(line(first) + line(late))
    server.ingest()
    assert server.messages() == pairs(first, late)
    server.check()


def test_a_line_taken_unfinished_is_followed_through_a_further_torn_state(server):
    first, early, late = said("begin", "m0"), said("short", "m1"), said("short, and more", "m1")
    path = server.write(line(first) + line(early).rstrip(b"\n"))
    age(path)
    server.ingest()
    path.write_bytes(line(first) + line(late)[:-9])
    server.ingest()
    server.restart()
    path.write_bytes(line(first) + line(late))
    server.ingest()
    assert server.messages() == pairs(first, late)
    server.check()


def test_half_a_line_left_for_ever_is_passed_over_and_counted(server):
    records = turns(4)
    path = server.write(line(records[0]) + line(records[1])[:70])
    age(path)
    server.ingest()
    append(path, b"\n" + lines(*records[2:]))
    server.ingest()
    assert server.messages() == pairs(records[0], *records[2:])
    assert server.status().bad_lines == 1
    assert server.value("SELECT count(*) FROM dead_letters") == 1
    server.check()


@pytest.mark.parametrize("count", [3, 12])
def test_truncated_and_rewritten_keeps_the_old_and_adds_the_new(server, count):
    old, new = turns(6), turns(count, stem="other")
    path = server.write(lines(*old))
    inode = path.stat().st_ino
    server.ingest()
    with path.open("r+b") as file:
        file.truncate(0)
        file.write(lines(*new))
    assert path.stat().st_ino == inode
    server.ingest()
    assert server.messages() == pairs(*old, *new)
    assert server.cursor(path)[0] == path.stat().st_size
    assert server.ingest().files_skipped == 1
    server.check()


def test_replaced_by_rename_with_the_same_beginning_gives_only_the_new(server):
    records = turns(8)
    path = server.write(lines(*records[:5]))
    server.ingest()
    other = path.with_suffix(".new")
    other.write_bytes(lines(*records))
    other.replace(path)
    assert server.ingest().messages_added == 3
    assert server.messages() == pairs(*records)
    server.check()


@pytest.mark.parametrize("count", [2, 9])
def test_replaced_by_rename_with_other_content_gives_all_of_it(server, count):
    old, new = turns(5), turns(count, stem="other")
    path = server.write(lines(*old))
    server.ingest()
    other = path.with_suffix(".new")
    other.write_bytes(lines(*new))
    other.replace(path)
    server.ingest()
    assert server.messages() == pairs(*old, *new)
    server.check()


def test_replaced_by_rename_with_the_same_size_and_time_is_noticed(server):
    old = turns(60)
    path = server.write(lines(*old))
    server.ingest()
    before = path.stat()
    new = turns(60)
    new[30] = said("TURN 30 of s1", "s1-turn-30", at=old[30]["timestamp"])
    other = path.with_suffix(".new")
    other.write_bytes(lines(*new))
    os.utime(other, ns=(before.st_atime_ns, before.st_mtime_ns))
    other.replace(path)
    assert path.stat().st_size == before.st_size
    server.ingest()
    assert server.messages() == pairs(*new)
    server.check()


def test_deleted_and_recreated_gives_all_the_new(server):
    old, new = turns(5), turns(9, stem="other")
    path = server.write(lines(*old))
    server.ingest()
    path.unlink()
    path.write_bytes(lines(*new))
    server.ingest()
    assert server.messages() == pairs(*old, *new)
    server.check()


@pytest.mark.parametrize("words", ["[removed]", "turn 3 of S1", LONG, "it was said like this"])
def test_an_old_line_edited_in_place_is_followed(server, words):
    records = turns(8)
    path = server.write(lines(*records))
    server.ingest()
    records[3] = records[3] | {"message": {"role": "assistant", "content": words}}
    more = turns(1, stem="more")
    path.write_bytes(lines(*records, *more))
    age(path, 5)
    server.ingest()
    assert server.messages() == pairs(*records, *more)
    assert server.ingest().files_skipped == 1
    server.check(bounded=words != LONG)


def test_an_old_line_edited_to_the_same_size_is_followed(server):
    records = turns(80)
    path = server.write(lines(*records))
    server.ingest()
    records[40] = records[40] | {"message": {"role": "user", "content": "turn 40 of XX"}}
    size = path.stat().st_size
    path.write_bytes(lines(*records))
    os.utime(path, ns=(0, path.stat().st_mtime_ns + 1_000_000_000))
    assert path.stat().st_size == size
    server.ingest()
    assert server.messages() == pairs(*records)
    server.check()


@pytest.mark.parametrize("number", [0, 58])
def test_a_line_edited_to_the_same_size_before_growth_is_followed(server, number):
    records = turns(60)
    path = server.write(lines(*records))
    server.ingest()
    records[number] = records[number] | {
        "message": {"role": "user", "content": f"turn {number} of XX"}
    }
    path.write_bytes(lines(*records, *turns(2, first=60)))
    server.ingest()
    assert server.messages() == pairs(*records, *turns(2, first=60))
    server.check()


def test_an_edit_while_the_last_line_is_unfinished_is_followed(server):
    records = turns(80)
    path = server.write(lines(*records) + b'{"type":"user"')
    server.ingest()
    records[40] = records[40] | {"message": {"role": "user", "content": "turn 40 of XX"}}
    path.write_bytes(lines(*records) + b'{"type":"user"')
    os.utime(path, ns=(0, path.stat().st_mtime_ns + 1_000_000_000))
    server.ingest()
    assert server.messages() == pairs(*records)
    server.check()


def test_a_long_message_edited_in_place_is_followed_and_stays_bounded(server):
    first, last = said("before", "m0"), said("after", "m2")
    path = server.write(lines(first, said(LONG * 2, "m1"), last))
    server.ingest()
    for words in (LONG * 2 + "one word more", LONG, "short now", "shorter"):
        edited = said(words, "m1")
        path.write_bytes(lines(first, edited, last))
        os.utime(path, ns=(0, path.stat().st_mtime_ns + 1_000_000_000))
        server.ingest()
        assert server.messages() == pairs(first, edited, last)
        server.check()


def test_an_edit_of_the_first_words_takes_them_out_of_the_title(server):
    records = [said("the launch word is xylograph-seventeen", "m0"), *turns(3)]
    path = server.write(lines(*records))
    server.ingest()
    assert "xylograph" in server.title()
    records[0] = said("the launch word is gone", "m0")
    path.write_bytes(lines(*records))
    server.ingest()
    assert server.title() == "the launch word is gone"
    server.check()


def test_a_file_without_its_head_loses_nothing_and_doubles_nothing(server):
    records = turns(20)
    path = server.write(lines(*records[:18]))
    server.ingest()
    path.write_bytes(lines(*records[6:]))
    server.ingest()
    assert server.messages() == pairs(*records)
    server.check()


def test_crlf_gives_the_same_and_exact_offsets(server):
    records = turns(6)
    path = server.write(lines(*records[:4]).replace(b"\n", b"\r\n"))
    server.ingest()
    append(path, lines(*records[4:]).replace(b"\n", b"\r\n"))
    assert server.ingest().messages_added == 2
    assert server.messages() == pairs(*records)
    assert server.cursor(path) == (path.stat().st_size, "watched")
    server.check()


def test_memories_stay_when_the_agent_deletes_a_file(server):
    paths = [server.write(lines(*turns(3, session=f"s{n}")), f"{n}.jsonl") for n in range(3)]
    server.ingest()
    paths[1].unlink()
    server.ingest()
    server.ingest(force=True)
    server.do(server.engine.memories.reindex())
    assert set(server.sessions()) == {"s0", "s1", "s2"}
    assert server.cursor(paths[1])[1] == "gone"
    server.check()


def test_a_renamed_folder_brings_no_copy(server):
    records = turns(6)
    path = server.write(lines(*records))
    server.ingest()
    moved = path.parent.rename(path.parent.with_name("-srv-elsewhere"))
    append(moved / path.name, lines(*turns(1, first=6)))
    report = server.ingest()
    assert report.messages_added == 1
    assert report.messages_known == 0
    assert server.messages() == pairs(*turns(7))
    assert server.value("SELECT count(*) FROM sources") == 1
    server.check()


def test_a_session_copied_into_a_second_folder_is_stored_once(server):
    records = turns(5)
    path = server.write(lines(*records))
    shutil.copy(path, server.file(folder="-srv-copy"))
    report = server.ingest()
    assert (report.messages_added, report.messages_known) == (5, 5)
    assert server.messages() == pairs(*records)
    server.check()


@pytest.mark.parametrize("hours", [-48, 48])
def test_a_file_whose_time_goes_back_or_ahead_is_still_read(server, hours):
    path = server.write(lines(*turns(3)))
    age(path, 3600 * 10)
    server.ingest()
    append(path, lines(*turns(2, first=3)))
    age(path, 3600 * (10 - hours))
    assert server.ingest().messages_added == 2
    server.check()


def test_an_rsync_mirror_with_old_times_is_followed_as_it_grows(server):
    records = turns(9)
    target = server.file()
    for count in (3, 6, 9):
        temporary = target.with_name(f".{target.name}.Xa81kQ")
        temporary.write_bytes(lines(*records[:count]))
        server.ingest()
        age(temporary, 86_400 * 20 - count)
        temporary.replace(target)
        assert server.ingest().messages_added == 3
    assert server.messages() == pairs(*records)
    assert server.value("SELECT count(*) FROM sessions") == 1
    server.check()
