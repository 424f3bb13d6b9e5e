"""Plain text, Markdown, JSON, XML, feeds and PDF."""

import base64
import sys

import pytest
from web.extraction.pdf_files import pdf
from web.extraction.reading import job, read, refused

from cloxy_core.services.web.chain import run

RSS = """<?xml version="1.0" encoding="windows-1251"?>
<rss xmlns:content="http://purl.org/rss/1.0/modules/content/"><channel><title>Harbour news</title>
<description>What happens</description>
<item><title>Ferry &amp; fog</title><link>https://h.example/1</link><pubDate>Mon, 2 June</pubDate>
<description>short</description>
<content:encoded><![CDATA[<p>No ferry <b>today</b>.<script>steal()</script></p>
<p hidden>x</p>]]></content:encoded>
</item><item><title>Second</title></item></channel></rss>"""
ATOM = """<feed xmlns="http://www.w3.org/2005/Atom"><title>Log</title>
<entry><title>One</title><link href="https://h.example/a"/><updated>2025-01-02</updated>
<author><name>Ida</name></author>
<content type="html">&lt;p&gt;Text of it&lt;/p&gt;</content></entry></feed>"""


@pytest.mark.parametrize("mode", ["clean", "markdown"])
def test_plain_text_is_kept_with_its_indentation(mode):
    text = "first\r\n    second\n\n\n<b>third</b> & more"
    made = read(text, mode, media_type="text/plain")
    assert made["text"] == "first\n    second\n\n\n<b>third</b> & more"
    assert made["flags"] == []


def test_markdown_has_the_title_of_its_first_heading():
    made = read("intro\n\n# Tool #\n\n```sh\nrun\n```\n", media_type="text/markdown")
    assert made["title"] == "Tool"
    assert "```sh\nrun\n```" in made["text"]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ('{"title":"T","a":[1,{"b":null}]}', '{\n  "title": "T",\n  "a": [\n    1,\n    {\n'),
        ('"Gr\\u00fc\\u00dfe"', '"Grüße"'),
        ('{"a":1}\n{"a":2}\n', '{"a":1}\n{"a":2}'),
        ("[" * 100_000, "[[["),
        ('{"half": "\\ud800"}', '{\n  "half": "?"'),
        ("", ""),
    ],
)
def test_json_is_readable(text, shown):
    assert read(text, media_type="application/json")["text"].startswith(shown)


def test_json_that_is_none_says_so():
    made = read("{oops", media_type="application/problem+json")
    assert made["text"] == "{oops"
    assert "JSON" in made["notes"][0]


def test_a_feed_is_a_list_of_its_entries():
    made = read(RSS, "clean", media_type="application/rss+xml")
    assert made["title"] == "Harbour news"
    assert made["text"] == (
        "# Harbour news\n\nWhat happens\n\n## Ferry & fog\n\nMon, 2 June, https://h.example/1\n\n"
        "No ferry **today**.\n\n## Second"
    )


def test_an_atom_feed():
    text = read(ATOM, "markdown", media_type="application/atom+xml")["text"]
    assert text == "# Log\n\n## One\n\n2025-01-02, Ida, https://h.example/a\n\nText of it"


def test_other_xml_is_an_outline():
    made = read('<a><b c="1">t &#169;</b><!-- no --><d>u</d></a>', media_type="text/xml")
    assert made["text"] == 'a\n  b c="1": t ©\n  d: u'


@pytest.mark.parametrize(
    "text",
    [
        '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>',
        '<!DOCTYPE a SYSTEM "http://127.0.0.1/x.dtd"><a/>',
        '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>',
        "<!DOCTYPE a ["
        + "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 30))
        + "]><a>&e29;</a>",
    ],
)
def test_types_and_entities_are_refused(text):
    made = refused(text, media_type="application/xml")
    assert "entities" in made["message"]
    assert "raw" in made["hint"]


def test_deep_xml_is_refused():
    assert "nested" in refused("<a>" * 5_000, media_type="application/xml")["message"]


def test_broken_xml_is_shown_as_it_is():
    made = read("<a><b></a>", media_type="application/xml")
    assert made["text"] == "<a><b></a>"
    assert made["notes"]


def pdf_page(data, reader=read):
    coded = base64.b64encode(data).decode()
    return reader("", media_type="application/pdf", data=coded)


def test_text_of_a_pdf():
    made = pdf_page(pdf("High water is at six in the morning, and low water at noon."))
    assert made["text"] == "High water is at six in the morning, and low water at noon."
    assert made["title"] == "Tide tables"
    assert made["flags"] == []


def test_a_pdf_of_pictures_says_so():
    assert pdf_page(pdf(""))["flags"] == ["too_little_text"]


@pytest.mark.parametrize("data", [b"%PDF-1.7\n", b"", b"%PDF-1.4\n" + b"\xff" * 2_000])
def test_a_damaged_pdf_is_refused(data):
    assert "damaged" in pdf_page(data, refused)["message"]


def test_a_cut_pdf_is_read_or_refused():
    whole = pdf("High water is at six in the morning, and low water at noon.")
    for length in range(10, len(whole), 97):
        coded = base64.b64encode(whole[:length]).decode()
        made = run(job("", media_type="application/pdf", data=coded))
        assert made["faults"] == []
        assert "text" in made or "damaged" in made["message"]


def test_an_encrypted_pdf_is_refused():
    assert "encrypted" in pdf_page(pdf("secret", encrypted=True), refused)["message"]


def test_a_pdf_without_the_library_names_the_extra(monkeypatch):
    monkeypatch.delitem(sys.modules, "cloxy_plugins.web.extract_pdf", raising=False)
    monkeypatch.setitem(sys.modules, "pypdf", None)
    made = pdf_page(b"%PDF-1.7", refused)
    assert made["refused"] == "extra"
    assert made["hint"] == "pip install 'cloxy[pdf]'"


@pytest.mark.parametrize("mode", ["clean", "markdown"])
def test_what_a_document_type_declares_is_no_text_of_the_page(mode):
    prose = "The ferry leaves the harbour at noon, and comes back in the evening. " * 4
    page = (
        '<?xml version="1.0"?>\n<!DOCTYPE html [\n<!ENTITY x SYSTEM "file:///etc/passwd">\n'
        '<!ENTITY y "told">\n]>\n<html xmlns="http://www.w3.org/1999/xhtml"><body>'
        f"<p>Before &x; after. {prose}</p></body></html>"
    )
    text = read(page, mode, media_type="application/xhtml+xml")["text"]
    assert text.startswith("Before &x; after. The ferry")
