"""Which embedder the settings ask for, and what is said when there is none."""

import pytest
from embedding_support import Place, Words, plugin, provider

from cloxy_core.kernel.lifespan import Lifespan
from cloxy_core.testing.harness import App
from cloxy_hookspecs import EmbedderProvider, MissingExtraError, SettingError
from cloxy_hookspecs.seats import EMBEDDERS, FUSERS, RERANKERS

OFF = "minilm,fastembed,exact_index"


def opened(tmp_path, *records, **settings):
    return App(
        tmp_path,
        plugins={f"bring_{n}": plugin(embedders=[r]) for n, r in enumerate(records)},
        settings={
            "plugins.disabled": OFF,
            **{name.replace("__", "."): text for name, text in settings.items()},
        },
    )


def one(name, *models, folders=False):
    words = Words(model=models[0] if models else "fake/words")
    return provider(words, name, models=models or None, folders=folders)


def chosen(app):
    with app:
        return app.do(app.engine.embedding.status())


def refusal(app):
    with app, pytest.raises(SettingError) as refused:
        _ = app.engine
    return str(refused.value)


def test_a_provider_is_named_by_its_setting(tmp_path):
    app = opened(tmp_path, one("first"), one("second"), embed__provider="second")
    assert chosen(app).provider == "second"


def test_an_unknown_provider_is_refused_with_the_choices(tmp_path):
    said = refusal(opened(tmp_path, one("first"), one("second"), embed__provider="third"))
    assert "embed.provider on the command line" in said
    assert "choices: first, second, none" in said


def test_a_default_that_is_switched_off_is_none(tmp_path):
    status = chosen(opened(tmp_path, one("first")))
    assert (status.state, status.provider) == ("off", "")
    assert status.reason == "no enabled plugin brings the embedder 'minilm'"


def test_none_stays_none_whatever_the_model(tmp_path):
    app = opened(tmp_path, one("first", "a/b"), embed__provider="none", embed__model="a/b")
    assert chosen(app).state == "off"


def test_a_seat_of_another_kind_is_not_optional(tmp_path):
    with opened(tmp_path) as app:
        registry = app.engine.host.registry
        with pytest.raises(ValueError, match="none or one"):
            registry.optional(FUSERS)
        assert registry.optional(RERANKERS) is None
        assert registry.optional(EMBEDDERS) is None


@pytest.mark.parametrize("model", ["org/small-model", "ORG/Small-Model", "small-model"])
def test_a_model_finds_the_provider_that_runs_it(tmp_path, model):
    app = opened(
        tmp_path,
        one("first", "org/other"),
        one("second", "org/x", "org/small-model"),
        one("third", "org/small-model"),
        embed__provider="first",
        embed__model=model,
    )
    assert chosen(app).provider == "second"


def test_the_provider_that_is_named_goes_first(tmp_path):
    app = opened(
        tmp_path,
        one("first", "org/small"),
        one("second", "org/small"),
        embed__provider="second",
        embed__model="small",
    )
    assert chosen(app).provider == "second"


def test_a_folder_goes_to_one_that_runs_folders(tmp_path):
    (tmp_path / "my model").mkdir()
    records = (one("first"), one("second", folders=True))
    app = opened(
        tmp_path, *records, embed__provider="first", embed__model=str(tmp_path / "my model")
    )
    assert chosen(app).provider == "second"


def test_a_folder_that_is_not_there_is_refused(tmp_path):
    app = opened(tmp_path, one("first", folders=True), embed__model=str(tmp_path / "nothing"))
    assert "there is no such folder" in refusal(app)


def test_a_folder_that_nobody_runs_is_refused(tmp_path):
    (tmp_path / "model").mkdir()
    said = refusal(opened(tmp_path, one("first"), embed__model=str(tmp_path / "model")))
    assert "no enabled plugin runs the model" in said


def test_an_unknown_model_is_refused_with_near_names(tmp_path):
    app = opened(
        tmp_path, one("first", "org/all-small-v2", "org/thing"), embed__model="all-smal-v2"
    )
    said = refusal(app)
    assert "embed.model on the command line" in said
    assert "did you mean 'org/all-small-v2'?" in said


def test_a_model_that_is_like_no_other_is_refused_with_all(tmp_path):
    app = opened(tmp_path, one("first", "org/thing", "org/another"), embed__model="zzz")
    assert "org/another, org/thing" in refusal(app)


def test_the_variable_of_the_model_is_named(tmp_path, monkeypatch):
    from cloxy_core.testing import harness

    original = harness.load_settings
    monkeypatch.setattr(
        harness,
        "load_settings",
        lambda environment, given: original({**environment, "CLOXY_EMBED_MODEL": "zzz"}, given),
    )
    assert "CLOXY_EMBED_MODEL" in refusal(opened(tmp_path, one("first")))


def test_the_dimension_is_checked(tmp_path):
    app = opened(tmp_path, one("first"), embed__provider="first", embed__dim="384")
    said = refusal(app)
    assert "embed.dim" in said
    assert "16 dimensions" in said


def failing(error):
    def create(_context):
        raise error

    return EmbedderProvider(name="first", summary="", models=("a/b",), create=create)


@pytest.mark.parametrize(
    "error", [MissingExtraError("it needs x", hint="pip install 'cloxy[x]'"), RuntimeError("oh")]
)
def test_one_that_cannot_be_made_leaves_the_server_with_words(tmp_path, error):
    with opened(tmp_path, failing(error), embed__provider="first") as app:
        app.start()
        status = app.do(app.engine.embedding.status())
        assert (status.state, status.provider) == ("off", "first")
        assert str(error) in status.reason
        assert app.engine.embedding.trouble() == status.reason
        assert any(str(error) in problem for problem in app.engine.problems())


def test_one_that_refuses_a_setting_stops_the_start(tmp_path):
    app = opened(tmp_path, failing(SettingError("x.y is wrong")), embed__provider="first")
    assert "x.y is wrong" in refusal(app)


def test_one_that_does_not_say_what_it_is_leaves_the_server_with_words(tmp_path):
    class Silent:
        @property
        def info(self):
            raise OSError("no")

    record = EmbedderProvider(
        name="first", summary="", models=("a/b",), create=lambda _context: Silent()
    )
    status = chosen(opened(tmp_path, record, embed__provider="first"))
    assert status.state == "off"
    assert "does not say what it is" in status.reason


def test_it_is_made_by_the_lifespan_and_closed_with_it(tmp_path, words):
    closed = []
    words.close = lambda: closed.append(True)
    with Place(tmp_path, words) as place:
        assert isinstance(place.engine.lifespan, Lifespan)
        place.start()
    assert closed == [True]
