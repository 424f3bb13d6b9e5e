"""The title of a session, from the card that lies beside its log."""

from pathlib import Path

from cloxy_hookspecs import LogReader
from cloxy_hookspecs.logs.titles import NAMED, SUMMARY, title_of_name, title_of_words
from cloxy_plugins.copilot_cli.roots import card_of_file
from cloxy_plugins.copilot_cli.yaml_scalars import top_level_texts

Title = tuple[str, int]

_MOST = 1 << 20
_KNOWN = 1_000
_Signature = tuple[int, int, int]


class Cards:
    """Reads a card anew whenever it changed."""

    def __init__(self, reader: LogReader) -> None:
        """Nothing is read.

        Args:
            reader: opens cards as logs are opened.
        """
        self._reader = reader
        self._known: dict[Path, tuple[_Signature, Title | None]] = {}

    def title_of(self, uri: str) -> Title | None:
        """Title of the session and its rank; None when the card has none.

        Args:
            uri: path of the session's log.
        """
        path = card_of_file(uri)
        if path is None:
            return None
        try:
            now = path.lstat()
            signature = (now.st_ino, now.st_size, now.st_mtime_ns)
            known = self._known.get(path)
            if known is not None and known[0] == signature:
                return known[1]
            data = self._reader.content(path.parent.parent, path, _MOST)
        except OSError:
            # Without a card, or with one that is no plain file, a session is called by its words.
            return None
        title = title_in(data)
        if len(self._known) >= _KNOWN:
            self._known.clear()
        self._known[path] = (signature, title)
        return title


def title_in(data: bytes) -> Title | None:
    """The title in a card: its name, else its summary, which often is the first prompt."""
    texts = top_level_texts(data.decode("utf-8", "replace"), ("name", "summary"))
    if name := title_of_name(texts.get("name", "")):
        return (name, NAMED)
    summary = title_of_words(texts.get("summary", ""))
    return (summary, SUMMARY) if summary else None
