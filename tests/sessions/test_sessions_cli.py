"""`cloxy sessions` against a running server."""

import json
import os
import pty
import re
import shlex
import stat
import subprocess
from html.parser import HTMLParser

import pytest
from forgetting.cloxy_command import cloxy
from server.live_server import PROGRAM
from sessions.sessions_kit import FIRST, LONG, gulls


def lines(server, *arguments):
    run = cloxy(server, "sessions", *arguments)
    assert (run.returncode, run.stderr) == (0, "")
    return run.stdout.split("\n")


def failure(server, *arguments, code=1):
    run = cloxy(server, "sessions", *arguments)
    assert (run.returncode, run.stdout) == (code, "")
    return run.stderr


def test_the_list(filled):
    assert lines(filled, "gate", "OF") == [
        "DATE              AGENT  PROJECT  TITLE                MESSAGES  ID",
        "2026-05-05 16:53  gull   port     Gate of the Harbour  3         wing-0001",
        "",
    ]
    assert lines(filled, "no", "such", "title") == ["No sessions were found.", ""]
    assert "robot-77" in "\n".join(lines(filled, "--all", "--project", "nightly"))


def test_a_list_that_is_cut_says_so(filled):
    run = cloxy(filled, "sessions", "--limit", "1", "--agent", "gull")
    assert run.stdout.count("\n") == 2
    assert "--limit shows more" in run.stderr


def test_words_that_are_names_of_commands(filled):
    assert lines(filled, "list", "show") == ["No sessions were found.", ""]


def test_a_session_as_text(filled):
    shown = lines(filled, "show", "wing-0001-fork")
    assert shown == [
        "Blue gate",
        "   agent      gull",
        "   id         wing-0001-fork",
        "   project    /srv/port",
        "   time       2026-05-06 16:53 to 2026-05-06 16:53",
        "   messages   1",
        "   came from  wing-0001 (fork)",
        "   resume     cd /srv/port && gull --go-on=wing-0001-fork",
        "",
        "1. the user · 2026-05-06 16:53",
        "   Blue instead",
        "",
    ]
    whole = lines(filled, "show", "wing-0001")
    assert "2. the assistant · about 2026-05-05 16:53 · gull-9" in whole
    assert "   subagent  wing-0001/sub-1 · Counting gate" in whole
    assert "   " + LONG.split("\n")[0].rstrip() in whole


def test_a_session_opened_at_a_hit_and_what_is_left_off(filled):
    told = filled.get("/sessions/wing-0001")
    memory = str(told["messages"][2]["memories"][0])
    shown = lines(filled, "show", "wing-0001", "--at", memory, "--limit", "2")
    assert shown[-2] == "(1 more message follows; --limit shows more)"
    assert "3. the user · 2026-05-05 16:53  <- here" in lines(
        filled, "show", "wing-0001", "--at", memory
    )


def test_recall_names_the_command_that_opens_a_hit(filled):
    run = cloxy(filled, "recall", "paint the harbour gate", "--full", "-k", "1")
    (command,) = (line for line in run.stdout.split("\n") if "open: " in line)
    opened = cloxy(filled, *shlex.split(command.partition("open: cloxy ")[2]))
    assert "1. the user · 2026-05-05 16:53  <- here" in opened.stdout
    assert "open: " not in cloxy(filled, "recall", "paint the harbour gate").stdout


def test_the_resume_command_is_one_line_for_a_shell(filled):
    assert lines(filled, "resume", "wing-0001") == ["cd /srv/port && gull --go-on=wing-0001", ""]
    told = json.loads(cloxy(filled, "sessions", "resume", "wing-0001", "--json").stdout)
    assert told["resume"]["arguments"] == ["gull", "--go-on=wing-0001"]


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["resume", "wing-0001/sub-1"], 1, "came from: wing-0001"),
        (["show", "nothing-such"], 1, "no such session"),
        (["show", "wing-00"], 1, "several sessions"),
        (["show", "/"], 2, "no id"),
        (["show", ".."], 2, "no id"),
        (["show"], 2, "Missing argument"),
        (["--since", "whenever"], 1, "whenever"),
        (["export", "wing-0001", "--to", "x.txt"], 2, ".md or .html"),
    ],
)
def test_what_cannot_be_done_is_told(filled, arguments, code, words):
    assert words in failure(filled, *arguments, code=code)


def test_json_holds_the_whole_session(filled):
    told = json.loads(cloxy(filled, "sessions", "show", "wing-0001", "--json").stdout)
    assert told == filled.get("/sessions/wing-0001")
    listed = json.loads(cloxy(filled, "sessions", "--json").stdout)
    assert listed == filled.get("/sessions")


def in_terminal(server, *arguments, **environment):
    """What is written to a terminal."""
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [PROGRAM, "sessions", *arguments],
        env={**os.environ, **server.settings, "CLOXY_URL": server.url, **environment},
        stdin=follower,
        stdout=follower,
        stderr=follower,
    )
    os.close(follower)
    written = b""
    try:
        while piece := os.read(leader, 65536):
            written += piece
    except OSError:  # how Linux tells that the other end has closed
        pass
    os.close(leader)
    assert process.wait(120) == 0
    return written.decode()


def test_a_pager_only_if_asked_for_and_only_in_a_terminal(filled, tmp_path):
    pager = tmp_path / "pager"
    pager.write_text("#!/bin/sh\necho PAGED\ncat\n")
    pager.chmod(0o755)
    paged = in_terminal(filled, "show", "wing-0001", "--pager", PAGER=str(pager), TERM="xterm")
    assert "PAGED" in paged
    assert "Paint the Harbour gate" in paged
    assert "PAGED" not in in_terminal(filled, "show", "wing-0001", PAGER=str(pager), TERM="xterm")
    piped = cloxy(filled, "sessions", "show", "wing-0001", "--pager")
    assert piped.stdout == cloxy(filled, "sessions", "show", "wing-0001").stdout


HOSTILE = (
    "one \x1b]0;owned\x07 \x1b[2J \x9b31m \u202e gpj.exe \U000e0041 \u200b\r\nfake prompt$ "
    "</div><script>alert(1)</script> \"'><img src=x onerror=alert(1)> `` ```` [x](javascript:a) "
    "![x](http://127.0.0.1:9/b) &lt;b&gt; http://127.0.0.1:9/\n```\n~~~\n# heading\n\n2. the user"
)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    with gulls(tmp_path_factory.mktemp("hostile")) as server:
        server.say(
            "hostile",
            {"session": f"key {HOSTILE[:200]}", "id": "h1", "text": HOSTILE, "title": HOSTILE,
             "cwd": f"/srv/{HOSTILE}", "branch": HOSTILE, "at": FIRST},
            {"session": f"key {HOSTILE[:200]}", "id": "h2", "text": "answer", "model": HOSTILE,
             "role": "assistant", "author": "assistant", "at": FIRST + 1},
        )  # fmt: skip
        server.take()
        yield server


def test_stored_text_does_not_act_on_a_terminal(hostile):
    for arguments in ((), ("show", "key one")):
        written = in_terminal(hostile, *arguments, NO_COLOR="1").replace("\r\n", "\n")
        assert [c for c in written if ord(c) < 32 and c != "\n"] == []
        assert not {"\x9b", "\u202e", "\u200b", "\U000e0041"} & set(written)
        forged = [
            line for line in written.split("\n") if line.startswith(("fake", "#", "2. the u"))
        ]
        assert forged == []
    assert "   # heading" in written


def test_raw_is_as_it_was_said(hostile):
    run = subprocess.run(
        [PROGRAM, "sessions", "show", "key one", "--raw"],
        env={**os.environ, **hostile.settings, "CLOXY_URL": hostile.url},
        capture_output=True,
        check=True,
    )
    stored = hostile.get("/sessions/key%20one")["messages"][0]["text"]
    assert stored.split("\n")[0] in run.stdout.decode()
    assert b"\x1b[2J" in run.stdout


class Page(HTMLParser):
    """Tags, attributes and text of a page, and what stands in its style."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.words = [], set(), []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes |= {name for name, _value in attrs}

    def handle_data(self, data):
        self.words.append(data)


def test_html_has_no_tag_but_ours_and_a_strict_policy(hostile, filled, tmp_path):
    page, plain = tmp_path / "a.html", tmp_path / "b.html"
    assert cloxy(hostile, "sessions", "export", "key one", "--to", str(page)).returncode == 0
    assert cloxy(filled, "sessions", "export", "wing-0001", "--to", str(plain)).returncode == 0
    text = page.read_text(encoding="utf-8")
    found = Page(text)
    ours = {"html", "head", "meta", "title", "style", "body", "h1", "h2", "dl", "dt", "dd", "div"}
    assert set(found.tags) == set(Page(plain.read_text(encoding="utf-8")).tags) == ours
    assert found.attributes == {"lang", "charset", "http-equiv", "content", "name", "class"}
    assert found.tags.count("div") == 2
    stored = hostile.get("/sessions/key%20one")["messages"][0]["text"]
    assert stored.split("\n")[-1] in "".join(found.words)
    assert "default-src 'none'" in text
    assert "unsafe" not in text
    assert not {"\x1b", "\x9b", "\u202e", "\u200b"} & set(text)


def test_markdown_cannot_be_broken_out_of(hostile, tmp_path):
    file = tmp_path / "a.md"
    assert cloxy(hostile, "sessions", "export", "key one", "--to", str(file)).returncode == 0
    outside, fence = [], None
    for line in file.read_text(encoding="utf-8").split("\n"):
        ticks = len(line) - len(line.lstrip("`"))
        if fence is None and ticks >= 3:
            fence = ticks
        elif fence is not None and ticks >= fence and not line.strip("` "):
            fence = None
        elif fence is None:
            outside.append(line)
    assert fence is None
    kinds = [line.split(" ")[0] for line in outside if line]
    assert set(kinds) == {"#", "-", "##"}
    assert kinds.count("##") == 2
    for line in filter(None, outside):
        # Whatever could mean something stands behind a backslash.
        value = re.sub(r"^(#+|- [^:]*:) ", "", line)
        assert not re.search(r"[!-/:-@\[-`{-~]", re.sub(r"\\.", "", value)), line
    # Four backticks stand in the text, so five are around it.
    assert "\n`````text\n" in file.read_text(encoding="utf-8")


def test_an_export_replaces_nothing_unasked_and_follows_no_link(filled, tmp_path):
    file, victim, link = tmp_path / "a.md", tmp_path / "victim.md", tmp_path / "link.md"
    export = ("export", "wing-0001", "--to")
    assert lines(filled, *export, str(file)) == [f"{file}: 3 messages", ""]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    file.write_text("mine")
    assert "--force" in failure(filled, *export, str(file))
    assert file.read_text() == "mine"
    lines(filled, *export, str(file), "--force")
    assert LONG.strip() in file.read_text(encoding="utf-8")
    victim.write_text("precious")
    link.symlink_to(victim)
    for more in ([], ["--force"]):
        assert "not a regular file" in failure(filled, *export, str(link), *more)
    dangling = tmp_path / "dangling.html"
    dangling.symlink_to(tmp_path / "nowhere")
    assert "not a regular file" in failure(filled, *export, str(dangling), "--force")
    assert victim.read_text() == "precious"
    assert "cannot be written" in failure(filled, *export, str(tmp_path / "no" / "x.md"))
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "a.md", "dangling.html", "link.md", "victim.md",
    ]  # fmt: skip


def test_an_export_is_named_when_its_text_is_forgotten(tmp_path):
    with gulls(tmp_path) as server:
        server.say("some-talk", {"id": "a", "text": "one secret thing of the gulls", "at": FIRST})
        server.take()
        file = tmp_path / "talk.md"
        told = json.loads(
            cloxy(server, "sessions", "export", "some-talk", "--to", str(file), "--json").stdout
        )
        assert told == {"file": str(file), "id": "some-talk", "agent": "gull", "messages": 1}
        memory = server.get("/sessions/some-talk")["messages"][0]["memories"][0]
        held = server.ask("DELETE", f"/memory/{memory}")[1]["still_in"]
        assert {"kind": "export", "path": str(file)} in held
