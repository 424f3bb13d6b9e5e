"""What is stored of an agent's logs, through the real engine."""

import os
import time
from contextlib import contextmanager

from sqlalchemy import text

from cloxy_core.testing.harness import App

SETTINGS = {"watch.dirs": "", "embed.provider": "none"}
"""Each source looks where its agent keeps its logs, by the environment of the process."""


class Stored:
    """An application whose sources find the logs of one agent, which lie in a folder."""

    def __init__(self, app, folder=None):
        self.app = app
        self.folder = folder

    def ingest(self, under=None, *, force=False):
        """Take in what there is, or what is in a folder, which need not be watched."""
        run = self.app.engine.ingest.run(under, force=force, anywhere=under is not None)
        return self.app.do(run)

    def rows(self, statement):
        return self.app.read(lambda c: [tuple(row) for row in c.execute(text(statement))])

    def uids(self):
        """Ids of all messages, sorted; one that is stored twice stands there twice."""
        return sorted(
            uid for (uid,) in self.rows("SELECT message_uid FROM passages WHERE part = 0")
        )

    def by_session(self, *columns):
        """Columns of the messages of each session, in the order in which they were stored."""
        found = {}
        for key, *values in self.rows(
            f"SELECT s.key, {', '.join(f'p.{column}' for column in columns)} FROM passages p"
            " JOIN sessions s ON s.id = p.session_id WHERE p.part = 0 ORDER BY p.id"
        ):
            found.setdefault(key, []).append(values[0] if len(values) == 1 else tuple(values))
        return found

    def content(self):
        """All that can be read again."""
        return "\n".join(row[0] for row in self.rows("SELECT content FROM memories ORDER BY id"))


@contextmanager
def running(folder, plugin, **settings):
    """A started application in a folder, with one plugin and settings by dotted name."""
    settings = SETTINGS | settings
    with App(folder / "cloxy", plugins={"agent": plugin}, settings=settings) as app:
        app.start()
        yield app


def write_log(path, log, *, age=3_600):
    """The file of a log, or of bytes, that changed last so many seconds ago."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(log if isinstance(log, bytes) else log.data())
    then = time.time() - age
    os.utime(path, (then, then))
    return path
