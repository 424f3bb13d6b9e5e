"""`/fetch`: fields, modes, and pages that are remembered."""

import asyncio
import json

import pytest
from sqlalchemy import select
from web.operations.pages import URL, Context, Pages, page

from cloxy_hookspecs import FetchError, InputError, MemoryReader, MemoryWriter
from cloxy_hookspecs.tables import memories
from cloxy_plugins.web.operations_fetch import create_fetch
from cloxy_plugins.web.operations_models import FetchInput

TEXT = "The harbour crane lifts 40 tonnes.\n\nIt was built in 1987."
HASH = "ab" * 32


@pytest.fixture
def app(cloxy_app):
    return cloxy_app()


def fetch(app, pages, **given):
    run = create_fetch(Context(pages, context=app.context))
    return app.do(run(FetchInput(**{"url": URL, **given})))


def kept(app):
    """Remembered documents: text, source, metadata and project of each."""
    rows = app.read(
        lambda c: c.execute(
            select(memories.c.content, memories.c.source, memories.c.extra, memories.c.project_id)
            .where(memories.c.origin == "document", memories.c.state == "active")
            .order_by(memories.c.id)
        ).all()
    )
    return [tuple(row) for row in rows]


def test_fields_of_a_clean_page(app):
    read = page(TEXT, title="Crane", removed={"script": 2}, sha256=HASH, notes=("a note",))
    answer = json.loads(fetch(app, {URL: read}).model_dump_json())
    assert answer == {
        "url": URL,
        "final_url": URL,
        "status": 200,
        "mode": "clean",
        "from_cache": False,
        "fetched_at": "2026-01-01T00:00:00.000Z",
        "content": TEXT,
        "length": len(TEXT),
        "title": "Crane",
        "media_type": "text/html",
        "charset": "utf-8",
        "truncated": False,
        "flags": [],
        "removed": {"script": 2},
        "notes": ["a note"],
        "sha256": HASH,
    }


def test_raw_has_no_length_and_extract_has_matches(app):
    found = page("one\n\ntwo", matches=("one", "two"))
    raw = json.loads(fetch(app, {URL: found}, mode="raw").model_dump_json())
    assert raw.keys().isdisjoint({"length", "matches", "elements", "remembered"})
    extract = json.loads(fetch(app, {URL: found}, mode="extract", selector="p").model_dump_json())
    assert (extract["length"], extract["matches"]) == (8, 2)
    assert extract["elements"] == ["one", "two"]


def test_what_was_asked_reaches_the_reader(app):
    pages = Pages({URL: page(TEXT)})
    fetch(app, pages, mode="extract", selector="main p", headers={"X-One": "1"})
    request = pages.asked[0]
    assert (request.url, request.mode, request.selector) == (URL, "extract", "main p")
    assert request.headers == {"X-One": "1"}


@pytest.mark.parametrize("mode", ["fancy", "", "CLEAN", "x" * 1000])
def test_unknown_mode_is_refused_before_anything_is_fetched(app, mode):
    pages = Pages({})
    with pytest.raises(InputError, match="Unknown mode") as refused:
        fetch(app, pages, mode=mode)
    assert (refused.value.http_status, pages.asked) == (400, [])


def test_failure_is_passed_on(app):
    with pytest.raises(FetchError):
        fetch(app, {}, remember=True)
    assert kept(app) == []


def test_nothing_is_remembered_unasked(app):
    assert fetch(app, {URL: page(TEXT)}).remembered is None
    assert kept(app) == []


def test_remembered_page_has_its_address_time_and_hash(app):
    final = "https://example.com/there?a=1"
    read = page(TEXT, title="Crane", sha256=HASH, final_url=final)
    answer = fetch(app, {URL: read}, remember=True)
    assert answer.remembered.added == 1
    assert answer.remembered.source == "web:example.com"
    ((content, source, extra, project),) = kept(app)
    assert (content, source, project) == (TEXT, "web:example.com:chunk0", None)
    assert extra == {
        "url": final,
        "title": "Crane",
        "fetched_at": "2026-01-01T00:00:00.000Z",
        "sha256": HASH,
        "mode": "clean",
        "media_type": "text/html",
        "truncated": False,
    }


def test_same_bytes_are_kept_once_whatever_the_mode(app):
    first = fetch(app, {URL: page(TEXT, sha256=HASH)}, remember=True).remembered
    again = fetch(app, {URL: page(TEXT, sha256=HASH)}, remember=True)
    marked = fetch(app, {URL: page(f"# {TEXT}", sha256=HASH)}, mode="markdown", remember=True)
    assert again.remembered.ids == marked.remembered.ids == first.ids
    assert (again.remembered.added, marked.remembered.added) == (0, 0)
    assert "already" in again.notes[0]
    assert len(kept(app)) == 1


def test_a_page_that_changed_is_kept_beside_what_it_was(app):
    fetch(app, {URL: page(TEXT, sha256=HASH)}, remember=True)
    fetch(app, {URL: page(TEXT + " New.", sha256="cd" * 32)}, remember=True)
    assert len(kept(app)) == 2


def test_a_part_is_not_the_whole(app):
    fetch(app, {URL: page(TEXT, sha256=HASH)}, remember=True)
    part = page("It was built in 1987.", sha256=HASH)
    options = {"mode": "extract", "selector": "p", "remember": True}
    assert fetch(app, {URL: part}, **options).remembered.added == 1
    assert fetch(app, {URL: part}, **options).remembered.added == 0
    assert [row[2].get("selector") for row in kept(app)] == [None, "p"]


def test_projects_have_their_own(app):
    for project, added in (("/srv/shop", 1), ("/srv/shop", 0), (None, 1), ("/srv/other", 1)):
        answer = fetch(app, {URL: page(TEXT, sha256=HASH)}, remember=True, project=project)
        assert answer.remembered.added == added
    assert len({row[3] for row in kept(app)}) == 3


def test_forgotten_page_can_be_kept_again(app):
    ids = fetch(app, {URL: page(TEXT, sha256=HASH)}, remember=True).remembered.ids
    writer = app.context.service(MemoryWriter)
    app.do(writer.forget_source("web:example.com"))
    assert kept(app) == []
    again = fetch(app, {URL: page(TEXT, sha256=HASH)}, remember=True).remembered
    assert (again.added, len(again.ids)) == (1, len(ids))


def test_secrets_of_a_page_are_not_kept(app):
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
    text = f"Set the token {secret} in the file.\n<private>not this</private>"
    address = f"https://example.com/a?sig={secret}"
    answer = fetch(app, {URL: page(text, final_url=address)}, remember=True)
    assert answer.remembered.added == 1
    stored = str(kept(app))
    assert secret not in stored
    assert "not this" not in stored


@pytest.mark.parametrize("text", ["", " \n", "<private>all of it</private>"])
def test_a_page_of_which_nothing_is_left_is_answered_all_the_same(app, text):
    answer = fetch(app, {URL: page(text)}, remember=True)
    assert (answer.remembered.ids, answer.content) == ([], text)
    assert "remembered" in answer.notes[-1]
    assert app.do(app.context.service(MemoryReader).total()) == 0


def test_raw_is_not_remembered(app):
    pages = Pages({URL: page(TEXT)})
    with pytest.raises(InputError, match="raw"):
        fetch(app, pages, mode="raw", remember=True)
    assert pages.asked == []


def test_an_address_as_host_names_one_segment(app):
    read = page(TEXT, final_url="https://[2606:2800:21f::1]:8443/a")
    assert fetch(app, {URL: read}, remember=True).remembered.source == "web:2606.2800.21f..1"


def test_long_page_is_several_memories_of_one_source(app):
    text = "\n\n".join(f"Paragraph {n} tells of cranes and quays. " * 8 for n in range(20))
    answer = fetch(app, {URL: page(text, sha256=HASH)}, remember=True)
    rows = kept(app)
    assert len(rows) == answer.remembered.added > 3
    assert (
        "".join(row[0] for row in rows) == text.rstrip() or "".join(row[0] for row in rows) == text
    )
    assert fetch(app, {URL: page(text, sha256=HASH)}, remember=True).remembered.ids == (
        answer.remembered.ids
    )


def test_two_at_once_keep_it_once(app):
    run = create_fetch(Context({URL: page(TEXT, sha256=HASH)}, context=app.context))

    async def both():
        given = FetchInput(url=URL, remember=True)
        return await asyncio.gather(run(given), run(given))

    answers = app.do(both())
    assert sorted(answer.remembered.added for answer in answers) == [0, 1]
    assert len(kept(app)) == 1
