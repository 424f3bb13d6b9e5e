"""The schema of the core, step by step.

The text is frozen: a released step is never edited, and a change of `tables.py` comes with a
new step. A test compares what all steps make with what `tables.py` declares.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from cloxy_hookspecs.providers.platform import Migration

if TYPE_CHECKING:
    from sqlalchemy import Connection

CORE: Final = "core"

_FIRST: Final = (
    """
    CREATE TABLE projects (
        id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
        "key" VARCHAR NOT NULL,
        path VARCHAR NOT NULL,
        UNIQUE ("key")
    )
    """,
    """
    CREATE TABLE sessions (
        id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
        agent VARCHAR NOT NULL,
        "key" VARCHAR NOT NULL,
        parent_key VARCHAR,
        project_id INTEGER,
        cwd VARCHAR,
        branch VARCHAR,
        title VARCHAR,
        title_rank INTEGER NOT NULL,
        indexed_title VARCHAR,
        program BOOLEAN NOT NULL,
        started_at INTEGER,
        ended_at INTEGER,
        UNIQUE (agent, "key"),
        FOREIGN KEY(project_id) REFERENCES projects (id)
    )
    """,
    """
    CREATE TABLE sources (
        id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
        plugin VARCHAR NOT NULL,
        uri VARCHAR NOT NULL,
        parser VARCHAR NOT NULL,
        identity VARCHAR NOT NULL,
        byte_offset INTEGER NOT NULL,
        size INTEGER NOT NULL,
        mtime_ns INTEGER NOT NULL,
        head VARCHAR NOT NULL,
        head_len INTEGER NOT NULL,
        before_hash VARCHAR NOT NULL,
        parser_state JSON NOT NULL,
        state VARCHAR NOT NULL,
        error VARCHAR,
        records INTEGER NOT NULL,
        messages INTEGER NOT NULL,
        bad_lines INTEGER NOT NULL,
        updated_at INTEGER NOT NULL,
        UNIQUE (plugin, uri)
    )
    """,
    """
    CREATE TABLE memories (
        id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
        uid VARCHAR NOT NULL,
        origin VARCHAR NOT NULL,
        kind VARCHAR NOT NULL,
        tier VARCHAR NOT NULL,
        state VARCHAR NOT NULL,
        immutable BOOLEAN NOT NULL,
        content VARCHAR NOT NULL,
        content_hash VARCHAR NOT NULL,
        source VARCHAR NOT NULL,
        project_id INTEGER,
        session_id INTEGER,
        source_id INTEGER,
        ordinal INTEGER NOT NULL,
        open BOOLEAN NOT NULL,
        occurred_from INTEGER,
        occurred_to INTEGER,
        created_at INTEGER NOT NULL,
        updated_at INTEGER NOT NULL,
        version INTEGER NOT NULL,
        extra JSON NOT NULL,
        UNIQUE (uid),
        FOREIGN KEY(project_id) REFERENCES projects (id),
        FOREIGN KEY(session_id) REFERENCES sessions (id),
        FOREIGN KEY(source_id) REFERENCES sources (id)
    )
    """,
    "CREATE INDEX ix_memories_hash ON memories (content_hash)",
    "CREATE INDEX ix_memories_project ON memories (project_id)",
    "CREATE INDEX ix_memories_session ON memories (session_id, ordinal)",
    "CREATE INDEX ix_memories_source ON memories (source)",
    """
    CREATE TABLE passages (
        id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
        memory_id INTEGER NOT NULL,
        session_id INTEGER,
        ordinal INTEGER NOT NULL,
        part INTEGER NOT NULL,
        role VARCHAR NOT NULL,
        author VARCHAR NOT NULL,
        char_start INTEGER NOT NULL,
        char_end INTEGER NOT NULL,
        message_uid VARCHAR,
        occurred_at INTEGER,
        text_hash VARCHAR NOT NULL,
        UNIQUE (session_id, message_uid, part),
        FOREIGN KEY(memory_id) REFERENCES memories (id) ON DELETE CASCADE,
        FOREIGN KEY(session_id) REFERENCES sessions (id)
    )
    """,
    "CREATE INDEX ix_passages_hash ON passages (text_hash)",
    "CREATE INDEX ix_passages_memory ON passages (memory_id, ordinal)",
    "CREATE INDEX ix_passages_session ON passages (session_id)",
    "CREATE INDEX ix_passages_uid ON passages (message_uid)",
    """
    CREATE TABLE memory_events (
        id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
        memory_id INTEGER NOT NULL,
        op VARCHAR NOT NULL,
        actor VARCHAR NOT NULL,
        reason VARCHAR,
        at INTEGER NOT NULL
    )
    """,
    "CREATE INDEX ix_events_memory ON memory_events (memory_id)",
    """
    CREATE TABLE index_outbox (
        seq INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
        passage_id INTEGER NOT NULL,
        op VARCHAR NOT NULL,
        at INTEGER NOT NULL
    )
    """,
    """
    CREATE TABLE index_checkpoints (
        "index" VARCHAR NOT NULL,
        seq INTEGER NOT NULL,
        PRIMARY KEY ("index")
    )
    """,
    """
    CREATE TABLE tombstones (
        scope VARCHAR NOT NULL,
        key_hmac BLOB NOT NULL,
        at INTEGER NOT NULL,
        PRIMARY KEY (scope, key_hmac)
    )
    """,
    """
    CREATE TABLE dead_letters (
        id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
        source_id INTEGER NOT NULL,
        byte_start INTEGER NOT NULL,
        byte_end INTEGER NOT NULL,
        reason VARCHAR NOT NULL,
        tries INTEGER NOT NULL,
        at INTEGER NOT NULL,
        UNIQUE (source_id, byte_start),
        FOREIGN KEY(source_id) REFERENCES sources (id) ON DELETE CASCADE
    )
    """,
    """
    CREATE TABLE counters (
        "key" VARCHAR NOT NULL,
        value FLOAT NOT NULL,
        PRIMARY KEY ("key")
    )
    """,
    """
    CREATE TABLE schema_migrations (
        owner VARCHAR NOT NULL,
        number INTEGER NOT NULL,
        applied_at INTEGER NOT NULL,
        PRIMARY KEY (owner, number)
    )
    """,
)

_SECOND: Final = (
    """
    CREATE TABLE embedding_spaces (
        id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
        fingerprint VARCHAR NOT NULL,
        model VARCHAR NOT NULL,
        revision VARCHAR NOT NULL,
        dim INTEGER NOT NULL,
        query_prefix VARCHAR NOT NULL,
        passage_prefix VARCHAR NOT NULL,
        active BOOLEAN NOT NULL,
        created_at INTEGER NOT NULL,
        UNIQUE (fingerprint)
    )
    """,
    """
    CREATE TABLE embeddings (
        id INTEGER NOT NULL PRIMARY KEY,
        passage_id INTEGER NOT NULL,
        space_id INTEGER NOT NULL,
        text_hash VARCHAR NOT NULL,
        vector BLOB NOT NULL,
        UNIQUE (passage_id, space_id),
        FOREIGN KEY(passage_id) REFERENCES passages (id) ON DELETE CASCADE,
        FOREIGN KEY(space_id) REFERENCES embedding_spaces (id) ON DELETE CASCADE
    )
    """,
)

_THIRD: Final = (
    "ALTER TABLE embedding_spaces ADD COLUMN state VARCHAR DEFAULT 'dormant' NOT NULL",
    # Until now, whatever was not the active space was on its way out.
    "UPDATE embedding_spaces SET state = 'leaving' WHERE NOT active",
)

_FOURTH: Final = (
    """
    CREATE TABLE project_rules (
        "key" VARCHAR NOT NULL,
        path VARCHAR NOT NULL,
        ignored BOOLEAN NOT NULL,
        keep_days INTEGER,
        at INTEGER NOT NULL,
        PRIMARY KEY ("key")
    )
    """,
    """
    CREATE TABLE passed_over (
        agent VARCHAR NOT NULL,
        session VARCHAR NOT NULL,
        why VARCHAR NOT NULL,
        source_id INTEGER NOT NULL,
        rule VARCHAR NOT NULL,
        PRIMARY KEY (agent, session, why, source_id),
        FOREIGN KEY(source_id) REFERENCES sources (id) ON DELETE CASCADE
    )
    """,
    "CREATE INDEX ix_passed_over_session ON passed_over (session)",
)

_FIFTH: Final = ("ALTER TABLE sessions ADD COLUMN relation VARCHAR",)


def _statements(*statements: str) -> Callable[["Connection"], None]:
    """A migration that is nothing but statements."""

    def apply(connection: "Connection") -> None:
        for statement in statements:
            connection.exec_driver_sql(statement)

    return apply


CORE_MIGRATIONS: Final = (
    Migration(
        owner=CORE,
        number=1,
        summary="projects, sessions, sources, memories, passages, and what keeps them in step",
        apply=_statements(*_FIRST),
    ),
    Migration(
        owner=CORE,
        number=2,
        summary="embedding spaces, and the vectors of passages",
        apply=_statements(*_SECOND),
    ),
    Migration(
        owner=CORE,
        number=3,
        summary="what becomes of a space of vectors that is not the active one",
        apply=_statements(*_THIRD),
    ),
    Migration(
        owner=CORE,
        number=4,
        summary="projects that are ignored or not kept for ever",
        apply=_statements(*_FOURTH),
    ),
    Migration(
        owner=CORE,
        number=5,
        summary="what a session is to the one that it came from",
        apply=_statements(*_FIFTH),
    ),
)
