"""What the toy agent writes."""

import json
import sqlite3


def make_store(folder):
    """A database with two conversations."""
    folder.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(folder / "toy.db", isolation_level=None)
    connection.executescript(
        """
        CREATE TABLE talks (key TEXT PRIMARY KEY, updated INTEGER);
        CREATE TABLE words (id INTEGER PRIMARY KEY, talk TEXT, who TEXT, text TEXT);
        INSERT INTO talks VALUES ('t1', 1), ('t2', 2);
        """
    )
    connection.close()
    for talk in ("t1", "t2"):
        say(folder, talk, "user", f"Why does crane {talk} stop?")
        say(folder, talk, "assistant", f"Its cable is worn, says {talk}.")
    return folder


def say(folder, talk, who, text):
    """One thing more in a conversation."""
    connection = sqlite3.connect(folder / "toy.db")
    connection.execute("INSERT INTO words (talk, who, text) VALUES (?, ?, ?)", (talk, who, text))
    connection.execute("UPDATE talks SET updated = updated + 1000 WHERE key = ?", (talk,))
    connection.commit()
    connection.close()


def change_text(folder, old, new):
    """Let something said have other words."""
    connection = sqlite3.connect(folder / "toy.db")
    connection.execute("UPDATE words SET text = ? WHERE text = ?", (new, old))
    connection.execute("UPDATE talks SET updated = updated + 1000")
    connection.commit()
    connection.close()


def write_lines(path, talk="t9", said=("Where is the key?", "Behind the door.", "Thanks")):
    """An older session, a file of lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    records = [
        {"id": f"{talk}-{n}", "talk": talk, "who": ("user", "assistant")[n % 2], "text": text}
        for n, text in enumerate(said)
    ]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path
