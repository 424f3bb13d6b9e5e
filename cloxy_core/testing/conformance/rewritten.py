"""Sources of things that are rewritten in place: documents and databases of other programs."""

import hashlib
import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from cloxy_core.testing.conformance.base import CreatedConformance
from cloxy_core.testing.harness import App
from cloxy_core.testing.mutations import mutate
from cloxy_hookspecs import (
    ForeignDatabaseError,
    Parser,
    ParseResult,
    RawLine,
    Source,
    SourceFailure,
    SourceItem,
    SourceProvider,
)
from cloxy_hookspecs.seats import SOURCES

MUTATIONS = 30


class RewrittenSourceConformance(CreatedConformance, of_the_kit=True):
    """A source with one item for each conversation.

    Give `provider`; `parser`: what reads its records; `store`: a folder with a store of it, with a
    conversation of two messages or more; and `change`: lets the program say one thing more in a
    conversation. Unless the source finds that folder by itself, give `settings` too.
    """

    seat = SOURCES

    @pytest.fixture
    def store(self) -> Path:
        """A folder with a store; give it in the subclass."""
        pytest.fail(f"{type(self).__name__}: give a fixture `store` that returns a folder")

    @pytest.fixture
    def parser(self) -> Parser:
        """What reads the records; give it in the subclass."""
        pytest.fail(f"{type(self).__name__}: give a fixture `parser` that returns a parser")

    @pytest.fixture
    def change(self) -> Callable[[], None]:
        """Lets the program say one thing more; give it in the subclass."""
        pytest.fail(f"{type(self).__name__}: give a fixture `change` that returns a function")

    def use(self, made: Source, app: App) -> None:
        """Look for everything."""
        del app
        list(made.discover([]))

    def test_record_says_that_things_are_rewritten(self, provider: SourceProvider) -> None:
        """Else it would be read by offset."""
        assert provider.rewritten is True

    def test_items_lie_below_absolute_roots(self, made: Source, store: Path) -> None:
        """The address of an item is the store's path, with the conversation's key behind a #."""
        assert all(root.is_absolute() for root in made.roots())
        items = found(made, store)
        assert items, f"the source finds nothing in {store}: does a setting have to name it?"
        for item in items:
            assert any(_place(item).is_relative_to(root) for root in made.roots())

    def test_looking_twice_finds_the_same(self, made: Source, store: Path) -> None:
        """And no two conversations are taken for one."""
        items = found(made, store)
        assert items == found(made, store)
        assert len({item.uri for item in items}) == len(items)
        assert len({item.identity for item in items}) == len(items)

    def test_discovery_stays_below_what_is_asked(
        self, made: Source, store: Path, tmp_path: Path
    ) -> None:
        """A store, and a folder elsewhere."""
        items = found(made, store)
        place = _place(items[0])
        assert [item for item in items if _place(item) == place] == found(made, place)
        elsewhere = tmp_path / "elsewhere"
        elsewhere.mkdir()
        assert found(made, elsewhere) == []

    def test_records_are_json_with_ordinal_numbers(self, made: Source, store: Path) -> None:
        """Each is finished, and stands at its number."""
        for item in found(made, store):
            for number, line in enumerate(made.read(item, 0)):
                assert (line.start, line.end, line.finished) == (number, number + 1, True)
                json.loads(line.data)

    def test_reading_twice_gives_the_same(self, made: Source, store: Path) -> None:
        """Nothing in a record depends on when it is read."""
        for item in found(made, store):
            assert list(made.read(item, 0)) == list(made.read(item, 0))

    def test_parser_understands_the_records(
        self, made: Source, store: Path, parser: Parser
    ) -> None:
        """Messages, sessions with facts, and nothing damaged or unknown."""
        results = [parsed(made, parser, item) for item in found(made, store)]
        assert max(len(result.messages) for result in results) >= 2
        for result in results:
            assert not result.bad_lines
            assert not result.unknown
            ids = [(message.session, message.uid) for message in result.messages]
            assert len(ids) == len(set(ids))
            assert {message.session for message in result.messages} <= set(result.sessions)
            assert all(message.start < message.end for message in result.messages)

    def test_change_makes_a_new_version(
        self, made: Source, store: Path, parser: Parser, change: Callable[[], None]
    ) -> None:
        """Of the conversation that changed, which keeps its address, its identity and its ids."""
        before = {item.uri: item for item in found(made, store)}
        said = {uri: _ids(parsed(made, parser, item)) for uri, item in before.items()}
        change()
        after = {item.uri: item for item in found(made, store)}
        assert set(before) <= set(after)
        changed = [uri for uri, item in before.items() if after[uri] != item]
        grown = [uri for uri in before if _ids(parsed(made, parser, after[uri])) > said[uri]]
        assert grown, "`change` has to add a message to a conversation that was there"
        assert set(grown) <= set(changed), "size or time of the item differs when it changed"
        for uri, item in before.items():
            assert after[uri].identity == item.identity
            assert said[uri] <= _ids(parsed(made, parser, after[uri]))

    def test_vanished_store_is_no_error(self, made: Source, store: Path) -> None:
        """Nothing is found, and what was found cannot be read."""
        items = found(made, store)
        shutil.rmtree(store)
        assert found(made, store) == []
        for item in items:
            with pytest.raises((OSError, ForeignDatabaseError)):
                list(made.read(item, 0))

    def test_store_is_left_as_it_is(self, made: Source, store: Path) -> None:
        """No file is made beside it, and none is changed."""
        before = _state(store)
        for item in found(made, store):
            list(made.read(item, 0))
        assert _state(store) == before

    def test_damaged_stores_are_told(
        self, made: Source, store: Path, parser: Parser, tmp_path: Path
    ) -> None:
        """Whatever happened to its files, only what cannot be read is an error."""
        whole = tmp_path / "whole"
        shutil.copytree(store, whole)
        names = [path.relative_to(whole) for path in sorted(whole.rglob("*")) if path.is_file()]
        for seed in range(MUTATIONS):
            name = names[seed % len(names)]
            (store / name).write_bytes(mutate((whole / name).read_bytes(), seed))
            _read_all(made, store, parser)
            shutil.copy2(whole / name, store / name)


def found(source: Source, under: Path) -> list[SourceItem]:
    """What a source finds below a place, by address; whatever failed has a reason."""
    failures: list[SourceFailure] = []
    items = sorted(source.discover(failures, under), key=lambda item: item.uri)
    assert all(failure.reason for failure in failures)
    return items


def parsed(source: Source, parser: Parser, item: SourceItem) -> ParseResult:
    """What a parser makes of an item."""
    return parser.parse(item, list[RawLine](source.read(item, 0)), {})


def _read_all(source: Source, store: Path, parser: Parser) -> None:
    try:
        items: Sequence[SourceItem] = found(source, store)
    except ForeignDatabaseError:
        return
    for item in items:
        try:
            parsed(source, parser, item)
        except (OSError, ForeignDatabaseError):
            continue


def _place(item: SourceItem) -> Path:
    return Path(item.uri.partition("#")[0])


def _ids(result: ParseResult) -> set[tuple[str, str]]:
    return {(message.session, message.uid) for message in result.messages}


def _state(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
