"""`cloxy recall` against a server on a real socket."""

import json

import pytest
from process.cli_runner import run_cloxy

BODY = "[USER] the dashboard port clashes\n[ASSISTANT] use 9055 for the server"
HEADER = "[2026-11-03 14:02 · shop · Fix the port clash]"
HIT = {
    "id": 41,
    "uid": "01J00000000000000000000041",
    "header": HEADER,
    "content": f"{HEADER}\n{BODY}",
    "source": "convo:abc:1",
    "project": "/home/me/code/shop",
    "session_id": "abc",
    "sessions": ["abc"],
    "title": "Fix the port clash",
    "ts_start": "2026-11-03T14:02:11Z",
    "ts_end": "2026-11-03T14:05:00Z",
    "metadata": {"branch": "main"},
    "score": 0.031278,
    "similarity": None,
    "keyword_rank": 1,
    "recency": 0.913,
    "passages": [
        {
            "id": 7,
            "text": "[ASSISTANT] use 9055 for the server",
            "role": "assistant",
            "author": "model",
            "ts": "2026-11-03T14:05:00Z",
            "char_start": 34,
            "char_end": 69,
            "score": 0.031278,
            "parts": {"keyword": 0.0164, "literal": 2},
        }
    ],
}
ANSWER = {
    "results": [HIT],
    "query": "port",
    "mode": "keyword",
    "searched": 1234,
    "channels": ["keyword"],
    "notes": [],
}


@pytest.fixture
def recall(stub):
    stub.answer("POST", "/recall", ANSWER)

    def run(*arguments, **environment):
        return run_cloxy("recall", *arguments, url=stub.url, TZ="UTC", **environment)

    return run


def test_shows_date_project_title_score_id_and_text(recall):
    run = recall("port")
    assert run.returncode == 0
    assert run.stderr == b""
    assert run.stdout.decode() == (
        "1. 2026-11-03 14:02 · shop · Fix the port clash\n"
        "   score 0.0313 · id 41\n"
        "   [USER] the dashboard port clashes\n"
        "   [ASSISTANT] use 9055 for the server\n"
        "\n"
    )


def test_times_are_those_of_the_reader(stub, recall):
    run = run_cloxy("recall", "port", url=stub.url, TZ="Asia/Tokyo")
    assert run.stdout.decode().startswith("1. 2026-11-03 23:02")
    assert stub.bodies("/recall")[-1]["tz"] == "Asia/Tokyo"


def test_words_are_joined_and_only_given_options_sent(stub, recall):
    recall("which", "port", "clashes?")
    assert stub.bodies("/recall") == [{"query": "which port clashes?", "top_k": 5, "tz": "UTC"}]


def test_every_option_arrives(stub, recall):
    recall(
        "--top-k=7", "--project", "shop", "--since", "last week", "--until", "2026-11-30",
        "--mode", "keyword", "--source", "convo", "--role", "user", "--all", "--", "--no-verify",
    )  # fmt: skip
    assert stub.bodies("/recall") == [
        {
            "query": "--no-verify",
            "top_k": 7,
            "tz": "UTC",
            "project": "shop",
            "since": "last week",
            "until": "2026-11-30",
            "mode": "keyword",
            "source": "convo",
            "role": "user",
            "subagents": True,
        }
    ]


def test_short_option_for_top_k(stub, recall):
    recall("-k", "3", "port")
    assert stub.bodies("/recall")[0]["top_k"] == 3


def test_key_is_sent(stub, recall):
    recall("port", CLOXY_API_KEY="schlüssel-密钥")
    headers = stub.asked[0][2]
    assert headers["X-API-Key"].encode("latin-1").decode() == "schlüssel-密钥"
    assert headers["Content-Type"] == "application/json"


def test_json_is_the_servers_answer(recall):
    run = recall("port", "--json")
    assert json.loads(run.stdout) == ANSWER


def test_nothing_relevant_is_said(stub, recall):
    stub.answer("POST", "/recall", {**ANSWER, "results": []})
    run = recall("port")
    assert run.returncode == 0
    assert run.stdout.decode() == "Nothing relevant was found.\n"


def test_notes_are_talk(stub, recall):
    stub.answer("POST", "/recall", {**ANSWER, "notes": ["the time limit\nwas reached"]})
    run = recall("port")
    assert run.stderr.decode() == "note: the time limit\\nwas reached\n"


def test_why_shows_the_parts(recall):
    shown = recall("port", "--why").stdout.decode()
    for words in ("keyword rank", "recency", "keyword 0.0164, literal 2", "1,234", "keyword"):
        assert words in shown


LONG = "\n".join(f"line {n} about nothing in particular" for n in range(200))


def test_long_memory_is_cut_around_the_best_passage(stub, recall):
    needle = "the watcher missed a renamed folder"
    body = LONG + "\n" + needle + "\n" + LONG
    start = body.index(needle)
    passage = {**HIT["passages"][0], "text": needle, "char_start": start}
    passage["char_end"] = start + len(needle)
    hit = {**HIT, "content": f"{HEADER}\n{body}", "passages": [passage]}
    stub.answer("POST", "/recall", {**ANSWER, "results": [hit]})
    shown = recall("renamed").stdout.decode()
    assert needle in shown
    assert len(shown) < 900
    assert shown.count("…") == 2
    assert recall("renamed", "--full").stdout.decode().count("line 199 about") == 2


def test_answer_of_the_original_version(stub, recall):
    old = {
        "results": [
            {"id": 3, "content": "[2026-01-02 10:00 · shop · t]\nUSER: hello", "score": 0.03,
             "source": "convo:x:1", "project": None, "ts_start": None}
        ],
        "query": "q",
        "mode": "hybrid",
        "searched": 1,
    }  # fmt: skip
    stub.answer("POST", "/recall", old)
    shown = recall("hello").stdout.decode()
    assert "USER: hello" in shown
    assert "convo:x:1" in shown


@pytest.mark.parametrize(
    "broken",
    [
        {},
        {"results": None},
        {"results": [None, 3, "x"]},
        {"results": [{}]},
        {"results": [{"content": 5, "score": "high", "passages": [{"char_start": "x"}]}]},
        {"results": [{"content": "text", "passages": {"a": 1}, "metadata": [], "project": 7}]},
        {"results": [{"content": "text", "ts_start": "9999999-99-99", "id": None}], "notes": 3},
        {"results": [{"content": "x" * 900, "passages": [{"text": "zz", "char_end": 10**30}]}]},
    ],
)
def test_answers_of_unknown_shape_are_shown_as_far_as_possible(stub, recall, broken):
    stub.answer("POST", "/recall", broken)
    run = recall("port", "--why")
    assert run.returncode == 0
    assert b"Traceback" not in run.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], b"Missing argument"),
        ([" ", ""], b"the query is empty"),
        (["x", "-k", "0"], b"1<=x<=100"),
        (["x", "-k", "many"], b"many"),
        (["x", "--mode", "telepathy"], b"telepathy"),
        (["--no-verify"], b"goes after `--`"),
    ],
)
def test_wrong_usage_is_told(recall, stub, arguments, words):
    run = recall(*arguments)
    assert run.returncode == 2
    assert words in run.stderr
    assert stub.asked == []
