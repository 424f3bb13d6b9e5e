"""Seats: what is collected, what is refused, who wins."""

import threading
from dataclasses import replace

import pytest

from cloxy_core.core_settings import CORE_SETTINGS, PROVIDERS_DISABLED
from cloxy_core.kernel.plugin_state import PluginState
from cloxy_core.kernel.registry import RecordSwitches
from cloxy_core.kernel.settings import Settings
from cloxy_hookspecs import (
    AfterIndexProvider,
    CheckProvider,
    ChunkerProvider,
    CommitIndexProvider,
    ExpanderProvider,
    ExtractorProvider,
    FuserProvider,
    Migration,
    MissingExtraError,
    OriginPolicy,
    PluginError,
    SanitizerProvider,
    Setting,
    SettingError,
)
from cloxy_hookspecs.seats import (
    CHECKS,
    CHUNKERS,
    EXPANDERS,
    EXTRACTORS,
    FUSERS,
    INDEXES,
    MIGRATIONS,
    ORIGINS,
    SANITIZERS,
    SETTINGS,
)


def check(name, **more):
    return CheckProvider(**{"name": name, "summary": "", "create": print, **more})


def fuser(name):
    return FuserProvider(name=name, summary="", create=print)


def expander(name, order):
    return ExpanderProvider(name=name, summary="", order=order, create=print)


def index(name, channel, kind=CommitIndexProvider):
    return kind(name=name, summary="", channel=channel, weight=1.0, create=print)


def sanitizer(**more):
    return SanitizerProvider(**{"name": "s", "summary": "", "target": "a.b:c", **more})


def extractor(**more):
    given = {"name": "e", "summary": "", "target": "a:b", "modes": ("clean",)}
    return ExtractorProvider(**{**given, "media_types": ("text/html",), **more})


def migration(owner, number):
    return Migration(owner=owner, number=number, summary="", apply=print)


def names(records):
    return [record.name for record in records]


def messages(registry, plugin):
    return [problem.message for problem in registry.problems.of(plugin)]


def test_a_seat_is_asked_once_and_not_before_it_is_used(registry_of):
    asked = []

    def checks():
        asked.append(threading.current_thread())
        yield check("a")

    registry = registry_of({"one": {"checks": checks}})
    assert asked == []
    threads = [threading.Thread(target=registry.all, args=(CHECKS,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(asked) == 1
    assert names(registry.all(CHECKS)) == ["a"]


def test_core_comes_first_then_first_party_then_others_by_name(registry_of):
    plugins = {name: {"checks": [check(name)]} for name in ("zeta", "alpha", "ours", "core")}
    registry = registry_of(plugins, first_party=["ours"])
    assert names(registry.all(CHECKS)) == ["core", "ours", "alpha", "zeta"]


def test_chain_is_in_order_then_by_name(registry_of):
    registry = registry_of(
        {
            "b": {"expanders": [expander("late", 9), expander("b", 1)]},
            "a": {"expanders": [expander("z", 1), expander("first", -5)]},
        }
    )
    assert names(registry.all(EXPANDERS)) == ["first", "b", "z", "late"]


def test_migrations_are_by_owner_and_number_with_the_core_first(registry_of):
    registry = registry_of(
        {
            "apple": {"migrations": [migration("apple", 2), migration("apple", 1)]},
            "core": {"migrations": [migration("core", 1)]},
        }
    )
    order = [(each.owner, each.number) for each in registry.all(MIGRATIONS)]
    assert order == [("core", 1), ("apple", 1), ("apple", 2)]


@pytest.mark.parametrize("error", [RuntimeError("boom"), SystemExit(3), AssertionError()])
def test_one_failing_hook_costs_that_plugin_alone(registry_of, error):
    def checks():
        yield check("half")
        raise error

    registry = registry_of({"bad": {"checks": checks}, "good": {"checks": [check("fine")]}})
    assert names(registry.all(CHECKS)) == ["fine"]
    (problem,) = registry.problems.of("bad")
    assert (problem.where, problem.state) == ("checks", PluginState.FAILED)
    assert type(error).__name__ in problem.message


def test_the_users_interrupt_is_not_contained(registry_of):
    def checks():
        raise KeyboardInterrupt

    registry = registry_of({"bad": {"checks": checks}})
    with pytest.raises(KeyboardInterrupt):
        registry.all(CHECKS)


def test_missing_extra_is_a_state_of_its_own(registry_of):
    def checks():
        raise MissingExtraError("needs chromadb", hint="pip install 'cloxy[chroma]'")

    registry = registry_of({"bad": {"checks": checks}})
    assert registry.all(CHECKS) == ()
    (problem,) = registry.problems.of("bad")
    assert problem.state is PluginState.MISSING_EXTRA
    assert "pip install" in problem.message


def test_hook_that_never_ends_is_cut_off(registry_of):
    def checks():
        number = 0
        while True:
            number += 1
            yield check(f"c{number}")

    registry = registry_of({"bad": {"checks": checks}})
    assert registry.all(CHECKS) == ()
    assert "more than" in messages(registry, "bad")[0]


def test_hook_that_returns_nothing_is_reported(registry_of):
    registry = registry_of({"bad": {"checks": lambda: None}})
    assert registry.all(CHECKS) == ()
    assert "TypeError" in messages(registry, "bad")[0]


@pytest.mark.parametrize(
    ("seat", "hook", "record", "words"),
    [
        (CHECKS, "checks", "a text", "yielded str; wants CheckProvider"),
        (CHECKS, "checks", CheckProvider, "yielded type; wants CheckProvider"),
        (INDEXES, "indexes", fuser("f"), "wants CommitIndexProvider or AfterIndexProvider"),
        *((CHECKS, "checks", check(name), "cannot be a name") for name in ("A", "a_b", "a--b", "")),
        (CHECKS, "checks", check(3), "cannot be a name"),
        (CHECKS, "checks", check("a", create=None), "create of 'a' is not callable"),
        (CHECKS, "checks", check("a", summary=b""), "summary of 'a' is not text"),
        (CHECKS, "checks", check("a", requires=["x"]), "requires of 'a'"),
        (EXPANDERS, "expanders", expander("a", "1"), "order of 'a' is not a whole number"),
        (INDEXES, "indexes", index("a", ""), "channel of 'a' is not a name"),
        (ORIGINS, "origins", OriginPolicy("A b", "semantic", "core", True, True), "be a name"),
        *(
            (SANITIZERS, "sanitizers", sanitizer(target=target), "target of 's' is not module:")
            for target in (None, "", "module", "a.b:", ":f", "a b:f", "a:f()", len)
        ),
        (SANITIZERS, "sanitizers", sanitizer(media_types="text/html"), "media_types of 's'"),
        (SANITIZERS, "sanitizers", sanitizer(media_types=()), "media_types of 's'"),
        (EXTRACTORS, "extractors", extractor(modes=()), "modes of 'e' is not a tuple"),
        (EXTRACTORS, "extractors", extractor(media_types=("",)), "media_types of 'e'"),
        (MIGRATIONS, "migrations", migration("other", 1), "wants the plugin's own name 'mine'"),
        (MIGRATIONS, "migrations", migration("mine", 0), "wants 1, 2, 3"),
        (MIGRATIONS, "migrations", migration("mine", True), "wants 1, 2, 3"),
        (
            SETTINGS,
            "settings",
            Setting(name="port", default=1, parse=int, help=""),
            "wants group.key",
        ),
        (
            SETTINGS,
            "settings",
            Setting(name="server.extra", default=1, parse=int, help=""),
            "outside the plugin's own group",
        ),
        (SETTINGS, "settings", Setting(name="mine.x", default=1, parse=7, help=""), "not callable"),
    ],
)
def test_unfit_record_is_refused_and_the_rest_stays(registry_of, seat, hook, record, words):
    good = {
        "checks": check("good"),
        "indexes": index("good", "c"),
        "expanders": expander("good", 1),
        "origins": OriginPolicy("good", "semantic", "core", True, True),
        "sanitizers": sanitizer(name="good"),
        "extractors": extractor(name="good"),
        "migrations": migration("mine", 7),
        "settings": Setting(name="mine.good", default=1, parse=int, help=""),
    }[hook]
    registry = registry_of({"mine": {hook: [record, good]}})
    assert registry.all(seat) == (good,)
    (problem,) = registry.problems.of("mine")
    assert words in problem.message
    assert problem.state is PluginState.LOADED


def test_first_party_settings_may_lie_in_any_group(registry_of):
    setting = Setting(name="watch.more", default=1, parse=int, help="")
    registry = registry_of({"ours": {"settings": [setting]}}, first_party=["ours"])
    assert registry.all(SETTINGS) == (setting,)


def test_name_taken_by_first_party_else_by_plugin_name(registry_of):
    plugins = {
        "aaa": {"checks": [check("x", summary="aaa"), check("y", summary="aaa")]},
        "bbb": {"checks": [check("y", summary="bbb")]},
        "ours": {"checks": [check("x", summary="ours")]},
    }
    registry = registry_of(plugins, first_party=["ours"])
    winners = {record.name: record.summary for record in registry.all(CHECKS)}
    assert winners == {"x": "ours", "y": "aaa"}
    assert messages(registry, "aaa") == ["'x' is taken by ours"]
    assert messages(registry, "bbb") == ["'y' is taken by aaa"]


def test_same_name_twice_in_one_plugin_keeps_the_first(registry_of):
    first, second = check("x", summary="1"), check("x", summary="2")
    registry = registry_of({"a": {"checks": [first, second]}})
    assert registry.all(CHECKS) == (first,)
    assert messages(registry, "a") == ["'x' is taken by a"]


def settings(**variables):
    return Settings(CORE_SETTINGS, environment=variables)


def test_one_takes_the_default_of_the_seat_and_what_the_setting_names(registry_of):
    plugins = {"a": {"fusers": [fuser("weighted"), fuser("other")]}}
    assert registry_of(plugins).one(FUSERS).name == "weighted"
    chosen = registry_of(plugins, settings=settings(CLOXY_RECALL_FUSER="other"))
    assert chosen.one(FUSERS).name == "other"


def test_one_with_an_unknown_name_says_the_choices_and_where_it_was_set(registry_of):
    registry = registry_of(
        {"a": {"fusers": [fuser("weighted"), fuser("other")]}},
        settings=settings(CLOXY_RECALL_FUSER="wieghted"),
    )
    with pytest.raises(SettingError) as raised:
        registry.one(FUSERS)
    assert "CLOXY_RECALL_FUSER" in raised.value.message
    assert raised.value.hint == "choices: other, weighted"


def test_one_without_any_record_says_so(registry_of):
    with pytest.raises(SettingError, match="no enabled plugin brings one"):
        registry_of({}).one(FUSERS)


def test_keyed_gives_first_party_the_key_and_reports_the_loser(registry_of):
    plugins = {
        "aaa": {"indexes": [index("theirs", "keyword"), index("graph", "graph")]},
        "ours": {"indexes": [index("fts", "keyword")]},
    }
    registry = registry_of(plugins, first_party=["ours"])
    assert {key: each.name for key, each in registry.keyed(INDEXES).items()} == {
        "keyword": "fts",
        "graph": "graph",
    }
    assert "'theirs' is not used" in messages(registry, "aaa")[0]


@pytest.mark.parametrize("key", ["keyword", "indexes.keyword"])
def test_a_setting_gives_the_key_to_another(registry_of, key):
    plugins = {
        "aaa": {"indexes": [index("theirs", "keyword", AfterIndexProvider)]},
        "ours": {"indexes": [index("fts", "keyword")]},
    }
    switches = RecordSwitches(preferred={key: "theirs"})
    registry = registry_of(plugins, first_party=["ours"], switches=switches)
    assert registry.keyed(INDEXES)["keyword"].name == "theirs"
    assert "'fts' is not used" in messages(registry, "ours")[0]
    unknown = registry_of(plugins, switches=RecordSwitches(preferred={key: "nobody"}))
    with pytest.raises(SettingError, match="choices: fts, theirs"):
        unknown.keyed(INDEXES)


@pytest.mark.parametrize("name", ["x", "checks.x"])
def test_single_records_can_be_switched_off(registry_of, name):
    plugins = {"a": {"checks": [check("x"), check("y")], "origins": []}}
    registry = registry_of(plugins, switches=RecordSwitches(disabled=frozenset({name, "typo"})))
    assert names(registry.all(CHECKS)) == ["y"]
    assert registry.unused_switches([CHECKS, CHUNKERS]) == ("typo",)


def test_what_is_no_provider_cannot_be_switched_off(registry_of):
    policy = OriginPolicy("x", "semantic", "core", True, True)
    registry = registry_of(
        {"a": {"origins": [policy]}}, switches=RecordSwitches(disabled=frozenset({"x"}))
    )
    assert registry.all(ORIGINS) == (policy,)
    assert PROVIDERS_DISABLED.name == "providers.disabled"


def test_owner_is_told_by_identity(registry_of):
    mine = ChunkerProvider(name="x", summary="", target=1, create=print)
    registry = registry_of({"a": {"chunkers": [mine]}})
    registry.all(CHUNKERS)
    assert registry.owner(mine) == "a"
    assert registry.by_plugin(CHUNKERS) == {"a": ("x",)}
    with pytest.raises(PluginError):
        registry.owner(replace(mine))


def test_arity_is_not_mixed_up(registry_of):
    registry = registry_of({})
    with pytest.raises(ValueError, match="exactly one"):
        registry.one(CHECKS)
    with pytest.raises(ValueError, match="for each key"):
        registry.keyed(CHECKS)


def test_what_a_hook_prints_goes_to_stderr(registry_of, capfd):
    import os

    def checks():
        print("from python")
        os.write(1, b"from C\n")
        yield check("a")

    registry_of({"loud": {"checks": checks}}).all(CHECKS)
    out, err = capfd.readouterr()
    assert out == ""
    assert "from python" in err
    assert "from C" in err
    print("after")
    assert capfd.readouterr().out == "after\n"
