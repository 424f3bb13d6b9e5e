"""Sanitizers and extractors that are wrong on purpose, each with the test that finds it out.

Not collected by itself: `test_kit_itself` runs it and looks at what fails.
"""

import re
from dataclasses import replace

from contract.cases import Cases

from cloxy_core.testing.conformance import ExtractorConformance, SanitizerConformance
from cloxy_hookspecs import Extracted, ExtractorProvider, PageSource, Sanitized, SanitizerProvider

CASES = Cases(__name__, "Page")
SOURCE = PageSource("https://a.example/", "text/html", "<p>keep this</p><b>bold</b>")


def without_bold(source, kind="bold"):
    text, count = re.subn("</?b>", "", source.text)
    return Sanitized(replace(source, text=text), {kind: count} if count else {})


def uncounted(source):
    return replace(without_bold(source), removed={})


def counts_nothing(source):
    return replace(without_bold(source), removed={"bold": 0, "b": 1})


def same_text(source):
    return Sanitized(source, {"bold": 1} if "<b>" in source.text else {})


def never_done(source):
    return Sanitized(replace(source, text=source.text + " "), {"space": 1})


def of_another_type(source):
    return Sanitized(replace(without_bold(source).source, media_type="text/plain"), {"bold": 1})


def afraid(source, mode=None, selector=None):
    if not source.text:
        raise ValueError("empty")
    return plain(source, mode, selector) if mode else without_bold(source)


def plain(source, mode, selector):
    return Extracted(source.text)


def only_clean(source, mode, selector):
    return Extracted(source.text) if mode == "clean" else None


def text_alone(source, mode, selector):
    return source.text


def flagged(source, mode, selector):
    flags = frozenset({"boring"}) if "deep" in source.text else frozenset()
    return Extracted(source.text, flags=flags)


def huge(source, mode, selector):
    return Extracted(source.text + "x" * 20_000_000 if source.text == SOURCE.text else "")


def sanitizer(test, name, module=__name__, media_types=("text/html",), **fixtures):
    record = SanitizerProvider(
        name="broken", summary="Wrong", media_types=media_types, target=f"{module}:{name}"
    )
    CASES.add(SanitizerConformance, test, record, sample=lambda self: SOURCE, **fixtures)


def extractor(test, name, module=__name__, media_types=("text/html",), **fixtures):
    record = ExtractorProvider(
        name="broken",
        summary="Wrong",
        modes=("clean", "markdown"),
        media_types=media_types,
        target=f"{module}:{name}",
    )
    given = {"sample": lambda self: SOURCE, "wanted": lambda self: "keep this", **fixtures}
    CASES.add(ExtractorConformance, test, record, **given)


sanitizer("test_target_is_a_function", "missing")
sanitizer("test_target_is_a_function", "f", module="no_such_package_of_ours")
sanitizer("test_sample_is_of_its_types", "without_bold", media_types=("text/plain",))
sanitizer("test_sample_is_cleaned_and_it_is_counted", "uncounted")
sanitizer("test_sample_is_cleaned_and_it_is_counted", "counts_nothing")
sanitizer("test_sample_is_cleaned_and_it_is_counted", "same_text")
sanitizer("test_sample_is_cleaned_and_it_is_counted", "of_another_type")
sanitizer("test_a_clean_source_stays_as_it_is", "never_done")
sanitizer("test_odd_sources_are_taken", "afraid")
extractor("test_target_is_a_function", "CASES")
extractor("test_sample_is_of_its_types", "plain", media_types=("+html",))
extractor("test_sample_is_read_in_every_mode", "only_clean")
extractor("test_sample_is_read_in_every_mode", "text_alone")
extractor("test_sample_is_read_in_every_mode", "plain", wanted=lambda self: "not there")
extractor("test_sample_is_read_in_a_process", "huge")
extractor("test_odd_sources_are_read_declined_or_refused", "afraid")
extractor("test_odd_sources_are_read_declined_or_refused", "flagged")
