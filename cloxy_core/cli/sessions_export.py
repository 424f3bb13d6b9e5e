"""`cloxy sessions export`: one session as a file for people."""

import os
import time
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from pathlib import Path

import click

from cloxy_core.cli import fields, output
from cloxy_core.cli.server import connect
from cloxy_core.cli.sessions_ask import stretches
from cloxy_core.cli.sessions_file import check, write_file
from cloxy_core.cli.sessions_html import page
from cloxy_core.cli.sessions_markdown import markdown
from cloxy_core.client_config import data_directory, resolve_client
from cloxy_core.services.keeping.records import KnownCopy, note_copy

Messages = Iterator[Mapping[str, object]]
FORMS: Mapping[str, Callable[[Mapping[str, object], Messages], Iterator[str]]] = {
    ".md": markdown,
    ".markdown": markdown,
    ".html": page,
    ".htm": page,
}


def export_session(key: str, agent: str | None, file: str, *, force: bool) -> dict[str, object]:
    """Write a session to a file, and tell what was written.

    Args:
        key: the agent's own id of it, or the beginning of it.
        agent: name of the agent; None for any.
        file: where to; its ending says in which form.
        force: whether a file that is there may be replaced.

    Raises:
        UsageError: the ending is that of no form.
        ClientError: there is no such session, or the file cannot be written.
    """
    path = Path(file).expanduser().absolute()
    form = FORMS.get(path.suffix.lower())
    if form is None:
        raise click.UsageError("the file has to end in .md or .html")
    check(path, force=force)
    answers = stretches(connect(), key, agent=agent)
    first = next(answers)
    counted = _Counted(chain([first], answers))
    write_file(path, form(first, counted.messages()), force=force)
    _note(path)
    return {
        "file": str(path),
        "id": fields.text(first, "id"),
        "agent": fields.text(first, "agent"),
        "messages": counted.count,
    }


class _Counted:
    """The messages of a session, counted as they pass."""

    def __init__(self, answers: Iterator[Mapping[str, object]]) -> None:
        self._answers = answers
        self.count = 0

    def messages(self) -> Messages:
        """All of them."""
        for answer in self._answers:
            for message in fields.records(answer, "messages"):
                self.count += 1
                yield message


def _note(path: Path) -> None:
    """Remember where the copy is, so that `cloxy forget` can name it."""
    data = resolve_client(os.environ, data_directory(os.environ)).data_dir
    if data is None or not data.is_dir():
        return
    try:
        note_copy(data, KnownCopy("export", path, int(time.time() * 1000)))
    except OSError as error:
        output.warn(f"{data} cannot be written, so `cloxy forget` will not name {path}: {error}")
