"""What only pages need is loaded with the first page."""

import asyncio
import subprocess
import sys

import pytest
from web.operations.sites import Site, plain
from web.world import Names, hop

from cloxy_core.testing.harness import App
from cloxy_hookspecs import FetchError
from cloxy_plugins.web.fetcher_later import create_fetcher

PROGRAM = """
import sys
from pathlib import Path
from cloxy_core.testing.harness import App
with App(Path(sys.argv[1])) as app:
    app.start()
    print(*sorted({name.partition(".")[0] for name in sys.modules}))
"""
LARGE = {"httpx2", "httpcore2", "h11", "brotli", "backports", "charset_normalizer", "selectolax"}


@pytest.mark.process
def test_a_server_that_reads_no_page_has_not_loaded_what_reads_them(tmp_path):
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM, tmp_path], capture_output=True, text=True, check=True
    )
    assert not LARGE & set(run.stdout.split())


def test_first_pages_that_come_together_are_fetched_by_the_same_fetcher(tmp_path):
    with (
        Site({"/a": plain("one"), "/b": plain("two")}).running() as site,
        App(tmp_path, network=site.network("good.test")) as app,
    ):
        later = create_fetcher(app.context)

        async def both():
            return await asyncio.gather(
                later.fetch(hop("http://good.test/a")), later.fetch(hop("http://good.test/b"))
            )

        assert [each.body for each in app.do(both())] == [b"one", b"two"]
        first = later._fetcher
        assert app.do(later.fetch(hop("http://good.test/a"))).body == b"one"
        assert later._fetcher is first


def test_errors_of_the_first_page_are_those_of_any(tmp_path):
    with App(tmp_path, network=Names()) as app:
        later = create_fetcher(app.context)
        for _ in range(2):
            with pytest.raises(FetchError):
                app.do(later.fetch(hop("http://good.test/", seconds=2.0)))
