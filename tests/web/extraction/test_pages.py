"""Text and Markdown of HTML pages."""

import json

import pytest
from web.extraction.reading import page, read

DOCS = """
<nav><a href="/">Home</a> <a href="/docs">Docs</a></nav>
<main><h1>Installing<a class="headerlink" href="#i">\N{PILCROW SIGN}</a></h1>
<p>Read <a href="../first.html?a=1&amp;b=2">this</a> before you begin, since it saves an hour.</p>
<figure><table><thead><tr><th>Key</th><th>Value</th></tr></thead>
<tr><td>port</td><td>9055</td></tr><tr><td>a | b</td><td>2</td></tr></table></figure>
<div class="tabs"><div role="tab" id="t1">Python</div><div role="tab" id="t2">Shell</div>
<div role="tabpanel" aria-labelledby="t1"><pre><code class="language-python">def f():
    return 1</code></pre></div>
<div role="tabpanel" aria-labelledby="t2" hidden><div class="highlight-sh"><pre>if true; then
    echo hi
fi</pre></div></div></div>
<table><tr><td><p>Some <i>inline</i> words and <i>more</i> of them.</p>
<p>The tail.</p></td></tr></table>
<ul><li>One<ul><li>Inside</li></ul></li><li>Two</li></ul>
<h2>Next steps</h2><p>Go on <img src="p.png" alt="a picture"> with care.</p></main>
<footer>All rights reserved</footer>
"""


def test_markdown_keeps_links_tables_code_and_both_tabs():
    made = read(page(DOCS), "markdown")
    text = made["text"]
    for wanted in (
        "# Installing\n",
        "[this](https://pages.example/first.html?a=1&b=2)",
        "| port | 9055 |",
        "| a \\| b | 2 |",
        "```python\ndef f():\n    return 1\n```",
        "*Hidden tab: Shell*\n\n```sh\nif true; then\n    echo hi\nfi\n```",
        "Some *inline* words and *more* of them.",
        "The tail.",
        "- One\n",
        "- Two",
        "## Next steps",
        "![a picture](https://pages.example/docs/p.png)",
    ):
        assert wanted in text
    for unwanted in ("Home", "rights", "\N{PILCROW SIGN}"):
        assert unwanted not in text
    assert made["title"] == "A page"
    assert made["flags"] == made["notes"] == []


def test_clean_is_the_same_without_links_and_pictures():
    text = read(page(DOCS), "clean")["text"]
    assert "Read this before you begin" in text
    assert "    return 1" in text
    assert "| port | 9055 |" in text
    assert "](" not in text
    assert "picture" not in text


@pytest.mark.parametrize(
    ("html", "fence"),
    [
        ('<pre class="language-js">a</pre>', "```js\na\n```"),
        ('<pre class="lang-c++ prettyprint"><code>a</code></pre>', "```c++\na\n```"),
        ('<div class="highlight highlight-source-rust"><pre>a</pre></div>', "```rust\na\n```"),
        ('<pre data-lang="Go">a</pre>', "```go\na\n```"),
        ('<pre><code class="x"><span>a</span> <b>b</b>\n  c</code></pre>', "```\na b\n  c\n```"),
        ("<pre>one<br>two</pre>", "```\none\ntwo\n```"),
        (
            '<pre><code><div class="line">a</div><div class="line">  b</div></code></pre>',
            "```\na\n  b\n```",
        ),
        ('<pre><span class="lineno">1</span>a</pre>', "```\na\n```"),
        ("<pre>&lt;b&gt; &amp;amp;</pre>", "```\n<b> &amp;\n```"),
    ],
)
def test_code_has_its_lines_and_its_language(html, fence):
    words = "<p>What follows is code that somebody may want to run on their own machine.</p>"
    assert fence in read(page(words + html), "markdown")["text"]


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("/a", "[x](https://pages.example/a)"),
        ("//b.example/a", "[x](https://b.example/a)"),
        ("?q=1", "[x](https://pages.example/docs/page.html?q=1)"),
        ("mailto:a@b.example", "[x](mailto:a@b.example)"),
        ("data:text/plain,hi", "x"),
        ("http://[bad", "x"),
    ],
)
def test_links_are_absolute(address, shown):
    words = "A sentence that is long enough for a page, with a link behind it: "
    text = read(page(f'<p>{words}<a href="{address}">x</a></p>'), "markdown")["text"]
    assert text.endswith(f"behind it: {shown}")


def test_a_base_moves_links():
    head = '<base href="https://other.example/x/">'
    made = read(page('<p>Words around a link: <a href="a">x</a></p>', head), "markdown")
    assert "https://other.example/x/a" in made["text"]


def test_a_heading_outside_of_the_main_part_is_kept():
    body = "<header><h1>What it is about</h1></header><main>" + "<p>Much text here.</p>" * 30
    assert read(page(body + "</main>"))["text"].startswith("# What it is about\n")


def test_posts_of_a_thread_are_all_kept():
    posts = "".join(
        f"<article><p>Post {n} says something of its own, at some length.</p></article>"
        for n in range(9)
    )
    text = read(page(f"<nav>Login</nav><div>{posts}</div>"))["text"]
    assert [f"Post {n} " in text for n in range(9)] == [True] * 9


def test_a_page_whose_parts_are_all_called_something_else_is_not_lost():
    words = "<p>A sentence that somebody wrote about the tide.</p>" * 20
    text = read(page(f'<div class="sidebar"><div class="related">{words}</div></div>'))["text"]
    assert text.count("about the tide") == 20


LONG = "<p>A paragraph that tells something about the harbour, and not too shortly.</p>" * 4


def test_a_long_post_does_not_hide_the_others():
    posts = [f"<article>{LONG * 3}</article>"]
    posts += [f"<article><p>Answer {n} is short and right.</p></article>" for n in range(3)]
    assert read(page("".join(posts)))["text"].count("is short and right") == 3


def test_a_part_with_the_first_heading_is_kept_whatever_it_is_called():
    body = f'<div class="banner"><h1>Tide tables</h1><p>For the old harbour.</p></div>{LONG * 3}'
    text = read(page(body))["text"]
    assert "# Tide tables\n\nFor the old harbour." in text


def test_what_has_no_paragraph_is_taken_off_the_ends_of_a_nameless_page():
    top, end = "Printed since the flood and sold on every corner", "Letters go to the editor"
    body = f"<div><div>{top}</div></div><div><div>{LONG}</div></div><div>{end}</div>"
    text = read(page(body))["text"]
    assert text.count("about the harbour") == 4
    assert top not in text
    assert end not in text


def test_posts_without_paragraphs_stay_at_the_ends():
    posts = [f"<div class=post><div class=by>Ida</div>{LONG}</div>"] * 2
    posts.append("<div class=post><div class=by>Per</div>A short answer without a paragraph</div>")
    assert "A short answer without a paragraph" in read(page("".join(posts)))["text"]


def test_a_page_of_plain_blocks_is_kept_whole():
    body = "".join(f"<div>Line {n} of a page that knows no paragraphs</div>" for n in range(6))
    text = read(page(body))["text"]
    assert [f"Line {n} " in text for n in range(6)] == [True] * 6


def test_texts_that_differ_by_their_numbers_alone_are_furniture():
    cells = "".join(
        f"<table><tr><td><div>Joined in {1990 + n}, posts so far {n * 7}</div></td>"
        f"<td><p>Post {n} says something that nobody else has said.</p></td></tr></table>"
        for n in range(4)
    )
    text = read(page(cells))["text"]
    assert "Joined" not in text
    assert text.count("says something") == 4


def test_rows_of_data_may_be_alike():
    rows = "".join(f"<tr><td>{n}</td><td>open from {n} to 17 every day</td></tr>" for n in (8, 9))
    text = read(page(f"{LONG}<table><tr><th>No</th><th>When</th></tr>{rows}</table>"))["text"]
    assert "| 9 | open from 9 to 17 every day |" in text


def test_a_list_of_links_without_a_name_is_navigation():
    links = "".join(f'<li><a href="/{n}">Entry {n}</a></li>' for n in range(9))
    text = read(page(f"<ul>{links}</ul><h1>About</h1>{LONG}"))["text"]
    assert "Entry 3" not in text
    assert "# About" in text


def test_a_list_of_definitions_is_readable():
    body = "<p>Words.</p><dl><dt>Aft</dt><dd>At the back.</dd><dt>Lee</dt><dd>No wind.</dd></dl>"
    text = read(page(body), "clean")["text"]
    assert "**Aft**\n\nAt the back.\n\n**Lee**\n\nNo wind." in text


def test_a_small_page_is_no_page_without_text():
    body = (
        "<h1>Example Domain</h1><p>This domain may be used in documents without asking anybody.</p>"
    )
    made = read(page(body))
    assert made["text"] == (
        "# Example Domain\n\nThis domain may be used in documents without asking anybody."
    )
    assert made["flags"] == []


MENU = "".join(f'<li><a href="/{n}">Menu entry {n}</a></li>' for n in range(120))


def test_a_shell_gives_the_text_in_its_data():
    paragraphs = [f"<p>Paragraph {n} tells more than a few words of it.</p>" for n in range(30)]
    data = json.dumps({"page": {"body": paragraphs, "id": "x" * 70_000}})
    body = f'<ul>{MENU}</ul><div id="root"></div><script>window.__DATA__ = {data};</script>'
    made = read(page(body))
    assert made["flags"] == ["needs_browser"]
    assert made["text"].startswith("Paragraph 0 tells more than a few words of it.\n\nParagraph 1 ")
    assert "x" * 100 not in made["text"]
    assert any("%" in note and "browser" in note for note in made["notes"])


@pytest.mark.parametrize(
    "body",
    [
        "<p>Please enable JavaScript</p>",
        "<noscript>You need to enable JavaScript to run this app.</noscript><div id=app></div>",
        '<div id="root"></div><script src="/app.js"></script>',
        f'<nav><ul>{MENU}</ul></nav><div id="__next"></div>',
        "<p>JavaScript is disabled in your browser.</p>",
    ],
)
def test_a_page_that_needs_a_browser_says_so(body):
    assert "needs_browser" in read(page(body))["flags"]


def test_a_page_about_scripts_does_not_need_a_browser():
    words = "You have to enable JavaScript in the settings of the browser before you begin. " * 12
    assert read(page(f"<p>{words}</p>"))["flags"] == []


@pytest.mark.parametrize("body", ["", "<p>Ok</p>", "<p> </p><img src=x>"])
def test_hardly_any_text_is_said(body):
    made = read(page(body))
    assert made["flags"] == ["too_little_text"]
    assert made["notes"]


@pytest.mark.parametrize(
    "text", ["", " ", "\0", "<", "<!--", "<html", "text only, and nothing else"]
)
@pytest.mark.parametrize("mode", ["clean", "markdown"])
def test_fragments_are_no_errors(text, mode):
    made = read(text, mode)
    assert ("text only" in made["text"]) == ("text only" in text)


def test_the_whole_page_is_read_where_rules_and_readability_find_nothing():
    links = "".join(f'<p><a href="/{n}">Entry number {n} of a long list</a></p>' for n in range(40))
    made = read(page(links), "markdown")
    assert "[Entry number 39 of a long list](https://pages.example/39)" in made["text"]


def thread(closing, *, posts=4, rows=1):
    """A thread without any telling name, and what stands behind its last post."""
    told = "Member {n}, {n}0 letters, {n} thanks"
    texts = [f"Answer {n} is about the harbour crane and how it is oiled." for n in range(posts)]
    made = "".join(
        f"<div class=q><div><span>{told.format(n=n + 1)}</span></div>"
        + ("</div><div class=r>" if rows == 2 else "")
        + f"<div><p>{text}</p></div></div>"
        for n, text in enumerate(texts)
    )
    body = f"<div><div><b>Oiling a crane</b>{made}</div>{closing}</div>"
    return read(page(body), "markdown")["text"], texts


@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize(
    "closing",
    [
        "<div><p>Here at the moment: some guests and a robot.</p></div>",
        "<table><tr><th>Here at the moment</th></tr><tr><td><p>some guests and a robot</p></table>",
        "<div><h4>Rules</h4><p>some guests and a robot may not write here</p></div>",
    ],
)
def test_what_closes_a_thread_is_left_out_and_its_last_post_is_not(closing, rows):
    text, posts = thread(closing, rows=rows)
    assert all(post in text for post in posts)
    assert "guests and a robot" not in text
    assert "Member" not in text


@pytest.mark.parametrize(
    "closing",
    [
        "<p>In short: oil it in spring.</p>",
        "<div><pre>oil --crane --spring</pre></div>",
        f"<div><p>{'In short: oil it in spring. ' * 15}</p></div>",
        "<table><tr><th>Oil</th><th>When</th></tr><tr><td>thin</td><td>in spring</td></tr></table>",
        "<blockquote><p>Oil it in spring.</p></blockquote>",
    ],
)
def test_what_says_something_behind_a_thread_stays(closing):
    text, posts = thread(closing)
    assert all(post in text for post in posts)
    assert "spring" in text


def test_a_last_post_of_whom_nothing_is_told_stays():
    _text, posts = thread("")
    guest = "<div class=q><div><p>I am a guest, and I oil it with butter.</p></div></div>"
    made = "".join(
        f"<div class=q><span>Member {n}, {n}0 letters, {n} thanks</span><p>{post}</p></div>"
        for n, post in enumerate(posts)
    )
    text = read(page(f"<div>{made}{guest}</div>"), "markdown")["text"]
    assert "oil it with butter" in text


def test_repeated_texts_inside_each_other_are_no_trouble():
    line = "<div><span><i>Member {n}, {n}0 letters, {n} thanks</i></span><p>Words of a post.</p>"
    made = "".join(f"{line.format(n=n)}</div>" for n in range(5))
    text = read(page(f"<div>{made}</div>"), "markdown")["text"]
    assert "Words of a post." in text
    assert "letters" not in text
