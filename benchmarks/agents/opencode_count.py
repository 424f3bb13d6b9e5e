"""Counts what was said in OpenCode's stores, by other means than the plugin's.

Databases are asked by SQLite's own JSON functions, files are read one by one; ids that several
stores have count once. Shares no code with the plugin.

    python benchmarks/agents/opencode_count.py FOLDER
"""

import json
import sqlite3
from pathlib import Path

from totals import by_session, main

VERSION_1 = """
    SELECT m.session_id, m.id, json_extract(m.data, '$.role'),
        json_type(m.data, '$.summary') = 'true'
    FROM message AS m JOIN part AS p ON p.message_id = m.id
    WHERE (json_extract(p.data, '$.type') = 'text'
            AND trim(json_extract(p.data, '$.text'), ' ' || char(9, 10, 13)) <> ''
            AND json_extract(p.data, '$.synthetic') IS NOT 1
            AND json_extract(p.data, '$.ignored') IS NOT 1)
        OR json_extract(p.data, '$.mime') LIKE 'image/%'
    GROUP BY m.id
"""
VERSION_2 = """
    SELECT session_id, id, CASE type WHEN 'compaction' THEN 'summary' ELSE type END, 0
    FROM session_message
    WHERE type = 'user' AND json_extract(data, '$.text') <> ''
        OR type = 'compaction' AND json_extract(data, '$.summary') <> ''
        OR type = 'assistant' AND EXISTS (
            SELECT 1 FROM json_each(data, '$.content') AS part
            WHERE json_extract(part.value, '$.type') = 'text'
                AND trim(json_extract(part.value, '$.text')) <> '')
"""


def environment(folder):
    """Variables with which a folder that holds `opencode` is found."""
    return {"XDG_DATA_HOME": str(folder), "OPENCODE_DB": ""}


def of_database(path):
    """Session, message and role of what a database says."""
    database = sqlite3.connect(f"{path.as_uri()}?immutable=1", uri=True)
    tables = {name for (name,) in database.execute("SELECT name FROM sqlite_master")}
    found = {}
    for table, statement in (("session_message", VERSION_2), ("part", VERSION_1)):
        if table in tables:
            for session, uid, role, summary in database.execute(statement):
                found[session, uid] = "summary" if role == "assistant" and summary else role
    sessions = {key for (key,) in database.execute("SELECT id FROM session")}
    database.close()
    return found, sessions


def of_files(folder, known):
    """The same of the files of old versions, without sessions that are known already."""
    found = {}
    for path in folder.glob("message/*/*.json"):
        session, uid = path.parent.name, path.stem
        if session in known or not list(folder.glob(f"session/*/{session}.json")):
            continue
        message = json.loads(path.read_text())
        parts = [json.loads(part.read_text()) for part in folder.glob(f"part/{uid}/*.json")]
        said = [
            part
            for part in parts
            if (part["type"] == "text" and part["text"].strip())
            and not part.get("synthetic")
            and not part.get("ignored")
        ]
        if said or any(str(part.get("mime")).startswith("image/") for part in parts):
            summary = message["role"] == "assistant" and message.get("summary") is True
            found[session, uid] = "summary" if summary else message["role"]
    return found


def count(folder):
    """Numbers of messages by session and role.

    Args:
        folder: one that holds the folder `opencode`.

    Returns:
        `{session: {"user": n, "assistant": n, "summary": n}}`, without sessions that say nothing.
    """
    place = Path(folder) / "opencode"
    said, known = {}, set()
    for path in sorted(place.glob("opencode*.db")):
        found, sessions = of_database(path)
        said.update({pair: role for pair, role in found.items() if pair[0] not in known})
        known |= sessions
    said.update(of_files(place / "storage", known))
    return by_session((session, role) for (session, _uid), role in said.items())


if __name__ == "__main__":
    main(count)
