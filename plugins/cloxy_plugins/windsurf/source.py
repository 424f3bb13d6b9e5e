"""Transcripts of Windsurf as a source, which also tells how many conversations are encrypted."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from cloxy_hookspecs import HostContext, LogReader, RawLine, SourceFailure, SourceItem
from cloxy_hookspecs.logs.documents import DocumentKind, Documents
from cloxy_plugins.windsurf.places import encrypted_trees, transcript_folders, transcript_tree
from cloxy_plugins.windsurf.steps import records_of

TRANSCRIPTS = DocumentKind(tree=transcript_tree, records=records_of)


def create_source(context: HostContext) -> "Transcripts":
    """Make the source."""
    reader = context.service(LogReader)
    home = Path.home()
    documents = Documents(reader, lambda: transcript_folders(home), TRANSCRIPTS)
    return Transcripts(documents, reader, home)


class Transcripts:
    """Reads transcripts, and counts what is encrypted; implements `FolderSource`."""

    def __init__(self, documents: Documents, reader: LogReader, home: Path) -> None:
        """Put it together.

        Args:
            documents: the transcripts.
            reader: lists files.
            home: the user's home folder.
        """
        self._documents = documents
        self._reader = reader
        self._home = home

    def of(self, folder: Path) -> Documents:
        """Transcripts of another folder."""
        return self._documents.of(folder)

    def roots(self) -> Sequence[Path]:
        """The folder of transcripts, whether it exists or not."""
        return self._documents.roots()

    def discover(
        self, failures: list[SourceFailure], under: Path | None = None
    ) -> Iterator[SourceItem]:
        """As `Source.discover`; of encrypted files none is opened."""
        if under is None:
            failures.extend(self._encrypted())
        return self._documents.discover(failures, under)

    def read(self, item: SourceItem, offset: int) -> Iterator[RawLine]:
        """As `Source.read`.

        Raises:
            OSError: the file cannot be opened or read, or is too large.
        """
        return self._documents.read(item, offset)

    def excerpt(self, item: SourceItem, start: int, end: int) -> bytes:
        """Not asked of things that are rewritten."""
        return self._documents.excerpt(item, start, end)

    def _encrypted(self) -> Iterator[SourceFailure]:
        """One line a folder with encrypted conversations."""
        for tree in encrypted_trees(self._home):
            # Whatever cannot be listed there could not be read either.
            number = sum(1 for _each in self._reader.files([tree], []))
            if number:
                reason = f"{number:,} encrypted conversation(s), which only Windsurf can read"
                yield SourceFailure(str(tree.root), reason, deliberate=True)
