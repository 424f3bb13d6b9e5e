"""Sessions of Crush as a source."""

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from cloxy_hookspecs import HostContext, LogReader, SourceFailure, SourceItem
from cloxy_hookspecs.logs.databases import Databases
from cloxy_plugins.crush.places import Projects, data_folder, databases_below, databases_in
from cloxy_plugins.crush.tables import Sessions

_AGENT = "crush"


def create_source(context: HostContext) -> "CrushDatabases":
    """Make the source."""
    reader = context.service(LogReader)
    data = data_folder(os.environ, Path.home(), sys.platform)
    return CrushDatabases(reader, Projects(reader, data), context.clock.now_ms)


class CrushDatabases(Databases):
    """Databases of the projects that are known; implements `FolderSource`."""

    def __init__(self, reader: LogReader, projects: Projects, now_ms: Callable[[], int]) -> None:
        """Nothing is read.

        Args:
            reader: finds and opens.
            projects: tells where databases are.
            now_ms: the present in milliseconds.
        """
        talks = Sessions(databases_in, projects.project_of, now_ms)
        super().__init__(reader, _AGENT, projects.folders, talks)
        self._of = (reader, projects, now_ms)
        self._looked = False

    def of(self, folder: Path) -> Databases:
        """Databases of the projects in another folder."""
        reader, projects, now_ms = self._of
        talks = Sessions(databases_below, projects.project_of, now_ms)
        return Databases(reader, _AGENT, lambda: [folder], talks)

    def discover(
        self, failures: list[SourceFailure], under: Path | None = None
    ) -> Iterator[SourceItem]:
        """As `Source.discover`; a sweep looks for new projects, an event in one does not."""
        if under is None or not self._looked:
            self._of[1].look(failures)
            self._looked = True
        yield from super().discover(failures, under)
