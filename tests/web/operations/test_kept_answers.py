"""Reading pages leaves the kept parts of answers alone; what stores or erases drops them."""

import pytest
from web.operations.sites import Site, html

from cloxy_core.surfaces.mcp.endpoint import McpEndpoint
from cloxy_core.surfaces.mcp.pages import Kept
from cloxy_core.testing.harness import App
from cloxy_hookspecs import CloxyError

ADDRESS = "http://example.com/"
PROSE = "<p>The harbour crane lifts forty tonnes on a good day, and its people are proud.</p>" * 4


@pytest.fixture
def world(tmp_path):
    """Call an operation, and say whether an answer that was kept before is still there."""
    with (
        Site({"/": html(f"<main>{PROSE}</main>")}).running() as site,
        App(tmp_path, network=site.network("example.com")) as app,
    ):
        operations = {each.record.name: each for each in app.engine.operations}
        shelf = McpEndpoint(operations.values(), 1_000)._shelf

        def call(name, **values):
            shelf.put(Kept("id", "recall", {}, None, {}, []), shelf.cleared)
            assert shelf._kept
            output = app.do(operations[name].run(values))
            return output, bool(shelf._kept)

        yield call


def test_a_page_that_is_only_read_leaves_them(world):
    assert world("web-fetch", url=ADDRESS)[1]
    assert world("web-fetch", url=ADDRESS)[1], "from the cache"
    assert world("web-search", url=ADDRESS, pattern="crane")[1]


def test_a_page_that_is_stored_drops_them_and_one_that_is_known_does_not(world):
    output, is_kept = world("web-fetch", url=ADDRESS, remember=True)
    assert (output.remembered.added, is_kept) == (1, False)
    output, is_kept = world("web-fetch", url=ADDRESS, remember=True)
    assert (output.remembered.added, is_kept) == (0, True)


def test_what_is_forgotten_drops_them_and_a_trial_does_not(world):
    world("memory-remember", text="The harbour is deep.", source="notes")
    assert world("memory-forget-source", source_prefix="notes", dry_run=True)[1]
    assert not world("memory-forget-source", source_prefix="notes")[1]
    assert world("memory-forget-source", source_prefix="notes")[1], "nothing was left"


def test_what_fails_leaves_them(world):
    with pytest.raises(CloxyError):
        world("web-fetch", url="http://nobody.example.com/")
    assert world("memory-recall", query="harbour")[1]
