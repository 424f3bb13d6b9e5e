"""The index of vectors in memory against the stored vectors, both ways."""

import asyncio

import pytest
from doctor_kit import add_vectors

from cloxy_core.services.doctor.looking import LookStore
from cloxy_core.services.vector_check import VectorIdsCheck
from cloxy_core.services.vector_feed import VectorChannel, VectorFeed
from cloxy_hookspecs import VectorIndexProvider


class Shelf:
    """An index of vectors that remembers ids."""

    def __init__(self):
        self.held = set()

    def rebuild(self, rows, sequence):
        self.held = {row.passage_id for row in rows}

    def ids(self):
        return set(self.held)

    def checkpoint(self):
        return 0


@pytest.fixture
def feed(patient):
    add_vectors(patient)
    record = VectorIndexProvider(name="shelf", summary="x", channel="dense", create=None)
    feed = VectorFeed(VectorChannel(record, Shelf()), LookStore(patient.database, private=False))
    asyncio.run(feed.build())
    assert len(feed.channel.index.held) > 100
    return feed


def run(feed, patient, drain=None):
    async def nothing():
        return 0

    store = LookStore(patient.database, private=False)
    return asyncio.run(VectorIdsCheck(store, [feed], drain or nothing).run())[0]


def test_in_step(feed, patient):
    finding = run(feed, patient)
    assert finding.severity == "ok"
    assert "in step" in finding.message
    assert feed.ready


def test_missing_and_stray_ids_have_it_built_anew(feed, patient):
    feed.channel.index.held -= {3, 4}
    feed.channel.index.held.add(999_999)
    finding = run(feed, patient)
    assert finding.severity == "warning"
    assert "lacked 2 vectors and had 1 too many" in finding.message
    assert not feed.ready
    assert feed.failed.is_set()
    asyncio.run(feed.build())
    assert run(feed, patient).severity == "ok"


def test_what_is_still_on_its_way_is_no_difference(feed, patient):
    missing = {5, 6}
    feed.channel.index.held -= missing
    drained = 0

    async def drain():
        nonlocal drained
        drained += 1
        if drained == 2:
            feed.channel.index.held |= missing

    assert run(feed, patient, drain).severity == "ok"
    assert feed.ready


def test_one_that_is_being_built_is_not_judged(feed, patient):
    feed.channel.index.held.clear()
    feed.building = True
    assert run(feed, patient).message == "shelf is being built"
