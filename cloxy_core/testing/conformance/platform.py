"""Settings, migrations and checks."""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pytest
from sqlalchemy import Connection

from cloxy_core.kernel.plugin_state import CORE
from cloxy_core.kernel.settings import Settings
from cloxy_core.runtime.paths import DataDirectory
from cloxy_core.runtime.workers import Workers
from cloxy_core.store.engine import Store
from cloxy_core.testing.conformance.base import Conformance, CreatedConformance, owner_of
from cloxy_core.testing.conformance.samples import ODD_TEXTS
from cloxy_core.testing.corpus import dump, fill
from cloxy_core.testing.harness import App
from cloxy_hookspecs import Check, Finding, Migration, Setting, SettingError
from cloxy_hookspecs.seats import CHECKS, MIGRATIONS, SETTINGS

T = TypeVar("T")

NONSENSE = "no such value \N{SNOWMAN}"
NOTES = "schema_migrations"
SEVERITIES = ("ok", "warning", "error")
SECRET_WORDS = ("key", "token", "secret", "password", "passphrase")
_PLAIN = (bool, int, float)


class SettingConformance(Conformance, of_the_kit=True):
    """A setting. Where the kit cannot guess them, give `default_text` and `bad_texts`."""

    seat = SETTINGS

    @pytest.fixture
    def default_text(self, provider: Setting[Any]) -> str | None:
        """What somebody writes to get the default; None when there is no way to write it."""
        return text_of(provider)

    @pytest.fixture
    def bad_texts(self, provider: Setting[Any]) -> Sequence[str]:
        """Texts that must be refused; none when every text is good."""
        return (NONSENSE,) if isinstance(provider.default, _PLAIN) else ()

    def test_default_can_be_written(self, provider: Setting[Any], default_text: str | None) -> None:
        """Who writes the default down gets the default."""
        if default_text is not None:
            assert provider.parse(default_text) == provider.default

    def test_bad_text_is_refused_with_words(
        self, provider: Setting[Any], bad_texts: Sequence[str]
    ) -> None:
        """The words say what is wanted, and the error names the variable."""
        for text in bad_texts:
            with pytest.raises(ValueError, match=r"\w+ \w+"):
                provider.parse(text)
            values = Settings([provider], environment={provider.variable: text})
            with pytest.raises(SettingError, match=provider.variable):
                values.named(provider.name)

    def test_any_text_is_a_value_or_an_error(self, provider: Setting[Any]) -> None:
        """Nothing but ValueError, whatever somebody writes."""
        for text in (*ODD_TEXTS, NONSENSE, "1e999", "-1", "nan", "0x10", "~nobody-such/x", "a=b,"):
            try:
                first = provider.parse(text)
            except ValueError as error:
                assert str(error).strip(), f"say what is wanted instead of {text[:40]!r}"
            else:
                assert provider.parse(text) == first or first != first  # noqa: PLR0124 - not a number

    def test_variable_can_be_set(self, provider: Setting[Any]) -> None:
        """Its name is one that every shell can set."""
        variable = provider.variable
        assert variable.isascii()
        assert variable.isidentifier()
        assert variable == variable.upper()

    def test_what_is_secret_says_so(self, provider: Setting[Any]) -> None:
        """Else it would be shown in `status` and in errors; and a secret has no default."""
        key = provider.name.rpartition(".")[2].replace("-", "_")
        if key.split("_")[-1] in SECRET_WORDS:
            assert provider.secret, "declare it with secret=True"
        if provider.secret:
            assert not provider.default, "a secret that everybody can read is none"


def text_of(setting: Setting[Any]) -> str | None:
    """The default of a setting as somebody would write it; None when there is no such text."""
    default, separator = setting.default, getattr(setting.parse, "separator", None)
    if default is None:
        return None
    if isinstance(default, bool):
        return "true" if default else "false"
    if isinstance(default, Mapping):
        return ",".join(f"{key}={value}" for key, value in default.items())
    if isinstance(default, tuple | list | frozenset):
        return str(separator or os.pathsep).join(map(str, default))
    return str(default)


class MigrationConformance(Conformance, of_the_kit=True):
    """A migration; the steps of its owner before it are found by its plugin."""

    seat = MIGRATIONS

    @pytest.fixture
    def others(self, provider: Migration, app: App) -> Sequence[Migration]:
        """The steps of everybody else, the core among them."""
        known = app.engine.host.registry.all(MIGRATIONS)
        return [] if provider.owner == CORE else [s for s in known if s.owner != provider.owner]

    @pytest.fixture
    def earlier(self, provider: Migration, app: App) -> Sequence[Migration]:
        """The steps of its own owner before it."""
        known = app.engine.host.registry.all(MIGRATIONS)
        return [s for s in known if s.owner == provider.owner and s.number < provider.number]

    def test_summary_says_what_it_does(self, provider: Migration) -> None:
        """It stands in the error when the step fails."""
        assert provider.summary.strip()

    def test_numbers_have_no_gap(self, provider: Migration, earlier: Sequence[Migration]) -> None:
        """1, 2, and so on, each once."""
        numbers = [*(step.number for step in earlier), provider.number]
        assert numbers == list(range(1, provider.number + 1))

    def test_runs_from_every_earlier_step_and_once(
        self,
        provider: Migration,
        others: Sequence[Migration],
        earlier: Sequence[Migration],
        app: App,
        tmp_path: Path,
    ) -> None:
        """From nothing, from each number before it, and not again at the next start."""
        steps = [*others, *earlier, provider]
        wanted = None
        for done in range(len(earlier) + 1):
            folder = tmp_path / f"from-{done}"
            if known := [*others, *earlier[:done]]:
                opened(app, folder, known, schema)
            for _start in range(2):
                found = opened(app, folder, steps, schema)
                wanted = wanted or found
                assert found == wanted

    def test_no_foreign_table_is_touched(
        self,
        provider: Migration,
        others: Sequence[Migration],
        earlier: Sequence[Migration],
        app: App,
        tmp_path: Path,
    ) -> None:
        """Tables of others, and the rows in them, are as they were."""
        if not others:
            return
        foreign = opened(app, tmp_path, others, schema, fill)
        known = [*others, *earlier]
        before, rows_before = (opened(app, tmp_path, known, look) for look in (schema, dump))
        after, rows = (opened(app, tmp_path, [*known, provider], look) for look in (schema, dump))
        for name in foreign:
            assert after.get(name) == before[name], f"{name} was changed"
            if name != NOTES:
                assert rows.get(name) == rows_before.get(name), f"rows of {name} were changed"

    def test_tables_bear_the_name_of_their_owner(
        self,
        provider: Migration,
        others: Sequence[Migration],
        earlier: Sequence[Migration],
        app: App,
        tmp_path: Path,
    ) -> None:
        """Tables of two plugins of different people never meet in one name."""
        if owner_of(self.seat, provider, app)[1]:
            return
        before = opened(app, tmp_path, [*others, *earlier], schema)
        after = opened(app, tmp_path, [*others, *earlier, provider], schema)
        assert [n for n in after if n not in before and not n.startswith(provider.owner)] == []

    def test_can_be_rolled_back(
        self,
        provider: Migration,
        others: Sequence[Migration],
        earlier: Sequence[Migration],
        app: App,
        tmp_path: Path,
    ) -> None:
        """A step does not end its transaction: a failure leaves everything as it was."""
        known = [*others, *earlier]
        if not known:
            return
        before = opened(app, tmp_path, known, schema)

        def undone(connection: Connection) -> None:
            provider.apply(connection)
            raise _UndoneError

        with pytest.raises(_UndoneError):
            opened(app, tmp_path, known, schema, undone)
        assert opened(app, tmp_path, known, schema) == before


class _UndoneError(Exception):
    """Ends a transaction that is to leave nothing behind."""


def opened(
    app: App,
    folder: Path,
    steps: Sequence[Migration],
    look: Callable[[Connection], T],
    change: Callable[[Connection], object] | None = None,
) -> T:
    """Open a database with some steps, change it, look at it and close it."""
    workers = Workers()
    try:
        place = DataDirectory.open(folder / "data")
        store = Store.open(place, app.clock, workers, steps)
        try:
            if change is not None:
                app.do(store.write(change))
            return app.do(store.read(look))
        finally:
            app.do(store.close())
    finally:
        workers.close_blocking()


def schema(connection: Connection) -> Mapping[str, str]:
    """What every table, index, view and trigger was made by."""
    rows = connection.exec_driver_sql("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL")
    return {str(name): str(sql) for name, sql in rows}


class CheckConformance(CreatedConformance, of_the_kit=True):
    """A check; it is run on an empty store and on one with rows that no index knows."""

    seat = CHECKS

    def use(self, made: Check, app: App) -> None:
        """Run it once."""
        app.do(made.run())

    def test_there_is_always_a_finding(self, made: Check, app: App) -> None:
        """One that all is well is a finding too."""
        for change in (None, fill):
            if change is not None:
                app.write(change)
            findings = app.do(made.run())
            assert len(findings) >= 1
            for finding in findings:
                assert isinstance(finding, Finding)
                assert finding.severity in SEVERITIES
                assert finding.message.strip()
                assert len(finding.message.splitlines()) == 1, "status shows one line"

    def test_it_only_reads(self, made: Check, app: App) -> None:
        """It may look at anything, and repairs nothing."""
        for change in (None, fill):
            if change is not None:
                app.write(change)
            before = app.read(dump), app.read(schema)
            app.do(made.run())
            assert (app.read(dump), app.read(schema)) == before

    def test_it_can_run_again_and_again(self, made: Check, app: App) -> None:
        """It runs behind the server for as long as that lives."""
        severities = [[each.severity for each in app.do(made.run())] for _ in range(3)]
        assert severities[0] == severities[1] == severities[2]
