"""What the store needs to convert an old database: cleaning, projects, and somebody to tell."""

import sys
from collections.abc import Mapping
from logging import Logger

from cloxy_core.services.projects import ProjectResolver
from cloxy_core.services.redaction import clean
from cloxy_core.store.legacy.wording import Helpers


def upgrade_helpers(log: Logger) -> Helpers:
    """The same cleaning that everything goes through that is taken in; told to log and terminal."""

    def tell(words: str) -> None:
        log.info("%s", words)
        # Long before the server answers; who started it by hand looks at a terminal.
        if sys.stderr is not None and sys.stderr.isatty():
            print(words, file=sys.stderr, flush=True)

    return Helpers(_clean, ProjectResolver().resolve, tell)


def _clean(text: str) -> tuple[str, Mapping[str, int]]:
    cleaned = clean(text)
    return cleaned.text, cleaned.counts
