"""What stands around a text, told by names and shapes that sites of every kind use."""

import pytest

from cloxy_hookspecs import PageSource
from cloxy_plugins.web.extract_html import extract

TEXT = "<p>" + "The ferry crosses the river on a rope, and has done so since the bridge fell. " * 5
NOISE = "Something that nobody came for"


def text_of_main(inside):
    html = f"<html><body><main>{inside}</main></body></html>"
    return extract(PageSource("https://a.example/x", "text/html", html), "clean", None).text


def text_of(inside):
    return text_of_main(f"<h1>Ferry</h1>{TEXT}</p>{inside}{TEXT}</p>")


@pytest.mark.parametrize(
    "name",
    [
        "author-card__bio",
        "author-info",
        "ad-in-list",
        "htl-ad",
        "jp-relatedposts",
        "next-article",
        "prev-story",
        "inline-newsletter",
        "product-recommendations",
        "page-feedback",
        "site-foot",
        "sr-only",
        "crumbs",
        "taboola-below",
    ],
)
def test_a_box_that_is_called_so_is_no_text(name):
    assert NOISE not in text_of(f'<div class="{name}"><p>{NOISE}</p></div>')


@pytest.mark.parametrize(
    "name", ["author", "shadow", "adventure", "loading", "headline", "pad-4", "story", "articles"]
)
def test_names_that_only_look_like_it_are_text(name):
    assert NOISE in text_of(f'<div class="{name}"><p>{NOISE}</p></div>')


def test_a_link_that_is_dressed_as_a_button_is_no_text():
    shown = text_of(f'<p>It costs nine.</p><a class="card__btn" href="/buy">{NOISE}</a>')
    assert "It costs nine." in shown
    assert NOISE not in shown


@pytest.mark.parametrize(
    "word", ["Sponsored: ", "Advertisement – ", "Report this ad: ", "Anzeige: "]
)
def test_a_short_block_that_says_it_is_an_ad_is_no_text(word):
    assert NOISE not in text_of(f"<div><span>{word}{NOISE}</span></div>")


def test_a_sentence_about_sponsors_is_text():
    assert "Sponsored races began" in text_of(
        "<p>Sponsored races began in the year of the flood.</p>"
    )


def test_numbers_of_lines_beside_code_are_no_text():
    shown = text_of(
        "<table><tr><td class='linenos'><pre>7001\n7002</pre></td>"
        "<td><pre>print(1)\nprint(2)</pre></td></tr></table>"
    )
    assert "7001" not in shown
    assert "print(2)" in shown


def test_a_box_with_headlines_of_other_pages_is_no_text():
    links = "".join(
        f'<div><a href="/{n}">{NOISE}, told at some length in part {n}</a></div>' for n in range(3)
    )
    assert NOISE not in text_of(f"<section><h4>More from here</h4>{links}</section>")


def test_a_section_of_references_is_text():
    links = ", ".join(f'<a href="/{n}">{n}(1)</a>' for n in ("ar", "cpio", "tar", "fsck"))
    assert "cpio(1)" in text_of(f"<section><h2>See also</h2><p>{links}</p></section>")


def test_footnotes_in_an_aside_are_text():
    assert "the older one" in text_of(
        '<aside class="footnote"><p>Of two the older one.</p></aside>'
    )


def test_a_title_below_which_nothing_is_left_is_no_text():
    html = f"<html><body><main><h1>Ferry</h1>{TEXT}</p><h2>See Ferry</h2><p>At the end: no answers"
    html += "</p><div><h2>no answers</h2><form><input></form></div></main></body></html>"
    shown = extract(PageSource("https://a.example/x", "text/html", html), "clean", None).text
    assert shown.rstrip().endswith("At the end: no answers")
    assert "See Ferry" in shown


def test_the_article_with_the_title_is_the_page_beside_articles_that_announce_others():
    teaser = f'<article><a href="/x"><h3>{NOISE}</h3></a><p>In short.</p></article>'
    assert NOISE not in text_of_main(f"<article><h1>Ferry</h1>{TEXT}</p></article>{teaser * 3}")


def test_articles_of_a_thread_are_all_text():
    posts = "".join(f"<article><p>Answer {n}. {NOISE}.</p></article>" for n in range(4))
    html = (
        f"<html><body><main><h1>Ferry</h1><article>{TEXT}</p></article>{posts}</main></body></html>"
    )
    shown = extract(PageSource("https://a.example/x", "text/html", html), "clean", None).text
    assert "Answer 3." in shown
