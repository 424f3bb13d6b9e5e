"""What stands before, between and behind a text, told by place, shape and words."""

import pytest

from cloxy_hookspecs import PageSource
from cloxy_plugins.web.extract_html import extract

SENTENCE = "The ferry crosses the river on a rope, and has done so since the bridge fell. "
TEXT = f"<p>{SENTENCE * 5}</p>"
NOISE = "Something that nobody came for"


def text_of_body(inside, title="Ferry"):
    html = f"<html><head><title>{title}</title></head><body>{inside}</body></html>"
    return extract(PageSource("https://a.example/x", "text/html", html), "clean", None).text


def text_of(inside):
    return text_of_body(f"<main><h1>Ferry</h1>{TEXT}{inside}{TEXT}</main>")


def text_before(inside):
    return text_of_body(f"<main><h1>Ferry</h1>{TEXT * 3}{inside}</main>")


@pytest.mark.parametrize("name", ["anchor anchorWithStickyNavbar_LWe7", "has-toc", "share-title"])
def test_headings_stay_whatever_a_part_of_their_class_is(name):
    assert "On the rope" in text_of(f'<h2 class="{name}">On the rope</h2>{TEXT}')


@pytest.mark.parametrize("name", ["content--with-sidebar", "no-sidebar", "layout-has-toc"])
def test_what_is_beside_an_element_is_not_its_name(name):
    assert "On the rope" in text_of(f'<div class="{name}"><p>On the rope it goes.</p></div>')


def test_topics_of_a_post_are_not_its_name():
    post = f'<div class="hentry tag-newsletter"><p>{SENTENCE}It sank.</p></div>'
    assert "It sank." in text_of(post)


@pytest.mark.parametrize(
    "given",
    [
        'data-testid="related-articles"',
        'data-framer-name="Cookie banner"',
        'itemtype="https://schema.org/WPFooter"',
        'style="position: fixed"',
        "data-nosnippet",
        'class="commentsignupbar"',
        'class="theme-doc-version-badge"',
        'class="language-switcher"',
        'class="hatnote"',
        'class="framer-cta2"',
    ],
)
def test_a_box_that_says_it_to_programs_is_no_text(given):
    assert NOISE not in text_of(f"<div {given}><p>{NOISE}.</p></div>")


@pytest.mark.parametrize(
    "given", ['data-testid="paragraph"', 'class="language-bash"', 'itemtype="https://schema.org/X"']
)
def test_a_box_that_says_something_else_stays(given):
    assert NOISE in text_of(f"<div {given}><p>{NOISE}.</p></div>")


@pytest.mark.parametrize(
    "words",
    [
        "Last updated 2 months ago",
        "Zuletzt geändert am 3. Mai 2024",
        "Dernière modification par Kevin le 13 mai 2020",
        "Was this helpful?",
        "Did you find this page helpful?",
        "The River Company © 2025. All rights reserved.",
    ],
)
def test_a_short_block_that_says_it_is_no_text(words):
    assert words not in text_of(f"<div><p>{words}</p></div>")


@pytest.mark.parametrize(
    "words",
    [
        "Last updated rows come first.",
        "Was this helpful to the ferryman? He said that it was.",
        "He wondered whether all rights are reserved.",
    ],
)
def test_sentences_about_such_things_are_text(words):
    assert words in text_of(f"<p>{words}</p>")


def test_a_licence_below_its_heading_is_text():
    assert "All rights" in text_of("<h2>Licence</h2><p>Ann, 2024. All rights reserved.</p>")


def test_words_about_cookies_with_something_to_press_are_no_text():
    box = f"<div><p>{NOISE} but cookies.</p>"
    assert NOISE not in text_of(f"{box}<button>Accept</button></div>")
    assert NOISE in text_of(f"{box}</div>")


def test_a_box_to_write_an_address_into_is_no_text():
    box = f"<div><h3>{NOISE}</h3><p>Each month.</p>"
    assert NOISE not in text_of(f"{box}<input type=email></div>")
    assert NOISE in text_of(f"{box}<p>{SENTENCE}</p></div>")


def test_a_form_is_text_where_nothing_can_be_filled_in():
    post = '<form class="usertext"><input type="hidden"><div><p>It sank in May.</p></div>'
    assert "It sank in May." in text_of(f"{post}</form>")
    assert "It sank in May." not in text_of(f"{post}<textarea></textarea></form>")


def test_a_heading_that_is_all_something_to_press_stays():
    shown = text_of(f"<h3><button>Does it cross at night?</button></h3>{TEXT}")
    assert "Does it cross at night?" in shown
    assert "Copy" not in text_of(f"<h3>At night <button>Copy the address here</button></h3>{TEXT}")


def test_short_boxes_before_the_title_are_no_text():
    before = f'<div class="q"><p>{NOISE}</p></div>'
    assert NOISE not in text_of_body(f"{before}<div class=p><h1>Ferry</h1>{TEXT}</div>")
    assert NOISE in text_of_body(f"{before}<h2>Boats</h2><div class=p>{TEXT}</div>")


def test_what_is_long_before_the_title_is_text():
    assert NOISE in text_of_body(
        f"<main><div>{TEXT}<p>{NOISE}</p></div><h1>Ferry</h1>{TEXT}</main>"
    )


def test_a_bar_of_links_is_no_text():
    links = '<a href="/a">Fields of it</a> | <a href="/b">Functions of it</a>'
    assert "Fields of it" not in text_of(f"<div>{links}</div>")
    assert "Fields of it" in text_of(f"<div>There are {links}, and more.</div>")


def test_links_in_entries_of_a_list_are_text():
    entry = '<div class="e"><a href="/a">The rope</a> <a href="/b">rope.example</a></div>'
    assert "rope.example" in text_of(entry * 3)


def test_a_card_around_another_page_is_no_text():
    card = f'<div><a href="/x"><div>{NOISE}</div><div>Read of it</div></a></div>'
    assert NOISE not in text_of(card)


def test_teasers_below_a_text_are_no_text():
    teaser = f'<div class="t"><h3><a href="/y">A raft</a></h3><p>{NOISE} at all.</p></div>'
    assert NOISE not in text_before(f"<h2>Boats</h2>{TEXT}{teaser * 2}")


def test_posts_whose_titles_are_links_are_text():
    posts = "".join(
        f'<div class="post"><h3><a href="/p{n}">Re: Ferry of the river</a></h3>'
        f"<p>Post {n}.</p></div>"
        for n in range(3)
    )
    body = f"<main><h1>Ferry of the river</h1>{TEXT * 5}{posts}</main>"
    assert "Post 1." in text_of_body(body, "Ferry of the river")


def test_a_call_at_the_end_is_no_text():
    call = f"<section class=z><h2>{NOISE}</h2><p>It is free.</p><a href='/b'>Go</a></section>"
    assert NOISE not in text_before(call)
    told = f"<section class=z><h2>{NOISE}</h2><p>{SENTENCE}</p></section>"
    assert NOISE in text_before(told)


def test_short_boxes_without_a_sentence_close_a_text():
    assert NOISE not in text_before(f"<div class=z><p>{NOISE}</p></div>")
    assert NOISE in text_before(f"<div class=z><p>{NOISE}.</p></div>")


def test_a_short_box_before_the_first_post_of_a_thread_is_no_text():
    posts = "".join(f'<div class="post b{n}" id="p10{n}">{TEXT}</div>' for n in range(4))
    rules = f"<div><b>Rules</b><br><span>{NOISE}, so mind them.</span></div>"
    assert NOISE not in text_of_body(f"<main><h1>Ferry</h1>{rules}{posts}</main>")
    other = posts.replace("id=", "title=")
    assert NOISE in text_of_body(f"<main><h1>Ferry</h1>{rules}{other}</main>")


def test_lines_of_code_in_boxes_are_code():
    lines = "<div class=line>if (a) {</div><div class=line>    b();</div><div class=line>}</div>"
    assert "```\nif (a) {\n    b();\n}\n```" in text_of(f"<div class=fragment>{lines}</div>")


def test_what_a_second_opinion_does_not_keep_either_is_no_text():
    box = f"<div class=z><h3>{NOISE}</h3><span>Nothing to see here</span></div>"
    page = (
        f"<main><div><h1>Ferry</h1>{TEXT * 4}</div>{{}}<section><h2>On</h2>{TEXT}</section></main>"
    )
    assert NOISE not in text_of_body(page.format(box))
    kept = box.replace("</div>", f"{TEXT}</div>")
    assert NOISE in text_of_body(page.format(kept))


def test_footnotes_stay_whatever_the_second_opinion_is():
    note = '<div><p>Of two ropes the older <a href="#ref1">back</a></p></div>'
    assert "Of two ropes the older" in text_of(f"{TEXT}{note}{TEXT}")


def test_notes_in_an_aside_without_a_name_are_text():
    note = '<aside><aside role="doc-footnote"><p>Of two ropes the older.</p></aside></aside>'
    assert "Of two ropes the older." in text_of(note)


@pytest.mark.parametrize(
    "body",
    [
        "".join(f"<div id=p{n} class=c{n}>t</div>" for n in range(4_000)),
        "<h2>" + "<button>a b c d</button>" * 8_000 + "</h2>",
        "<p>" + "<a href=/x>b</a>" * 8_000 + "</p>",
        "<div>cookie" * 1_500 + "</div>" * 1_500,
        TEXT * 50 + "<div></div>" * 8_000,
    ],
    ids=["numbers", "buttons", "links", "deep", "empty ends"],
)
def test_pages_of_one_thing_are_no_trouble(body):
    html = f"<html><head><title>Ferry</title></head><body><h1>Ferry</h1>{body}</body></html>"
    extract(PageSource("https://a.example/x", "text/html", html), "clean", None)
