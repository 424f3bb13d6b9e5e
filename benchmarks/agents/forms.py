"""Whether damaged data still has the form that an agent writes, so that nobody could tell.

The form is taken from the undamaged files, by plain JSON and SQLite only; no code of a plugin has a
part in it. Data is well-formed when each of its parts has the form of a part that was there before:

* JSON, whole or a value a line: it is strict JSON in UTF-8, no object has a key twice, and each
  object has the keys of one that stood at such a place, with values of the same types. Values of
  keys that tell what an object is (`type`, `role`) are part of its form. Where it is said which
  keys matter, since words, speakers, kinds or ids stand there, damage to others counts for nothing.
* SQLite: `PRAGMA integrity_check` finds nothing, the tables are the same, and each row has values
  of the types of some row of its table, with what is JSON in it of a form as above.

So a line, an element or a row may be missing, and texts may be others. Whatever else was changed,
a source could tell.
"""

import json
import shutil
import sqlite3
from contextlib import closing

from scratch import scratch

TELLING = frozenset({"type", "kind", "role", "source", "operationType", "step_type"})
SQLITE = b"SQLite format 3\0"


class Forms:
    """The forms of undamaged files."""

    def __init__(self, files, matters=None):
        """Learn them.

        Args:
            files: contents by path.
            matters: keys of objects that matter; None for all.
        """
        self._matters = matters
        self._known = {path: of(data, path, matters) for path, data in files.items()}
        self._by_suffix = {}
        for path, forms in self._known.items():
            self._by_suffix.setdefault(path.suffix, set()).update(forms or ())

    def well_formed(self, path, data):
        """Whether the data of a file has the form of the files of its kind (or is empty)."""
        if self._known[path] is None:
            return False
        found = of(data, path, self._matters)
        return found is not None and found <= self._by_suffix[path.suffix]


def of(data, path, matters):
    """The forms of all parts of a file; None when it is neither JSON nor a sound database."""
    if data.startswith(SQLITE):
        return of_database(data, path, matters)
    if path.suffix == ".jsonl":
        return of_lines(data, matters)
    found = of_json(data, matters)
    return of_lines(data, matters) if found is None else found


def of_lines(data, matters):
    """The forms of all lines; None when one is no JSON."""
    forms = set()
    for line in data.split(b"\n"):
        found = of_json(line, matters)
        if found is None:
            return None
        forms |= found
    return forms


def of_json(data, matters):
    """The forms of all objects of a JSON text; None when it is none."""
    if not data.strip(b" \t\r\n"):
        return set()
    try:
        value = json.loads(data.decode("utf-8"), object_pairs_hook=_once)
    except (ValueError, RecursionError):
        return None
    forms = set()
    _walk(value, "", forms, matters)
    return forms


def of_database(data, path, matters):
    """The forms of all rows; None when the database is damaged."""
    place = scratch("forms")
    (place / "copy").write_bytes(data)
    for tail in ("-wal",):
        beside = path.with_name(path.name + tail)
        if beside.exists():
            shutil.copyfile(beside, place / f"copy{tail}")
    try:
        with closing(sqlite3.connect(place / "copy")) as database:
            if database.execute("PRAGMA integrity_check").fetchall() != [("ok",)]:
                return None
            return _rows(database, matters)
    except (sqlite3.Error, UnicodeDecodeError):
        return None
    finally:
        shutil.rmtree(place)


def _rows(database, matters):
    forms = set()
    tables = database.execute("SELECT type, name, sql FROM sqlite_master").fetchall()
    forms.update(("schema", *each) for each in tables)
    for kind, name, _sql in tables:
        if kind != "table":
            continue
        for row in database.execute(f'SELECT * FROM "{name}"'):
            forms.add((name, tuple(type(value).__name__ for value in row)))
            for number, value in enumerate(row):
                text = value if isinstance(value, bytes) else str(value).encode("utf-8", "replace")
                if text[:1] in (b"{", b"["):
                    inside = of_json(text, matters)
                    if inside is None:
                        forms.add((name, number, "no JSON"))
                    else:
                        forms.update((name, number, each) for each in inside)
    return forms


def _once(pairs):
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key twice")
    return found


def _walk(value, place, forms, matters):
    if isinstance(value, dict):
        if matters is not None:
            value = {key: each for key, each in value.items() if key in matters}
        shape = sorted(
            (key, type(each).__name__, each if key in TELLING and isinstance(each, str) else "")
            for key, each in value.items()
        )
        forms.add((place, tuple(shape)))
        for key, each in value.items():
            _walk(each, f"{place}.{key}", forms, matters)
    elif isinstance(value, list):
        for each in value:
            forms.add((f"{place}[]", type(each).__name__))
            _walk(each, f"{place}[]", forms, matters)
    else:
        forms.add((place, type(value).__name__))
