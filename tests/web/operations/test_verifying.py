"""`/verify`: passages, quotes, scores and figures; never a verdict."""

import asyncio

import pytest
from pydantic import ValidationError
from web.operations.pages import URL, Context, Model, Pages, page

from cloxy_hookspecs import BlockedURLError, FetchError, InputError, ModelError
from cloxy_plugins.web.operations_models import VerifyInput, VerifyOutput
from cloxy_plugins.web.operations_nearness import MOST_COMPARED, NO_MODEL
from cloxy_plugins.web.operations_verify import create_verify

OTHER = "https://example.org/other"
FILLER = " ".join(f"The {animal} sleeps near the old quay all day." for animal in ["cat"] * 20)
CRANE = "The harbour crane lifts 40 tonnes. It was built in 1987."
TEXT = f"# Harbour\n\n{FILLER}\n\n## Machines\n\n{CRANE}\n\n## Rest\n\n{FILLER}"
CLAIM = "The harbour crane lifts 60 tonnes"


def verify(pages, claim=CLAIM, model=None, *, context=None, **more):
    context = context or Context(pages, model)
    given = {"claim": claim, **more}
    if "urls" not in given:
        given.setdefault("url", URL)
    return asyncio.run(create_verify(context)(VerifyInput(**given)))


def test_planted_passage_is_first_with_its_score_and_place():
    answer = verify({URL: page(TEXT)}, model=Model({"crane": 0.912345678, "cat": 0.2}))
    first = answer.matches[0]
    assert CRANE in first.passage
    assert first.similarity == answer.best_similarity == 0.9123
    assert first.position_pct == round(100 * TEXT.index("## Machines") / len(TEXT), 1)
    assert TEXT[first.start : first.end] == first.passage
    assert first.quote == "The harbour crane lifts 40 tonnes."
    assert len(answer.matches) == 3
    assert answer.total_chunks_searched > 3
    assert (answer.url, answer.final_url, answer.claim) == (URL, URL, CLAIM)
    assert (answer.from_cache, answer.fetched_at) == (False, "2026-01-01T00:00:00.000Z")
    assert answer.note is None


def test_chunks_are_counted_in_the_order_of_the_page():
    answer = verify({URL: page(TEXT)}, model=Model({}), top_k=50)
    by_place = sorted(answer.matches, key=lambda match: match.start)
    assert [match.chunk_index for match in by_place] == list(range(answer.total_chunks_searched))


def test_order_is_that_of_the_model_not_of_the_words():
    answer = verify({URL: page(TEXT)}, model=Model({"cat": 0.8, "crane": 0.1}))
    assert "cat" in answer.matches[0].passage
    scores = [match.similarity for match in answer.matches]
    assert scores == sorted(scores, reverse=True)


def test_other_number_is_flagged_beside_the_score():
    first = verify({URL: page(TEXT)}, model=Model({"crane": 0.95})).matches[0]
    assert first.similarity == 0.95
    assert first.mismatch
    assert [(f.claim, f.status, f.page) for f in first.figures] == [
        ("60 tonnes", "different", ["40 tonnes"])
    ]


@pytest.mark.parametrize("claim", ["The crane lifts 40 t", "It was built in 1987", "It is tall"])
def test_what_does_not_differ_is_not_flagged(claim):
    first = verify({URL: page(TEXT)}, claim, Model({"crane": 0.95})).matches[0]
    assert not first.mismatch


def test_without_a_model_words_decide_and_the_answer_says_so():
    answer = verify({URL: page(TEXT)}, model=Model(None))
    assert CRANE in answer.matches[0].passage
    assert [match.similarity for match in answer.matches] == [None] * 3
    assert answer.best_similarity is None
    assert answer.note == NO_MODEL
    assert answer.matches[0].overlap > answer.matches[1].overlap
    assert answer.matches[0].quote == "The harbour crane lifts 40 tonnes."


def test_a_model_that_fails_is_like_none():
    answer = verify({URL: page(TEXT)}, model=Model(error=ModelError("broken")))
    assert (answer.matches[0].similarity, answer.note) == (None, NO_MODEL)


def test_no_verdict_in_any_field():
    schema = VerifyOutput.model_json_schema()
    names = {name for part in [schema, *schema["$defs"].values()] for name in part["properties"]}
    assert "similarity" in names
    for word in ("verdict", "support", "true", "confiden", "refute", "valid", "correct"):
        assert not any(word in name for name in names)


def test_empty_page_has_a_note_and_no_matches():
    answer = verify({URL: page(" \n ")}, model=Model({}))
    assert (answer.matches, answer.total_chunks_searched, answer.best_similarity) == ([], 0, None)
    assert answer.note.startswith("the page has no text")


@pytest.mark.parametrize(
    ("flag", "words"), [("needs_browser", "in a browser"), ("too_little_text", "too little text")]
)
@pytest.mark.parametrize("text", ["", "Loading the harbour…"])
def test_too_little_to_see_is_said_and_held_against_no_claim(flag, words, text):
    answer = verify({URL: page(text, flags=frozenset({flag}))}, model=Model({"Loading": 0.3}))
    assert words in answer.note
    assert "says nothing about the claim" in answer.note
    assert answer.pages[0].flags == [flag]
    assert len(answer.matches) == bool(text)


def test_a_cut_page_says_so():
    assert "its end is missing" in verify({URL: page(TEXT, truncated=True)}, model=Model({})).note


def test_several_pages_are_ranked_together_and_each_fails_by_itself():
    pages = {
        URL: page(TEXT),
        OTHER: page("The harbour crane lifts 60 tonnes.", from_cache=True),
        "https://gone.test/": FetchError("the server of the page answered 404"),
        "http://10.0.0.1/": BlockedURLError("no", hint="look elsewhere"),
    }
    model = Model({"60 tonnes": 0.99, "crane": 0.9})
    answer = verify(pages, model=model, urls=list(pages), top_k=2)
    assert [(match.url, match.similarity) for match in answer.matches] == [
        (OTHER, 0.99),
        (URL, 0.9),
    ]
    assert [match.mismatch for match in answer.matches] == [False, True]
    assert (answer.url, answer.final_url, answer.from_cache, answer.fetched_at) == (None,) * 4
    told = {told.url: told for told in answer.pages}
    assert list(told) == list(pages)
    assert (told[OTHER].best_similarity, told[OTHER].chunks, told[OTHER].from_cache) == (
        0.99,
        1,
        True,
    )
    assert told[URL].error is None
    assert told["https://gone.test/"].error.code == "fetch"
    assert told["http://10.0.0.1/"].error.hint == "look elsewhere"
    assert answer.total_chunks_searched == told[URL].chunks + 1


def test_the_same_page_twice_is_one():
    pages = Pages({URL: page(TEXT)})
    answer = verify(pages, model=Model({}), urls=[URL, URL])
    assert len(answer.pages) == len(pages.asked) == 1


def test_no_page_could_be_read():
    answer = verify({}, urls=[URL])
    assert (answer.matches, answer.pages[0].error.code) == ([], "fetch")


def test_failure_of_the_only_page_is_the_answer():
    with pytest.raises(BlockedURLError):
        verify({URL: BlockedURLError("no")})


@pytest.mark.parametrize("given", [{"url": None}, {"url": URL, "urls": [URL]}, {"claim": " \n"}])
def test_what_is_no_question_is_refused(given):
    with pytest.raises(InputError):
        verify({URL: page(TEXT)}, **given)


@pytest.mark.parametrize(
    "given",
    [{"top_k": 0}, {"top_k": 51}, {"claim": ""}, {"urls": []}, {"urls": [URL] * 9}, {"url": ""}],
)
def test_fields_out_of_range_are_refused(given):
    with pytest.raises(ValidationError):
        verify({URL: page(TEXT)}, **given)


def test_of_a_long_page_those_with_most_words_are_compared_by_meaning():
    blocks = [f"## Part {number}\n\nNothing about it here." for number in range(MOST_COMPARED + 50)]
    blocks[-1] = f"## Machines\n\n{CRANE}"
    text = "\n\n".join(blocks)
    model = Model({"crane": 0.9})
    answer = verify({URL: page(text)}, model=model)
    assert len(model.asked[0][1]) == MOST_COMPARED
    assert answer.total_chunks_searched == MOST_COMPARED + 50
    assert "crane" in answer.matches[0].passage
    assert f"of {MOST_COMPARED + 50} passages" in answer.note


def test_quote_of_a_page_without_spaces():
    text = "港口很大。起重机可以吊起四十吨。灯塔是白色的。"
    answer = verify({URL: page(text)}, "起重机可以吊起六十吨", Model(None))
    assert answer.matches[0].quote == "起重机可以吊起四十吨。"
    assert answer.matches[0].quote in text
