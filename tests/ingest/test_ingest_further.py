"""Sources that a plugin names once the settings are known."""

import further_plugin
import pytest
from sqlalchemy import text

from cloxy_core.services.ingest.further import MOST, take_further
from cloxy_core.testing.harness import App
from cloxy_hookspecs.seats import PARSERS


@pytest.fixture
def opened(tmp_path):
    """Opens the application with names, and other settings."""
    apps = []

    def open_with(names, **more):
        settings = {"watch.dirs": "", "embed.provider": "none", "further.names": names, **more}
        app = App(tmp_path, plugins={"further": further_plugin}, settings=settings)
        apps.append(app)
        app.start()
        return app

    yield open_with
    for app in apps:
        app.__exit__(None, None, None)


def write(app, name):
    path = app.data.parent / "agents" / name / "1.txt"
    path.parent.mkdir(parents=True)
    path.write_text(f"hello from {name}\n")


def names(app):
    return {
        each.name for each in app.do(app.engine.catalogue.sources()) if each.plugin == "further"
    }


def stored(app):
    app.do(app.engine.ingest.run(None))
    statement = text(
        "SELECT sessions.agent, passages.message_uid FROM passages"
        " JOIN sessions ON sessions.id = passages.session_id ORDER BY 1"
    )
    return app.read(lambda connection: [tuple(row) for row in connection.execute(statement)])


def test_each_is_a_source_of_its_own_with_a_parser_of_its_own(opened):
    app = opened("one two")
    for name in ("one", "two", "three"):
        write(app, name)
    assert names(app) == {"further", "one", "two"}
    assert stored(app) == [("one", "one-0"), ("two", "two-0")]
    assert app.engine.problems() == [
        each for each in app.engine.problems() if "further" not in each
    ]


def test_without_a_name_there_is_only_the_first(opened):
    app = opened("")
    assert names(app) == {"further"}


def test_one_of_them_can_be_switched_off_by_its_name(opened):
    app = opened("one two", **{"providers.disabled": "sources.two"})
    write(app, "two")
    assert names(app) == {"further", "one", "two"}
    assert stored(app) == []
    assert not [each for each in app.engine.problems() if "two" in each]


def test_whoever_switches_off_the_first_has_none_of_them(opened):
    app = opened("one", **{"providers.disabled": "sources.further"})
    assert names(app) == {"further"}


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("codex one", "'codex' is taken by codex"),
        ("one one", "'one' is taken by further"),
        ("further one", "'further' is taken by further"),
        ("Not_A_Name one", "'Not_A_Name' cannot be a name"),
    ],
)
def test_what_does_not_fit_is_told_and_the_others_are_read(opened, given, words):
    app = opened(given)
    write(app, "one")
    assert stored(app) == [("one", "one-0")]
    assert any(words in each for each in app.engine.problems())


def test_names_that_cannot_be_told_are_told_of_and_the_server_starts(opened):
    app = opened("broken")
    assert names(app) == {"further"}
    (problem,) = [each for each in app.engine.problems() if "no names today" in each]
    assert "the further sources could not be named" in problem


def test_names_without_end_are_cut_off(opened):
    app = opened("endless")
    known = app.engine.host.registry.all(PARSERS)
    assert sum(each.name.startswith("n") and each.name[1:].isdigit() for each in known) == MOST


def test_a_source_with_folders_of_its_own_is_read_beside_those_that_are_named(opened, tmp_path):
    app = opened("own usual", **{"watch.dirs": str(tmp_path / "projects")})
    for name in ("own", "usual"):
        write(app, name)
    assert [agent for agent, _uid in stored(app)] == ["own"]
    read = {each.name for each in app.do(app.engine.catalogue.sources()) if each.enabled}
    assert read == {"claude-code", "own"}


def test_a_source_is_asked_once_however_many_examine_its_host(opened):
    app = opened("one two")
    before = app.engine.problems()
    take_further(app.engine.host.registry, app.engine.base.shared.context)
    assert app.engine.problems() == before
    assert names(app) == {"further", "one", "two"}
