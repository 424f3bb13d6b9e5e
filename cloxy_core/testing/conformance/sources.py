"""Sources: finding files and reading them by offset while somebody writes to them."""

import os
import shutil
from pathlib import Path

import pytest

from cloxy_core.testing.conformance.base import CreatedConformance
from cloxy_core.testing.harness import App
from cloxy_hookspecs import FolderSource, RawLine, Source, SourceFailure, SourceItem
from cloxy_hookspecs.seats import SOURCES

BORDERS_OF_OTHERS = '{"text": "a\u2028b\u0085c\x0bd\x0ce\rf"}\n'.encode()
"""One line, which readers of text would take for several."""


class SourceConformance(CreatedConformance, of_the_kit=True):
    """A source of files.

    Give `provider`, and `logs`: a folder with at least one log of two lines or more. Unless the
    source finds that folder by itself, give `settings` too, so that it is one of its roots.
    """

    seat = SOURCES

    @pytest.fixture
    def logs(self) -> Path:
        """A folder with logs; give it in the subclass."""
        pytest.fail(f"{type(self).__name__}: give a fixture `logs` that returns a folder of logs")

    @pytest.fixture
    def item(self, made: Source, logs: Path) -> SourceItem:
        """The largest of the logs."""
        items = discovered(made, logs)
        assert items, f"the source finds nothing in {logs}: does a setting have to name it?"
        return max(items, key=lambda each: each.size)

    def use(self, made: Source, app: App) -> None:
        """Look for everything."""
        del app
        list(made.discover([]))

    def test_roots_are_absolute_and_hold_what_is_found(self, made: Source, logs: Path) -> None:
        """The watcher needs to know where to look."""
        roots = made.roots()
        assert roots
        assert all(root.is_absolute() for root in roots)
        for item in discovered(made, logs):
            assert any(Path(item.uri).is_relative_to(root) for root in roots)

    def test_items_tell_the_truth(self, made: Source, logs: Path, item: SourceItem) -> None:
        """Path, size and time are the file's own, and no two files are taken for one."""
        assert Path(item.uri).is_absolute()
        found = Path(item.uri).stat()
        assert (item.size, item.mtime_ns) == (found.st_size, found.st_mtime_ns)
        items = discovered(made, logs)
        assert len({each.identity for each in items}) == len({each.uri for each in items})
        assert items == discovered(made, logs), "looking twice finds the same"

    def test_a_renamed_file_keeps_its_identity(
        self, made: Source, logs: Path, item: SourceItem
    ) -> None:
        """Else it would be read again from its start."""
        old = Path(item.uri)
        new = old.with_name(f"{old.stem}-moved{old.suffix}")
        old.rename(new)
        moved = [each for each in discovered(made, logs) if each.uri == str(new)]
        assert [each.identity for each in moved] in ([item.identity], [])

    def test_discovery_stays_below_what_is_asked(
        self, made: Source, logs: Path, item: SourceItem, tmp_path: Path
    ) -> None:
        """A file, its folder, and a folder elsewhere."""
        assert discovered(made, Path(item.uri)) == [item]
        assert item in discovered(made, Path(item.uri).parent)
        elsewhere = tmp_path / "elsewhere"
        elsewhere.mkdir()
        assert discovered(made, elsewhere) == []

    def test_another_folder_is_read_as_its_own_is(
        self, made: Source, logs: Path, tmp_path: Path
    ) -> None:
        """Where the source offers it: the same logs are found there, and nothing else."""
        if not isinstance(made, FolderSource):
            return
        folder = tmp_path / "another"
        shutil.copytree(logs, folder)
        other = made.of(folder)
        assert list(other.roots()) == [folder]
        here, there = discovered(made, logs), discovered(other, folder)
        assert [Path(each.uri).name for each in there] == [Path(each.uri).name for each in here]
        for item in there:
            assert Path(item.uri).is_relative_to(folder)
            assert sum(line.end - line.start for line in other.read(item, 0)) == item.size
        assert list(other.discover([], logs)) == []

    def test_a_vanished_folder_is_no_error(self, made: Source, logs: Path) -> None:
        """Roots are watched whether they exist or not."""
        shutil.rmtree(logs)
        assert discovered(made, logs) == []

    def test_lines_are_the_bytes_of_the_file(self, made: Source, item: SourceItem) -> None:
        """One line follows another from the first byte to the last."""
        data = Path(item.uri).read_bytes()
        lines = list(made.read(item, 0))
        assert len(lines) >= 2, "a log of two lines or more tells more"
        check_lines(lines, data, 0)

    def test_only_a_line_feed_ends_a_line(self, made: Source, item: SourceItem) -> None:
        """Other characters that look like the end of a line stand inside of strings."""
        path, offset = Path(item.uri), ended(Path(item.uri))
        with path.open("ab") as file:
            file.write(BORDERS_OF_OTHERS)
        lines = list(made.read(item, offset))
        check_lines(lines, path.read_bytes(), offset)
        assert [line.data for line in lines] == [BORDERS_OF_OTHERS[:-1]]

    def test_an_unfinished_line_says_so(self, made: Source, item: SourceItem) -> None:
        """It is read again from its start when its end has come."""
        path, offset = Path(item.uri), ended(Path(item.uri))
        with path.open("ab") as file:
            file.write(b'{"half')
        (half,) = made.read(item, offset)
        assert (half.start, half.data, half.finished) == (offset, b'{"half', False)
        with path.open("ab") as file:
            file.write(b' of it"}\n')
        (whole,) = made.read(item, half.start)
        assert (whole.data, whole.finished) == (b'{"half of it"}', True)
        assert whole.end == path.stat().st_size

    def test_reading_goes_on_at_any_line(self, made: Source, item: SourceItem) -> None:
        """The rest is the same wherever reading starts."""
        lines = list(made.read(item, 0))
        for number, line in enumerate(lines):
            assert list(made.read(item, line.start)) == lines[number:]
        assert list(made.read(item, lines[-1].end)) == []

    def test_a_file_cut_short_ends_earlier(
        self, made: Source, logs: Path, item: SourceItem
    ) -> None:
        """Nothing is made up for what is gone, and the new size is found."""
        os.truncate(item.uri, item.size // 2)
        assert list(made.read(item, item.size)) == []
        assert made.excerpt(item, 0, item.size) == Path(item.uri).read_bytes()
        (found,) = [each for each in discovered(made, logs) if each.uri == item.uri]
        assert found.size == item.size // 2

    def test_another_file_in_its_place_is_refused(self, made: Source, item: SourceItem) -> None:
        """What was discovered is read, or nothing."""
        path = Path(item.uri)
        other = path.with_name("other-file")
        other.write_bytes(path.read_bytes())
        other.replace(path)
        with pytest.raises(OSError):
            list(made.read(item, 0))
        with pytest.raises(OSError):
            made.excerpt(item, 0, 1)

    @pytest.mark.skipif(os.name == "nt", reason="links need a right of their own there")
    def test_a_link_is_not_followed(
        self, made: Source, item: SourceItem, logs: Path, tmp_path: Path
    ) -> None:
        """A link could lead to any file of the user's."""
        path, outside = Path(item.uri), tmp_path / "outside"
        path.rename(outside)
        path.symlink_to(outside)
        with pytest.raises(OSError):
            list(made.read(item, 0))
        assert str(path) not in {each.uri for each in discovered(made, logs)}

    def test_a_vanished_file_is_an_os_error(self, made: Source, item: SourceItem) -> None:
        """The pass notes it and goes on."""
        Path(item.uri).unlink()
        with pytest.raises(OSError):
            list(made.read(item, 0))
        with pytest.raises(OSError):
            made.excerpt(item, 0, 1)

    def test_an_excerpt_is_the_bytes_of_its_range(self, made: Source, item: SourceItem) -> None:
        """Shorter at the end of the data, and empty behind it."""
        data = Path(item.uri).read_bytes()
        size = len(data)
        for start, end in ((0, size), (0, 0), (1, 7), (size - 1, size + 50), (size, size + 1)):
            assert made.excerpt(item, start, end) == data[start:end]


def discovered(source: Source, under: Path) -> list[SourceItem]:
    """What a source finds below a place, by path; whatever it could not look at has a reason."""
    failures: list[SourceFailure] = []
    items = sorted(source.discover(failures, under), key=lambda item: item.uri)
    assert all(failure.uri and failure.reason for failure in failures)
    return items


def ended(path: Path) -> int:
    """End the last line of a file, if it is not, and return the file's size."""
    data = path.read_bytes()
    if data and not data.endswith(b"\n"):
        path.write_bytes(data + b"\n")
    return path.stat().st_size


def check_lines(lines: list[RawLine], data: bytes, offset: int) -> None:
    """Compare lines with the bytes that they were read from."""
    position = offset
    for line in lines:
        assert line.start == position, "a line starts where the one before ends"
        content = data[line.start : line.end]
        assert line.finished == content.endswith(b"\n")
        if not line.dropped:
            assert line.data == content.removesuffix(b"\n").removesuffix(b"\r")
        position = line.end
    assert position == len(data), "the last line ends where the data ends"
    assert all(line.finished for line in lines[:-1])
