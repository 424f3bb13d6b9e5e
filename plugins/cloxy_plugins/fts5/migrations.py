"""The tables of the keyword index."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlalchemy import Connection

# Marks (Mn, Mc) are part of a word in Indic and other scripts; by default they would split it.
TOKENIZER = "porter unicode61 remove_diacritics 2 categories ''L* N* Co Mn Mc''"


def create_tables(connection: "Connection") -> None:
    """Create the indexed text and the index over it."""
    connection.exec_driver_sql(
        "CREATE TABLE fts_passages (passage_id INTEGER PRIMARY KEY, body TEXT NOT NULL,"
        " context TEXT NOT NULL, parts TEXT NOT NULL)"
    )
    connection.exec_driver_sql(
        "CREATE VIRTUAL TABLE passages_fts USING fts5(body, context, parts, content='fts_passages',"
        f" content_rowid='passage_id', tokenize='{TOKENIZER}')"
    )
