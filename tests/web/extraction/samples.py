"""A source for each sanitizer and extractor that comes with Cloxy, and a text of it."""

from web.extraction.pdf_files import pdf

from cloxy_hookspecs import PageSource

URL = "https://pages.example/a/page"
WORDS = "High water is at six in the morning, and low water at noon."
ARTICLE = (
    f"<html><head><title>Tides</title></head><body><h1>Tides</h1>{f'<p>{WORDS}</p>' * 9}</body>"
)


def source(media_type, text, data=b""):
    return PageSource(URL, media_type, text, data)


PAGES = {
    "unseen": (source("text/html", f"<p>{WORDS}<b hidden>x</b></p><script>y</script>"), WORDS),
    "unseen-characters": (source("text/plain", "High\u200b water"), "High water"),
    "css": (source("text/html", ARTICLE), WORDS),
    "main-part": (source("text/html", ARTICLE), WORDS),
    "readability": (source("text/html", ARTICLE), WORDS),
    "whole-page": (source("text/html", ARTICLE), WORDS),
    "json": (source("application/json", f'{{"tide": "{WORDS}"}}'), WORDS),
    "xml": (source("text/xml", f"<tides><high>{WORDS}</high></tides>"), WORDS),
    "pdf": (source("application/pdf", "", pdf(WORDS)), WORDS),
    "text": (source("text/plain", WORDS), WORDS),
}
