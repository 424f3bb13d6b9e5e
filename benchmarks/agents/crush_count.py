"""Counts what was said in Crush's databases, by other means than the plugin's.

Each database is copied with its log and asked by SQLite's own JSON functions. Shares no code with
the plugin.

    python benchmarks/agents/crush_count.py FOLDER
"""

import json
import sqlite3
from pathlib import Path

from scratch import copied_database, scratch
from totals import by_session, main

# A message speaks when a text of it is not blank and not hidden, or when a picture is in it.
SPEAKING = """
    SELECT m.session_id, m.role, m.id, {mark} OR m.id = s.summary_message_id
    FROM messages AS m JOIN sessions AS s ON s.id = m.session_id
    WHERE m.role IN ('user', 'assistant') AND s.id NOT LIKE 'title-%' AND EXISTS (
        SELECT 1 FROM json_each(CAST(m.parts AS TEXT)) AS part
        WHERE (json_extract(part.value, '$.type') = 'text'
                AND json_extract(part.value, '$.data.hidden') IS NOT 1
                AND trim(json_extract(part.value, '$.data.text'), ' ' || char(9, 10, 13)) <> '')
            OR json_extract(part.value, '$.type') = 'image_url'
            OR json_extract(part.value, '$.data.MIMEType') LIKE 'image/%')
"""


def environment(folder):
    """Variables with which the projects in a folder are found: a list of them is written."""
    data = scratch("crush-data")
    entries = [
        {"path": str(path.parent.parent), "data_dir": str(path.parent)}
        for path in sorted(Path(folder).rglob("crush.db"))
    ]
    (data / "projects.json").write_text(json.dumps({"projects": entries}))
    return {"CRUSH_GLOBAL_DATA": str(data)}


def of_database(path):
    """Session, role, id and whether it is a summary of each message that says something."""
    database = sqlite3.connect(copied_database(path))
    columns = {row[1] for row in database.execute("PRAGMA table_info(messages)")}
    mark = "m.is_summary_message = 1" if "is_summary_message" in columns else "0"
    found = database.execute(SPEAKING.format(mark=mark)).fetchall()
    database.close()
    return found


def count(folder):
    """Numbers of messages by session and role, of all databases in a folder.

    Returns:
        `{session: {"user": n, "assistant": n, "summary": n}}`, without sessions that say nothing.
    """
    said = {}
    for path in sorted(Path(folder).rglob("crush.db")):
        for session, role, uid, summary in of_database(path):
            said[session, uid] = "summary" if summary and role == "assistant" else role
    return by_session((session, role) for (session, _uid), role in said.items())


if __name__ == "__main__":
    main(count)
