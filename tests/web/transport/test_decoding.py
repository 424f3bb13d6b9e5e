"""Which bodies are text, and with which characters."""

import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cloxy_core.services.web.charsets import _CODECS, codec_of
from cloxy_core.services.web.decoding import _TAG, decoded
from cloxy_hookspecs import UnsupportedMediaError

HTML = b"<!doctype html><title>Page</title><p>Some text"
PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(64))


def of(body, content_type=None, **more):
    """Decode a body that came with a type."""
    return decoded({} if content_type is None else {"content-type": content_type}, body, **more)


TEXT = {
    "html": (HTML, "text/html", "text/html"),
    "capitals": (HTML, "TEXT/HTML;charset=utf-8;", "text/html"),
    "two types": (HTML, "text/html, image/png", "text/html"),
    "none": (HTML, None, "text/html"),
    "none, comments first": (b"<!-- a --> <!--b-->\n<HTML>", None, "text/html"),
    "none, words": (b"just words", None, "text/plain"),
    "none, xml": (b' <?xml version="1.0"?><a/>', None, "application/xml"),
    "nonsense": (HTML, "x/y\r\nX: z", "text/html"),
    "empty type": (HTML, "", "text/html"),
    "type without a slash": (b"words", "html", "text/plain"),
    "xhtml": (b"<html/>", "application/xhtml+xml", "application/xhtml+xml"),
    "json": (b'{"a": 1}', "application/json", "application/json"),
    "some json": (b"{}", "application/vnd.github+json", "application/vnd.github+json"),
    "feed": (b"<rss/>", "application/rss+xml", "application/rss+xml"),
    "markdown": (b"# A", "text/markdown", "text/markdown"),
    "script": (b"let a", "application/javascript", "application/javascript"),
    "words that begin like a program": (b"MZ is a prefix of letters", "text/plain", "text/plain"),
    "nothing": (b"", "text/html", "text/html"),
    "colours of a terminal": (b"\x1b[31mred\x1b[0m " * 20, "text/plain", "text/plain"),
}


@pytest.mark.parametrize(("body", "told", "media_type"), TEXT.values(), ids=TEXT)
def test_text(body, told, media_type):
    found = of(body, told)
    assert (found.media_type, found.text, found.data) == (media_type, body.decode(), b"")


NO_TEXT = {
    "png": (PNG, "image/png"),
    "png as html": (PNG, "text/html"),
    "png as nothing": (PNG, None),
    "html as png": (HTML, "image/png"),
    "html as pdf": (HTML, "application/pdf"),
    "html as anything": (HTML, "application/octet-stream"),
    "svg": (b"<svg><script>1</script></svg>", "image/svg+xml"),
    "pdf as html": (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3", "text/html"),
    "pdf as nothing": (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3", None),
    "program": (b"\x7fELF\x02\x01\x01" + bytes(20), "text/plain"),
    "other program": (b"MZ\x90\x00\x03" + bytes(20), "text/html"),
    "archive": (b"PK\x03\x04\x14\x00", "text/html"),
    "packed": (b"\x1f\x8b\x08\x00abc", "text/html"),
    "zeros": (b"a\x00\x00b\x00" * 200, "text/html"),
    "one zero": (b"text \x00 text", "text/plain"),
    "control characters": (b"\x01\x02\x03text" * 50, "text/plain"),
    "utf-32": ("text".encode("utf-32"), "text/plain"),
    "zip": (b"words", "application/zip"),
    "sound": (b"ID3\x03\x00", "text/plain"),
}


@pytest.mark.parametrize(("body", "told"), NO_TEXT.values(), ids=NO_TEXT)
def test_no_text(body, told):
    with pytest.raises(UnsupportedMediaError) as error:
        of(body, told)
    assert error.value.hint


PDF = b"%PDF-1.7\n%\xe2\xe3\xcf\xd3 body"


@pytest.mark.parametrize("told", ["application/pdf", "application/pdf; a=b", None])
def test_type_that_somebody_takes_is_given_as_it_came(told):
    found = of(PDF, told, others={"application/pdf"})
    assert (found.media_type, found.text, found.data) == ("application/pdf", "", PDF)


@pytest.mark.parametrize(
    ("body", "told"),
    [(HTML, "application/pdf"), (PDF, "text/html"), (b"see %PDF-1.7", "image/png")],
)
def test_type_that_somebody_takes_must_be_what_it_says(body, told):
    with pytest.raises(UnsupportedMediaError):
        of(body, told, others={"application/pdf"})


def test_text_about_a_type_is_no_such_type():
    assert of(b"a header is %PDF-1.7", None, others={"application/pdf"}).media_type == "text/plain"


DASH = "a \N{EM DASH} b"
RUSSIAN = "Привет, мир. Это страница о погоде в городе и о том, как она меняется за день."
JAPANESE = "日本語のページです。天気はよいです。"
META = '<meta charset="{}"><p>{}'
OLD_META = '<META http-equiv=Content-Type content="text/html; charset={}"><p>{}'
CHARACTERS = {
    "utf-8, meta": (META.format("utf-8", DASH).encode(), "text/html", DASH, "utf-8"),
    "utf-8, nothing": (f"<p>{DASH}".encode(), "text/html", DASH, "utf-8"),
    "1251, meta": (
        OLD_META.format("windows-1251", RUSSIAN).encode("cp1251"), "text/html", RUSSIAN,
        "windows-1251",
    ),
    "1251, nothing": (f"<p>{RUSSIAN}".encode("cp1251"), "text/html", RUSSIAN, "windows-1251"),
    "1251, header": (
        RUSSIAN.encode("cp1251"), "text/plain; charset=CP1251", RUSSIAN, "windows-1251",
    ),
    "shift_jis, meta": (
        META.format("Shift_JIS", JAPANESE).encode("cp932"), "text/html", JAPANESE, "shift_jis",
    ),
    "header latin-1, meta utf-8": (
        META.format("utf-8", DASH).encode(), "text/html; charset=iso-8859-1", DASH, "utf-8",
    ),
    "header latin-1, and it is": (
        "<p>für".encode("latin-1"), "text/html; charset=iso-8859-1", "für", "windows-1252",
    ),
    "mark beats header": (
        b"\xef\xbb\xbf" + DASH.encode(), "text/plain; charset=windows-1251", DASH, "utf-8",
    ),
    "utf-16 with a mark": (DASH.encode("utf-16"), "text/plain", DASH, "utf-16le"),
    "utf-16be with a mark": (
        b"\xfe\xff" + DASH.encode("utf-16-be"), "text/plain; charset=utf-8", DASH, "utf-16be",
    ),
    "utf-16 without": (
        "<p>plain".encode("utf-16-le"), "text/html; charset=utf-16", "plain", "utf-16le",
    ),
    "header beats meta": (
        META.format("windows-1251", "né").encode(), "text/html; charset=utf-8", "né", "utf-8",
    ),
    "xml": (
        '<?xml version="1.0" encoding="koi8-r"?><a>Привет</a>'.encode("koi8-r"), "text/xml",
        "Привет", "koi8-r",
    ),
    "meta of what it cannot be": (
        META.format("utf-16", DASH).encode(), "text/html", DASH, "utf-8",
    ),
    "quotes": (DASH.encode(), "text/html; charset='utf-8'", DASH, "utf-8"),
    "double quotes": (DASH.encode(), 'text/html; charset="UTF8"', DASH, "utf-8"),
    "gb2312": ("<p>中文网页".encode("gbk"), "text/html;charset=gb2312", "中文网页", "gb18030"),
    "euc-kr": ("<p>한국어".encode("cp949"), "text/html;charset=euc-kr", "한국어", "euc-kr"),
}  # fmt: skip


@pytest.mark.parametrize(("body", "told", "text", "charset"), CHARACTERS.values(), ids=CHARACTERS)
def test_characters(body, told, text, charset):
    found = of(body, told)
    assert text in found.text
    assert found.charset == charset
    assert "\ufeff" not in found.text


NO_CHARSETS = [
    "punycode", "idna", "zlib", "bz2", "hex", "rot13", "uu", "base64", "unicode_escape",
    "raw_unicode_escape", "utf-7", "undefined", "utf-16", "utf-32", "mbcs", "cp037", "hz",
    "iso2022_kr", "no-such-charset", "utf-8\x00x", "x-user-defined", "utf-8, utf-16", "x" * 4_000,
    "", "=", ";", "utf-8;charset=punycode",
]  # fmt: skip
LONG = (f"<p>{DASH} +AGEAYg- \\u003cscript\\u003e " * 20_000).encode()[:400_000]


@pytest.mark.parametrize("label", NO_CHARSETS, ids=lambda label: ascii(label[:20]))
def test_label_that_is_no_encoding_of_pages(label):
    found = of(LONG, f"text/html; charset={label}")
    assert found.charset == "utf-8"
    assert found.text[:200] == LONG.decode("utf-8", "replace")[:200]


def high(count):
    chosen = random.Random(7)
    return bytes(chosen.randrange(128, 256) for _ in range(count))


EXPENSIVE = {
    "open tags": b"\xe4<" * 200_000,
    "comments": b"<!---->" * 60_000,
    "open comment": b"<!--" * 100_000,
    "spaces": b" " * 400_000,
    "spaces and bytes": b" \xe4" * 200_000,
    "meta": b"<meta " * 60_000,
    "declaration": b"<?xml " * 60_000,
    "no characters": high(400_000),
    "doctype": b"<!doctype" + b" " * 400_000,
    "lead bytes": b"\xe0" * 400_000,
}


@pytest.mark.parametrize("told", [None, "text/html", "text/html; charset=gb18030"])
@pytest.mark.parametrize("body", EXPENSIVE.values(), ids=EXPENSIVE)
def test_no_body_is_expensive(body, told):
    """Measured by the processor's time, with a limit that is ten times what it takes."""
    start = time.thread_time()
    found = of(body, told)
    assert time.thread_time() - start < 2.5
    assert found.text


def test_tags_are_found_in_one_pass():
    """What is looked at for a guess is short; the search itself must not be quadratic either."""
    start = time.thread_time()
    assert _TAG.sub(b" ", b"<" * 1_000_000) == b"<" * 1_000_000
    assert time.thread_time() - start < 5


def test_every_label_has_a_codec():
    assert len(_CODECS) > 200
    for label, codec in _CODECS.items():
        assert b"a b".decode(codec, "replace")
        assert codec_of(f" {label.upper()} ") == codec


@pytest.mark.parametrize("end", range(1, 4))
def test_body_that_was_cut_in_the_middle_of_a_character(end):
    body = "Wetter 🌧".encode()[:-end]
    found = of(body, None)
    assert found.charset == "utf-8"
    assert found.text.startswith("Wetter ")


@given(st.binary(max_size=200), st.text(max_size=40))
def test_any_body_under_any_type(body, told):
    try:
        found = of(body, told)
    except UnsupportedMediaError:
        return
    found.text.encode("utf-8", "strict")
