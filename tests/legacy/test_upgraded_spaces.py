"""Old vectors beside the default model, and settings that ask for what they are not."""

from dataclasses import replace

import pytest
from ingest.ingest_support import Server
from legacy.legacy_kit import DIMENSIONS, build

from cloxy_core.services.embedding.making import is_same_space
from cloxy_core.store.legacy.vectors import AS_FOUND
from cloxy_hookspecs import (
    EmbedderProvider,
    EmbeddingSpace,
    EmbeddingSpaceMismatchError,
    SettingError,
)

E5 = "intfloat/multilingual-e5-small"
DEFAULT = "sentence-transformers/all-MiniLM-L6-v2"
PLAIN = {"CLOXY_EMBED_PROVIDER": "", "CLOXY_PLUGINS_DISABLED": ""}
SPACES = (
    "SELECT model, active, state, (SELECT count(*) FROM embeddings e WHERE e.space_id = s.id)"
    " FROM embedding_spaces s ORDER BY id"
)
SWEEPER = "who moves jobs, the lavender sweeper?"


@pytest.fixture
def over(tmp_path):
    """Opens servers over an E5 database of before 5.1, or one that is described."""
    running = []

    def start(*, fill=None, version="5.0", **environ):
        if not (tmp_path / "data").exists():
            build(tmp_path / "data", version, *([fill] if fill else []), embed_model=E5)
        server = Server(tmp_path, environ=PLAIN | environ)
        running.append(server)
        try:
            server.__enter__()
        except BaseException:
            # What was opened before the refusal, above all the lock.
            server.stop()
            raise
        return server

    yield start
    for server in running:
        server.__exit__()


def test_the_default_install_starts_at_once_and_keeps_the_old_vectors(over):
    server = over()
    assert server.recall(SWEEPER, mode="keyword")[0].id == 1
    assert server.rows(SPACES)[0] == (E5, 0, "dormant", 5)
    server.do(server.engine.embedding.fill())
    assert server.rows(SPACES) == [(E5, 0, "dormant", 5), (DEFAULT, 1, "dormant", 6)]
    status = server.do(server.engine.embedding.status())
    assert (status.embedded, status.backlog) == (6, 0)


def test_the_backlog_is_told(over):
    server = over()
    status = server.do(server.engine.embedding.status())
    assert status.embedded + status.backlog == 6
    old = next(each for each in status.spaces if each.model == E5)
    assert (old.state, old.vectors) == ("dormant", 5)


def test_another_model_that_was_set_is_refused_with_both_names_and_the_command(over):
    with pytest.raises(EmbeddingSpaceMismatchError, match="CLOXY_EMBED_MODEL") as caught:
        over(CLOXY_EMBED_MODEL=DEFAULT)
    assert DEFAULT in caught.value.message
    assert E5 in caught.value.message
    assert "cloxy reembed" in caught.value.hint


def test_the_same_model_with_prefixes_that_the_old_vectors_lack_is_refused(over):
    with pytest.raises(EmbeddingSpaceMismatchError) as caught:
        over(CLOXY_EMBED_MODEL=E5, CLOXY_EMBED_PROVIDER="fastembed")
    assert "'passage: '" in caught.value.message
    assert "cloxy reembed" in caught.value.hint


def test_a_dimension_that_is_not_the_models_is_refused(over):
    with pytest.raises(SettingError, match="768"):
        over(CLOXY_EMBED_DIM="768")


def test_without_rows_nothing_stands_in_the_way(over):
    server = over(fill=lambda _old: None, CLOXY_EMBED_MODEL=DEFAULT)
    assert [space[0] for space in server.rows(SPACES)] == [DEFAULT]


def test_a_refusal_leaves_the_upgraded_memory_as_it_is(over):
    with pytest.raises(EmbeddingSpaceMismatchError):
        over(CLOXY_EMBED_MODEL=DEFAULT)
    server = over()
    assert server.recall(SWEEPER, mode="keyword")[0].id == 1


def test_the_weights_are_not_claimed_to_be_known(over):
    server = over()
    found = server.rows("SELECT revision, dim, query_prefix, passage_prefix FROM embedding_spaces")
    assert found[0] == (AS_FOUND, DIMENSIONS, "", "")


@pytest.mark.parametrize(
    ("provider", "changed", "fits"),
    [
        ("fastembed", {}, True),
        ("minilm", {}, False),
        ("fastembed", {"passage_prefix": "passage: "}, False),
        ("fastembed", {"dim": 768}, False),
        ("fastembed", {"model": DEFAULT}, False),
    ],
)
def test_only_the_library_of_the_original_goes_on_with_its_vectors(provider, changed, fits):
    stored = EmbeddingSpace(E5, AS_FOUND, DIMENSIONS)
    made = replace(EmbeddingSpace(E5, "the weights of today", DIMENSIONS), **changed)
    record = EmbedderProvider(name=provider, summary="", models=(E5,), create=lambda _context: None)
    assert is_same_space(made, record, stored) is fits
