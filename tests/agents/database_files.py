"""Databases as programs keep them, made by the tests."""

import sqlite3
from contextlib import closing


class DatabaseFile:
    """A database at `path`, each statement of which is written at once."""

    path = None

    def open(self):
        connection = sqlite3.connect(self.path, isolation_level=None)
        connection.execute("PRAGMA synchronous=OFF")
        return closing(connection)

    def run(self, statement, *values):
        with self.open() as connection:
            return connection.execute(statement, values).fetchall()
