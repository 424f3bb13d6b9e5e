"""Looking for words in all bytes of a data directory, in every form that a program writes them."""

import json
import os
from pathlib import Path

NOT_TEXT = {"reserve.bin", "tombstones.key", "owner.token", "server.key"}


def forms(word: str) -> set[bytes]:
    """A word as UTF-8, UTF-16 either way, and escaped as JSON does it."""
    found = {
        word.encode(),
        word.encode("utf-16-le"),
        word.encode("utf-16-be"),
        json.dumps(word)[1:-1].encode(),
        json.dumps(word, ensure_ascii=False)[1:-1].encode(),
        ascii(word)[1:-1].encode(),
    }
    return {form for form in found if form}


def holders(folder: Path, words) -> dict[str, list[str]]:
    """Words by the file that holds them, its name included; read by another process.

    Closing the database in the process of a store would drop that store's locks; here the store
    is in a process of its own, so that this one may read.
    """
    wanted = {word: forms(word) for word in words}
    found: dict[str, list[str]] = {}
    for root, _folders, files in os.walk(folder):
        for name in files:
            path = Path(root, name)
            try:
                data = path.read_bytes() if name != "reserve.bin" else b""
            except FileNotFoundError:
                continue
            for word, shapes in wanted.items():
                if any(shape in data for shape in shapes):
                    found.setdefault(str(path.relative_to(folder)), []).append(word)
    return found
