"""What reads the web: sanitizers and extractors."""

import asyncio
import importlib
import logging
from collections.abc import Callable, Iterator, Sequence
from typing import Any, get_args

import pytest

from cloxy_core.runtime.processes import ProcessLimits
from cloxy_core.services.web.extraction import Extraction, takes
from cloxy_core.testing.conformance.base import Conformance
from cloxy_core.testing.conformance.samples import ODD_TEXTS
from cloxy_hookspecs import (
    CloxyError,
    Extracted,
    ExtractorProvider,
    PageFlag,
    PageSource,
    Sanitized,
    SanitizerProvider,
)
from cloxy_hookspecs.seats import EXTRACTORS, SANITIZERS

URL = "https://pages.example/a/page"
ODD_PAGES: Sequence[str] = (
    *ODD_TEXTS,
    "<p>one<p>two",
    "<!--",
    "<![CDATA[",
    "<script>",
    "</div></div>",
    "<div>" * 200 + "deep",
    "<p " + " ".join(f"a{number}=b" for number in range(500)) + ">x",
    "<a href='http://[bad'>x</a><img src=data:,x>",
    "<table><tr><td><table><td>a",
    "<pre><code>a\n  b</pre>",
    '{"a": [1, {"b": "\\ud800"}]}',
    "[" * 2_000,
    "<?xml version='1.0'?><a><b>c</b></a>",
    "<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>",
    "%PDF-1.7\n1 0 obj",
)
PATIENCE = ProcessLimits(seconds=60.0)


class _WebConformance(Conformance, of_the_kit=True):
    """What both have in common."""

    @pytest.fixture
    def sample(self) -> PageSource:
        """A source that it is meant for; give it in the subclass."""
        pytest.fail(f"{type(self).__name__}: give a fixture `sample`, a `PageSource` for it")

    def test_target_is_a_function(self, provider: SanitizerProvider | ExtractorProvider) -> None:
        """A process of its own finds it by `module:function`."""
        assert callable(function_of(provider))

    def test_sample_is_of_its_types(
        self, provider: SanitizerProvider | ExtractorProvider, sample: PageSource
    ) -> None:
        """Else it would never be asked."""
        assert takes(provider.media_types, sample.media_type)


class SanitizerConformance(_WebConformance, of_the_kit=True):
    """A sanitizer; `sample` has something that it takes out."""

    seat = SANITIZERS

    def test_sample_is_cleaned_and_it_is_counted(
        self, provider: SanitizerProvider, sample: PageSource
    ) -> None:
        """What is taken out is told by kind."""
        made = function_of(provider)(sample)
        assert_sanitized(made, sample)
        assert made.source.text != sample.text
        assert made.removed, "say what was taken out"

    def test_a_clean_source_stays_as_it_is(
        self, provider: SanitizerProvider, sample: PageSource
    ) -> None:
        """A second time there is nothing to take out."""
        once = function_of(provider)(sample).source
        again = function_of(provider)(once)
        assert not again.removed
        assert again.source == once

    def test_odd_sources_are_taken(self, provider: SanitizerProvider) -> None:
        """Nobody looks at them before."""
        for source in odd_sources(provider):
            assert_sanitized(function_of(provider)(source), source)


class ExtractorConformance(_WebConformance, of_the_kit=True):
    """An extractor; `wanted` is in the text of `sample`."""

    seat = EXTRACTORS

    @pytest.fixture
    def wanted(self) -> str:
        """A text that is found in what is made of `sample`; give it in the subclass."""
        pytest.fail(f"{type(self).__name__}: give a fixture `wanted`, a text of the sample")

    @pytest.fixture
    def selector(self) -> str | None:
        """What to ask for in mode `extract`."""
        return "body"

    def test_sample_is_read_in_every_mode(
        self, provider: ExtractorProvider, sample: PageSource, wanted: str, selector: str | None
    ) -> None:
        """It does not decline what it is meant for."""
        for mode in provider.modes:
            given = selector if mode == "extract" else None
            made = function_of(provider)(sample, mode, given)
            assert_extracted(made)
            assert wanted in made.text

    def test_sample_is_read_in_a_process(
        self, provider: ExtractorProvider, sample: PageSource, wanted: str, selector: str | None
    ) -> None:
        """With no more memory than a page may take, and nothing but its own module."""
        mode = provider.modes[0]

        async def read() -> Extracted:
            extraction = Extraction([], [provider], logging.getLogger(__name__), PATIENCE)
            try:
                given = selector if mode == "extract" else None
                return (await extraction.extract(sample, mode, given))[0]
            finally:
                await extraction.aclose()

        assert wanted in asyncio.run(read()).text

    def test_odd_sources_are_read_declined_or_refused(
        self, provider: ExtractorProvider, selector: str | None
    ) -> None:
        """Whatever the page: a text, None, or an error that a caller understands."""
        for source in odd_sources(provider):
            for mode in provider.modes:
                given = selector if mode == "extract" else None
                try:
                    made = function_of(provider)(source, mode, given)
                except CloxyError:
                    continue
                if made is not None:
                    assert_extracted(made)


def function_of(provider: SanitizerProvider | ExtractorProvider) -> Callable[..., Any]:
    """The function that a record names."""
    module, _, name = provider.target.partition(":")
    function: Callable[..., Any] = getattr(importlib.import_module(module), name)
    return function


def odd_sources(provider: SanitizerProvider | ExtractorProvider) -> Iterator[PageSource]:
    """Hard sources of one of the types of a record."""
    media_type = provider.media_types[0]
    if media_type.endswith("/"):
        media_type += "plain"
    elif media_type.startswith("+"):
        media_type = f"application/x{media_type}"
    for text in ODD_PAGES:
        # Decoding leaves no half of a pair.
        data = text.encode("utf-8", "replace")
        yield PageSource(URL, media_type, data.decode(), data)


def assert_sanitized(made: object, source: PageSource) -> None:
    """Check what a sanitizer returned."""
    assert isinstance(made, Sanitized)
    assert isinstance(made.source.text, str)
    same = (made.source.url, made.source.media_type) == (source.url, source.media_type)
    assert same, "a sanitizer changes neither the address nor the type"
    for kind, count in made.removed.items():
        assert isinstance(kind, str)
        assert isinstance(count, int)
        assert count > 0, "leave out what was not found"


def assert_extracted(made: object) -> None:
    """Check what an extractor returned."""
    assert isinstance(made, Extracted)
    for text in (made.text, made.title, *made.matches, *made.notes):
        assert isinstance(text, str)
    assert made.flags <= set(get_args(PageFlag)), "there are no other flags"
