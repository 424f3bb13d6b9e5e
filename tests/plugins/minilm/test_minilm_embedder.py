"""The built-in model at work."""

import json
import subprocess
import sys

import numpy as np
import pytest

from cloxy_hookspecs import ModelError, ModelMissingError
from cloxy_hookspecs.types.vectors import EmbeddingSpace
from cloxy_plugins.minilm import model
from cloxy_plugins.minilm.embedder import MiniLmEmbedder
from cloxy_plugins.minilm.names import READ_CHARACTERS

PAIRS = (
    ("How do I reset my password?", "I forgot my login credentials and cannot sign in"),
    ("The deployment failed last night", "Yesterday's release to production did not work"),
    ("We chose PostgreSQL over MySQL", "Our decision was to use Postgres as the database"),
    ("The unit test is flaky", "A test sometimes fails without a reason"),
    ("Cats are sleeping on the sofa", "Some kittens take a nap on the couch"),
    ("Increase the memory limit of the container", "The pod needs more RAM"),
)


def test_paraphrases_are_nearer_than_anything_else(make):
    embedder = make()
    questions = embedder.embed_queries([one for one, _other in PAIRS])
    passages = embedder.embed_passages([other for _one, other in PAIRS])
    similarity = questions @ passages.T

    pairs = np.diag(similarity)
    others = similarity[~np.eye(len(PAIRS), dtype=bool)]
    assert pairs.min() > others.max()
    assert pairs.min() > 0.35
    assert others.mean() < embedder.info.floor


def test_what_lies_beyond_the_window_does_not_count(make):
    embedder = make()
    window = "harbour " * 300

    head, same, other = embedder.embed_passages([window, window + "crane", "crane " + window])
    assert np.array_equal(head, same)
    assert not np.array_equal(head, other)


def test_what_is_never_split_into_tokens_does_not_count(make):
    """A megabyte costs no more than a page."""
    embedder = make()
    spaces = " " * (READ_CHARACTERS - 4)

    short, long, within = embedder.embed_passages(
        ["word", "word" + spaces + "crane" * 200_000, "word" + spaces[6:] + "crane"]
    )
    assert np.array_equal(short, long)
    assert not np.array_equal(short, within)


def test_half_of_a_surrogate_pair_does_not_count(make):
    plain, half = make().embed_passages(["crane ", "crane \ud83d"])

    assert np.array_equal(plain, half)


def test_network_is_given_one_text_at_a_time_without_padding(make, monkeypatch):
    embedder = make()
    embedder.embed_passages(["crane"])
    shapes = []
    session = embedder._model._session

    class Noted:
        def run(self, outputs, inputs):
            shapes.append({name: array.shape for name, array in inputs.items()})
            return session.run(outputs, inputs)

    monkeypatch.setattr(embedder._model, "_session", Noted())
    embedder.embed_passages(["crane", "a crane in the harbour", ""])

    lengths = (3, 7, 2)
    assert shapes == [{"input_ids": (1, n), "attention_mask": (1, n)} for n in lengths]


def counting(outcomes):
    """A loader that gives or raises one thing after another, and how often it was asked."""
    asked = []

    def load():
        asked.append(1)
        outcome = outcomes[min(len(asked), len(outcomes)) - 1]
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    return load, asked


class Ones:
    def vector(self, text):
        return np.full(4, 0.5, dtype=np.float32)


def test_model_is_loaded_by_the_first_text_and_anew_after_a_close():
    load, asked = counting([Ones()])
    embedder = MiniLmEmbedder(EmbeddingSpace("m", "r", 4), load)
    embedder.embed_passages([])
    assert asked == []

    for _call in range(3):
        embedder.embed_queries(["a", "b"])
    assert len(asked) == 1

    embedder.close()
    embedder.close()
    assert embedder.embed_passages(["a"]).tolist() == [[0.5] * 4]
    assert len(asked) == 2


def test_model_that_could_not_be_loaded_is_tried_again():
    load, asked = counting([ModelMissingError("away"), ModelMissingError("away"), Ones()])
    embedder = MiniLmEmbedder(EmbeddingSpace("m", "r", 4), load)
    for _try in range(2):
        with pytest.raises(ModelMissingError, match="away"):
            embedder.embed_passages(["a"])

    assert embedder.embed_passages(["a"]).shape == (1, 4)
    assert len(asked) == 3


@pytest.mark.parametrize("library", ["onnxruntime", "tokenizers"])
def test_library_that_cannot_be_imported_is_named(make, monkeypatch, library):
    monkeypatch.setitem(sys.modules, library, None)

    with pytest.raises(ModelMissingError, match=library) as caught:
        make().embed_passages(["crane"])
    assert "pip install --force-reinstall onnxruntime tokenizers" in caught.value.hint


def test_failing_run_is_an_error_of_the_model(make, monkeypatch):
    embedder = make()
    embedder.embed_passages(["crane"])

    class Fails:
        def run(self, outputs, inputs):
            raise RuntimeError("no memory")

    monkeypatch.setattr(embedder._model, "_session", Fails())
    with pytest.raises(ModelError, match="the network failed: no memory"):
        embedder.embed_passages(["crane"])


def test_network_runs_on_the_thread_that_asks(make):
    embedder = make()
    embedder.embed_passages(["crane"])

    options = embedder._model._session.get_session_options()
    assert (options.intra_op_num_threads, options.inter_op_num_threads) == (1, 1)


ALONE = """
import json, os
from cloxy_plugins.minilm.creation import built_in_facts, load_built_in
from cloxy_plugins.minilm.files import DATA

def threads():
    return len(os.listdir("/proc/self/task")) if os.path.isdir("/proc/self/task") else 0

def words():
    load_built_in(DATA, *built_in_facts(DATA)).vector("crane")

import numpy, onnxruntime
before = threads()
words()
print(json.dumps(threads() - before))
"""


def test_model_starts_no_thread_and_prints_nothing():
    run = subprocess.run([sys.executable, "-c", ALONE], capture_output=True, text=True, check=True)

    assert json.loads(run.stdout) == 0
    assert run.stderr == ""


def test_long_text_is_cut_before_it_is_searched_for_surrogates():
    assert model._readable("\ud800" * 10 * READ_CHARACTERS) == "\ufffd" * READ_CHARACTERS
