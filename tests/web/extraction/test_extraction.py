"""Chains of records, in processes of their own."""

import asyncio
import logging

import pytest

from cloxy_core.runtime.processes import ProcessLimits
from cloxy_core.services.web.extraction import Extraction
from cloxy_hookspecs import (
    ExtractorProvider,
    FetchBusyError,
    FetchError,
    InputError,
    MissingExtraError,
    PageSource,
    SanitizerProvider,
    UnsupportedMediaError,
)
from cloxy_plugins.web.plugin import cloxy_extractors, cloxy_sanitizers

pytestmark = pytest.mark.process
ODD = "web.extraction.odd_plugins"
SOURCE = PageSource("https://a.example/x", "text/html", "<p>page</p>")
MODES = ("clean", "markdown", "extract")


def sanitizer(name, order=0, media_types=("text/html",)):
    return SanitizerProvider(
        name=name.replace("_", "-"),
        summary="Odd",
        order=order,
        media_types=media_types,
        target=f"{ODD}:{name}",
    )


def extractor(name, order=0, media_types=("text/",), modes=MODES, extra=None, target=None):
    return ExtractorProvider(
        name=name,
        summary="Odd",
        order=order,
        media_types=media_types,
        modes=modes,
        extra=extra,
        target=target or f"{ODD}:{name}",
    )


def made(sanitizers, extractors, source=SOURCE, mode="clean", selector=None, seconds=60.0):
    async def scenario():
        limits = ProcessLimits(seconds=seconds)
        extraction = Extraction(sanitizers, extractors, logging.getLogger("web-test"), limits)
        try:
            return await extraction.extract(source, mode, selector)
        finally:
            await extraction.aclose()
            assert not extraction.pids

    return asyncio.run(scenario())


def test_sanitizers_follow_each_other_and_counts_add_up():
    found, removed = made(
        [sanitizer("add_b", 2), sanitizer("shout", 1)], [extractor("plain")], selector="s"
    )
    assert found.text == "<P>PAGE</P>b"
    assert found.title == "title"
    assert found.notes == ("clean s https://a.example/x",)
    assert removed == {"small": 3}


def test_sanitizers_of_other_types_and_for_elements_are_not_asked():
    chain = [sanitizer("shout", media_types=("text/plain", "image/", "+json"))]
    assert made(chain, [extractor("plain")])[0].text == "<p>page</p>"
    chain = [sanitizer("shout")]
    assert made(chain, [extractor("plain")], mode="extract")[0].text == "<p>page</p>"


@pytest.mark.parametrize(
    ("media_types", "takes"),
    [
        (("text/html",), True),
        (("text/",), True),
        (("text/htm",), False),
        (("+html",), False),
        (("application/", "text/plain"), False),
    ],
)
def test_the_first_extractor_that_takes_it_and_does_not_decline(media_types, takes):
    chain = [
        extractor("decline", 0),
        extractor("flagged", 1, media_types),
        extractor("plain", 2),
        extractor("fail", 3),
    ]
    assert (made([], chain)[0].text == "x ?") is takes


def test_a_suffix_takes_its_types():
    source = PageSource("u", "application/hal+json", "{}")
    assert made([], [extractor("plain", media_types=("+json",))], source)[0].text == "{}"


def test_unknown_flags_and_halves_of_characters_are_dropped():
    found, _ = made([], [extractor("flagged")])
    assert found.flags == {"needs_browser"}
    assert found.text == "x ?"


def test_bytes_reach_an_extractor_of_their_type():
    chain = [extractor("binary", media_types=("application/x-odd",))]
    extraction = Extraction([], [*chain, extractor("plain")], logging.getLogger("web-test"))
    assert extraction.binary_types == {"application/x-odd"}
    source = PageSource("u", "application/x-odd", "", b"\x00\xff")
    assert made([], chain, source)[0].text == "00ff"


def test_an_extractor_that_fails_is_named_and_passed_over(caplog):
    assert made([], [extractor("fail"), extractor("wrong", 1), extractor("plain", 2)])
    assert "the extractor 'fail' failed: LookupError: cannot cope with text/html" in caplog.text
    assert "the extractor 'wrong' failed: it returned a str" in caplog.text


def test_a_page_that_no_extractor_can_read_names_the_first_that_failed():
    with pytest.raises(FetchError, match="extractor 'fail' failed"):
        made([], [extractor("fail"), extractor("decline", 1)])


def test_a_page_that_a_sanitizer_cannot_clean_is_not_shown():
    for name in ("fail", "wrong"):
        with pytest.raises(FetchError, match=f"sanitizer '{name}' failed"):
            made([sanitizer(name)], [extractor("plain")])


def test_a_refusal_keeps_its_kind_and_its_hint():
    with pytest.raises(InputError, match="not that one") as caught:
        made([], [extractor("refuse"), extractor("plain", 1)])
    assert caught.value.hint == "this one"
    assert caught.value.http_status == 400


def test_a_type_that_nothing_takes():
    with pytest.raises(UnsupportedMediaError, match="text/html"):
        made([], [extractor("plain", media_types=("text/csv",))])


def test_a_package_that_is_missing_is_named_with_its_extra():
    missing = extractor("pdf", extra="pdf", target="no_such_package_of_ours:extract")
    with pytest.raises(MissingExtraError, match="no_such_package_of_ours") as caught:
        made([], [missing])
    assert caught.value.hint == "pip install 'cloxy[pdf]'"


def test_a_target_that_cannot_be_imported_is_a_fault():
    with pytest.raises(FetchError, match="ModuleNotFoundError"):
        made([], [extractor("gone", target="no_such_package_of_ours:extract")])


def test_a_page_that_ends_its_process():
    with pytest.raises(FetchError, match="ended the process"):
        made([], [extractor("die")])


def test_a_page_that_takes_too_long():
    with pytest.raises(FetchError, match=r"too expensive.*0\.5 seconds") as caught:
        made([], [extractor("never")], seconds=0.5)
    assert "raw" in caught.value.hint


def test_pages_that_wait_too_long_may_be_asked_for_again():
    async def scenario():
        limits = ProcessLimits(seconds=0.8)
        extraction = Extraction([], [extractor("never")], logging.getLogger("web-test"), limits)
        jobs = [extraction.extract(SOURCE, "clean", None) for _ in range(6)]
        found = await asyncio.gather(*jobs, return_exceptions=True)
        await extraction.aclose()
        with pytest.raises(FetchBusyError, match="shutting down"):
            await extraction.extract(SOURCE, "clean", None)
        return found

    kinds = {type(each) for each in asyncio.run(scenario())}
    assert kinds == {FetchError, FetchBusyError}
    assert FetchBusyError.http_status == 503
    assert FetchBusyError.retryable


# Ones that a parser is not done with in any time, and ones that it must get over.
ENDLESS = {
    "nested blocks": ("<div>" * 100_000, "clean", None),
    "nested lists": ("<ul><li>" * 60_000, "markdown", None),
    "attributes": ("<p " + " ".join(f"a{n}=b" for n in range(62_500)) + ">x", "clean", None),
    "a selector on deep nesting": (
        ("<div>" * 300 + "x" + "</div>" * 300) * 60,
        "extract",
        ":has(* * * * zz)",
    ),
}
ODD_PAGES = {
    "comments": "<!--" * 125_000,
    "closing tags": "</div>" * 83_333,
    "ampersands": "&" * 500_000,
    "less than": "<" * 500_000,
    "a script": "<script>" + "<" * 500_000,
    "null bytes": "\0" * 500_000,
    "spaces": " " * 500_000,
    "marks of Markdown": "*_`[" * 125_000,
    "one attribute": "<p a='" + "x" * 500_000 + "'>",
    "options": "<select><option>" * 31_250,
}


@pytest.fixture(scope="module")
def cloxys():
    """Everything that comes with Cloxy, within its own limits."""
    runner = asyncio.Runner()
    extraction = Extraction(
        list(cloxy_sanitizers()), list(cloxy_extractors()), logging.getLogger("web-test")
    )

    def extract(text, mode, selector=None):
        source = PageSource("https://a.example/", "text/html", text)
        return runner.run(extraction.extract(source, mode, selector))[0]

    yield extract
    runner.run(extraction.aclose())
    runner.close()


@pytest.mark.slow
@pytest.mark.parametrize("name", ENDLESS)
def test_hostile_pages_are_given_up_and_the_next_is_read(cloxys, name):
    with pytest.raises(FetchError, match=r"too expensive|ended the process"):
        cloxys(*ENDLESS[name])
    assert cloxys("<p>the next page</p>", "clean").text == "the next page"


@pytest.mark.slow
@pytest.mark.parametrize("name", ODD_PAGES)
@pytest.mark.parametrize("mode", ["clean", "markdown"])
def test_odd_pages_end_soundly(cloxys, name, mode):
    try:
        assert isinstance(cloxys(ODD_PAGES[name], mode).text, str)
    except FetchError as error:  # a slow machine
        assert "too expensive" in str(error)
    assert cloxys("<p>the next page</p>", "clean").text == "the next page"
