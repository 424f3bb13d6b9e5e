"""Elements by CSS selector."""

import pytest
from web.extraction.reading import page, read, refused

BODY = """<main><h2 class=a>First  <b>one</b></h2><p class="b c">Text<br>two lines</p>
<ul id=list><li>x<li>y</ul><h2>Second</h2><pre>  a
    b</pre><script>let a = 1</script></main>"""


def matches(selector):
    return read(page(BODY), "extract", selector=selector)["matches"]


@pytest.mark.parametrize(
    ("selector", "found"),
    [
        ("h2", ["First one", "Second"]),
        ("  h2.a  ", ["First one"]),
        ("p.b, #list", ["Text\ntwo lines", "- x\n- y"]),
        ("li:nth-child(2)", ["y"]),
        ("h2:has(b)", ["First one"]),
        ("pre", ["  a\n    b"]),
        ("script", ["let a = 1"]),
        ("title", ["A page"]),
        ("h5", []),
        ("h2, .a, h2", ["First one", "Second"]),
    ],
)
def test_elements_in_their_order(selector, found):
    assert matches(selector) == found


def test_the_text_is_that_of_all_matches():
    made = read(page(BODY), "extract", selector="h2")
    assert made["text"] == "First one\n\nSecond"
    assert made["title"] == "A page"


def test_nothing_found_is_said():
    assert "matches" in read(page(BODY), "extract", selector="h5")["notes"][0]


def test_matches_inside_matches_are_whole():
    body = "<div><p>a</p><div><p>b</p><table><tr><td><p>c</p><p>d</p></td></tr></table></div></div>"
    found = read(page(body), "extract", selector="div")["matches"]
    assert found == ["a\n\nb\n\nc\n\nd", "b\n\nc\n\nd"]


def test_many_matches_are_cut_and_it_is_said():
    made = read("<i>x</i>" * 3_000, "extract", selector="i")
    assert len(made["matches"]) == 1_000
    assert "1000 of 3000" in made["notes"][0]


@pytest.mark.parametrize(
    "selector",
    [
        "",
        " ",
        ",",
        "div,,p",
        "[" * 100,
        "a:hover::before",
        "@import url(http://127.0.0.1/)",
        "</style><script>alert(1)</script>",
        "p:contains('x')",
        ":nope(p)",
        "*:has(*:has(*:has(*)))",
        "div:has(+ div:has(+ div))",
        "a" * 201,
        "a\x00b",
    ],
)
def test_selectors_that_are_none_are_refused(selector):
    made = refused(page(BODY), "extract", selector=selector)
    assert made["refused"] == "input"
