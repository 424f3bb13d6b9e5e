"""`cloxy fetch`, `cloxy search-page` and `cloxy verify`: requests, words and exit codes."""

import json
import subprocess

import pytest
from process.cli_runner import PROGRAM, child_environment, run_cloxy

URL = "https://example.com/a"
HOSTILE = "red\x1b[31m\u202egnp\x07"
PAGE = {
    "url": URL,
    "final_url": "https://example.com/b",
    "status": 200,
    "mode": "clean",
    "content": f"one\ntwo {HOSTILE}",
    "length": 1234,
    "media_type": "text/html",
    "notes": ["its end is missing"],
}
FOUND = {
    "matches": [{"line": 4, "context": f"three\n{HOSTILE}"}],
    "total_matches": 1,
    "notes": [],
}
MATCH = {
    "passage": f"The crane lifts 40 tonnes.\n1. {HOSTILE}",
    "similarity": 0.8765,
    "position_pct": 12.5,
    "overlap": 0.5,
    "url": URL,
    "figures": [
        {"claim": "60 tonnes", "status": "different", "page": ["40 tonnes"]},
        {"claim": "1987", "status": "absent", "page": []},
    ],
}
VERIFIED = {
    "matches": [MATCH],
    "pages": [{"url": URL, "final_url": URL, "chunks": 7, "error": None, "note": None}],
    "note": None,
}


def test_fetch_prints_text_to_output_and_facts_to_errors(stub):
    stub.answer("POST", "/fetch", PAGE)
    run = run_cloxy("fetch", URL, url=stub.url)
    assert run.returncode == 0
    assert run.stdout.decode().startswith("one\ntwo red")
    assert run.stderr.decode() == (
        "https://example.com/b · text/html · 1,234 characters\nnote: its end is missing\n"
    )
    assert stub.bodies("/fetch") == [{"url": URL, "mode": "clean", "remember": False}]


def test_fetch_options_reach_the_server(stub, tmp_path):
    kept = {"ids": [4, 5], "added": 2, "source": "web:example.com"}
    stub.answer("POST", "/fetch", {**PAGE, "matches": 3, "remembered": kept})
    run = subprocess.run(
        [PROGRAM, "fetch", URL, "--selector", "main p", "--remember", "--project", "shop"],
        env=child_environment(stub.url, {}),
        cwd=tmp_path,
        capture_output=True,
    )
    assert run.returncode == 0
    assert "3 elements" in run.stderr.decode()
    assert "remembered as 2 memories, source web:example.com" in run.stderr.decode()
    assert stub.bodies("/fetch") == [
        {
            "url": URL,
            "mode": "extract",
            "remember": True,
            "selector": "main p",
            "project": str(tmp_path / "shop"),
        }
    ]


def test_search_page_in_words(stub):
    stub.answer("POST", "/search", FOUND)
    run = run_cloxy("search-page", URL, "red", url=stub.url)
    assert run.returncode == 0
    lines = run.stdout.decode().split("\n")
    assert lines[:2] == ["line 5", "   three"]
    assert lines[-2] == "1 line matches"
    assert stub.bodies("/search") == [{"url": URL, "pattern": "red", "regex": False}]


def test_search_page_takes_expressions_and_tells_that_nothing_matched(stub):
    stub.answer("POST", "/search", {"matches": [], "total_matches": 0, "notes": ["too late"]})
    run = run_cloxy("search-page", URL, "--regex", "--", "-x.*", url=stub.url)
    assert run.returncode == 1
    assert run.stdout.decode() == "0 lines match\n"
    assert run.stderr.decode() == "note: too late\n"
    assert stub.bodies("/search") == [{"url": URL, "pattern": "-x.*", "regex": True}]


def test_search_page_says_when_not_all_is_shown(stub):
    stub.answer("POST", "/search", {**FOUND, "total_matches": 5000})
    run = run_cloxy("search-page", URL, "red", url=stub.url)
    assert "5,000 lines match; the first 1 are shown" in run.stdout.decode()


def test_verify_one_page(stub):
    stub.answer("POST", "/verify", VERIFIED)
    run = run_cloxy("verify", URL, "--claim", "It lifts 60 tonnes", url=stub.url)
    assert run.returncode == 0
    lines = run.stdout.decode().split("\n")
    assert lines[0] == "1. similarity 0.8765 · at 12.5%"
    assert lines[1] == "   The crane lifts 40 tonnes."
    assert lines[2].startswith("   1. red")
    assert lines[3] == "   differs: the claim has 60 tonnes, the passage 40 tonnes"
    assert "absent" not in run.stdout.decode()
    assert run.stderr.decode() == f"{URL}: 7 passages compared\n"
    assert stub.bodies("/verify") == [{"claim": "It lifts 60 tonnes", "top_k": 3, "url": URL}]


def test_verify_several_pages_of_which_one_fails(stub):
    gone = {"code": "fetch", "message": "the server of the page answered 404", "hint": None}
    pages = [
        {"url": URL, "final_url": URL, "chunks": 7, "error": None, "note": "its end is missing"},
        {"url": "https://gone.test/", "final_url": None, "chunks": 0, "error": gone, "note": None},
    ]
    match = {**MATCH, "similarity": None}
    stub.answer("POST", "/verify", {"matches": [match], "pages": pages, "note": "no model"})
    run = run_cloxy("verify", URL, "https://gone.test/", "--claim", "x", "-k", "9", url=stub.url)
    assert run.returncode == 1
    assert run.stdout.decode().startswith(f"1. 50% of the words · at 12.5% · {URL}\n")
    assert run.stderr.decode() == (
        f"{URL}: 7 passages compared\nnote: its end is missing\n"
        "https://gone.test/: the server of the page answered 404\nnote: no model\n"
    )
    assert stub.bodies("/verify") == [
        {"claim": "x", "top_k": 9, "urls": [URL, "https://gone.test/"]}
    ]


@pytest.mark.parametrize(
    ("arguments", "path", "answer"),
    [
        (["fetch", URL], "/fetch", PAGE),
        (["search-page", URL, "red"], "/search", FOUND),
        (["verify", URL, "--claim", "red"], "/verify", VERIFIED),
    ],
)
class TestEachCommand:
    def test_json_is_the_answer(self, stub, arguments, path, answer):
        stub.answer("POST", path, answer)
        run = run_cloxy(*arguments, "--json", url=stub.url)
        assert (run.returncode, json.loads(run.stdout)) == (0, answer)

    def test_nothing_of_a_page_reaches_the_terminal_as_control(self, stub, arguments, path, answer):
        stub.answer("POST", path, answer)
        for more in ([], ["--json"]):
            shown = run_cloxy(*arguments, *more, url=stub.url)
            assert b"\x1b" not in shown.stdout + shown.stderr
            assert b"\x07" not in shown.stdout + shown.stderr
            assert "\u202e" not in (shown.stdout + shown.stderr).decode()

    def test_refusal_is_told_with_what_to_do(self, stub, arguments, path, answer):
        error = {"code": "blocked_url", "message": "this address may not be read", "hint": "x"}
        stub.answer("POST", path, {"error": error, "detail": "d"}, status=400)
        run = run_cloxy(*arguments, url=stub.url)
        assert run.returncode == 1
        assert "this address may not be read; x" in run.stderr.decode()
        assert run.stdout == b""

    def test_help(self, arguments, path, answer):
        run = run_cloxy(arguments[0], "--help")
        assert run.returncode == 0
        assert b"--json" in run.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ["fetch"],
        ["fetch", URL, "--mode", "fancy"],
        ["fetch", URL, "--project", "x"],
        ["search-page", URL],
        ["verify", URL],
        ["verify", "--claim", "x"],
        ["verify", URL, "--claim", "x", "-k", "51"],
    ],
)
def test_wrong_use_is_told(arguments):
    run = run_cloxy(*arguments, url="http://127.0.0.1:9")
    assert run.returncode == 2
    assert b"cloxy: " in run.stderr
