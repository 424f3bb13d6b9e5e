"""Sanitizers and extractors on one page, one after the other; runs in a process of its own."""

import base64
import importlib
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from cloxy_hookspecs.errors import CloxyError, FetchError, InputError, UnsupportedMediaError
from cloxy_hookspecs.types.web import Extracted, PageSource, Sanitized

Record: TypeAlias = Mapping[str, Any]
FLAGS: Final = frozenset({"needs_browser", "too_little_text"})
REFUSALS: Final = {"input": InputError, "media": UnsupportedMediaError, "fetch": FetchError}
EXTRA: Final = "extra"
_MOST_MESSAGE: Final = 300


class _Refused(Exception):
    """The page has no text; `kind` is one of `REFUSALS` or `EXTRA`."""

    def __init__(self, kind: str, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.hint = hint


def run(job: Mapping[str, Any]) -> Mapping[str, Any]:
    """Make text of a page.

    Args:
        job: `url`, `media_type`, `text`, `data` (Base64), `mode`, `selector`, and the records of
            `sanitizers` and `extractors` that take it, in order: `name`, `target`, `extra`.

    Returns:
        `text`, `title`, `matches`, `flags`, `notes`, `removed`, and `faults`: what went wrong in
        extractors that were passed over; or `refused`, `message` and `hint`.
    """
    source = PageSource(
        job["url"], job["media_type"], whole(job["text"]), base64.b64decode(job["data"])
    )
    faults: list[str] = []
    try:
        source, removed = _sanitized(source, job["sanitizers"])
        made = _extracted(source, job, faults)
    except _Refused as refusal:
        return {
            "refused": refusal.kind,
            "message": str(refusal),
            "hint": refusal.hint,
            "faults": faults,
        }
    return {
        "text": whole(made.text),
        "title": whole(made.title),
        "matches": [whole(match) for match in made.matches],
        "flags": sorted(made.flags & FLAGS),
        "notes": [whole(note) for note in made.notes],
        "removed": dict(removed),
        "faults": faults,
    }


def whole(text: str) -> str:
    """The text without halves of surrogate pairs, which nothing can encode."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _sanitized(source: PageSource, records: list[Record]) -> tuple[PageSource, Counter[str]]:
    """A page that a sanitizer could not clean is not shown at all."""
    removed: Counter[str] = Counter()
    for record in records:
        try:
            made = _function(record)(source)
        except CloxyError as error:
            raise _told(error) from error
        except (MemoryError, _Refused):
            raise
        except Exception as error:
            raise _Refused("fetch", _fault("sanitizer", record, error)) from error
        if not isinstance(made, Sanitized):
            raise _Refused("fetch", _wrong("sanitizer", record, made))
        source = made.source
        removed.update({str(name): int(count) for name, count in made.removed.items() if count})
    return source, removed


def _extracted(source: PageSource, job: Mapping[str, Any], faults: list[str]) -> Extracted:
    """What the first makes that does not decline; one that fails is passed over, and named."""
    for record in job["extractors"]:
        try:
            made = _function(record)(source, job["mode"], job["selector"])
        except CloxyError as error:
            raise _told(error) from error
        except (MemoryError, _Refused):
            raise
        except Exception as error:
            faults.append(_fault("extractor", record, error))
            continue
        if isinstance(made, Extracted):
            return made
        if made is not None:
            faults.append(_wrong("extractor", record, made))
    raise _Refused(
        "fetch" if faults else "media",
        f"nothing could be read of the page: {faults[0]}"
        if faults
        else f"no extractor takes {job['media_type']} for mode {job['mode']}",
    )


def _function(record: Record) -> Callable[..., Any]:
    module, _, name = record["target"].partition(":")
    try:
        found: Callable[..., Any] = getattr(importlib.import_module(module), name)
    except ImportError as error:
        if record["extra"]:
            message = f"{record['name']} needs a package that is not installed: {error.name}"
            raise _Refused(EXTRA, message, f"pip install 'cloxy[{record['extra']}]'") from error
        raise
    return found


def _told(error: CloxyError) -> _Refused:
    kinds = (kind for kind, each in REFUSALS.items() if issubclass(type(error), each))
    return _Refused(next(kinds, "fetch"), error.message, error.hint)


def _fault(what: str, record: Record, error: Exception) -> str:
    told = f"the {what} {record['name']!r} failed: {type(error).__name__}: {error}"
    return told[:_MOST_MESSAGE]


def _wrong(what: str, record: Record, made: object) -> str:
    return f"the {what} {record['name']!r} failed: it returned a {type(made).__name__}"
