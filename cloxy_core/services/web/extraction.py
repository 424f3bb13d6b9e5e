"""Text of pages, made in processes that are killed when a page takes too much."""

import base64
import sys
from collections.abc import Mapping, Sequence
from logging import Logger
from typing import Any, Final, TypeVar

from cloxy_core.runtime.processes import (
    JobError,
    ProcessBusyError,
    ProcessDiedError,
    ProcessLimitError,
    ProcessLimits,
    ProcessPool,
    ProcessStoppedError,
)
from cloxy_core.services.web import chain
from cloxy_core.services.web.decoding import is_text
from cloxy_hookspecs import (
    Extracted,
    ExtractorProvider,
    FetchBusyError,
    FetchError,
    FetchMode,
    MissingExtraError,
    PageSource,
    SanitizerProvider,
)

PROCESSES: Final = 2
_RAW: Final = "mode raw gives its text as it is"
SANITIZED: Final = frozenset({"clean", "markdown"})
_RUN: Final = f"{chain.__name__}:{chain.run.__name__}"
_T = TypeVar("_T", SanitizerProvider, ExtractorProvider)


class Extraction:
    """Sanitizers and extractors, in order, in processes of their own."""

    def __init__(
        self,
        sanitizers: Sequence[SanitizerProvider],
        extractors: Sequence[ExtractorProvider],
        log: Logger,
        limits: ProcessLimits | None = None,
    ) -> None:
        """Start nothing yet.

        Args:
            sanitizers: all that are enabled.
            extractors: all that are enabled.
            log: told which plugin failed, without what it read.
            limits: of one page.
        """
        self._sanitizers = sorted(sanitizers, key=lambda record: record.order)
        self._extractors = sorted(extractors, key=lambda record: record.order)
        self._log = log
        modules: dict[str, str | None] = _files(self._sanitizers) | _files(self._extractors)
        modules[chain.__name__] = None
        self._pool = ProcessPool(modules, size=PROCESSES, limits=limits)

    @property
    def binary_types(self) -> frozenset[str]:
        """Media types that are no text, and that an extractor takes by their whole name."""
        return frozenset(
            media_type
            for record in self._extractors
            for media_type in record.media_types
            if not (media_type.endswith("/") or media_type.startswith("+") or is_text(media_type))
        )

    @property
    def pids(self) -> frozenset[int]:
        """Ids of the processes that there are at this moment."""
        return self._pool.pids

    async def extract(
        self, source: PageSource, mode: FetchMode, selector: str | None
    ) -> tuple[Extracted, Mapping[str, int]]:
        """Make text of a page.

        Args:
            source: the page.
            mode: what comes back; `raw` is not for this.
            selector: for mode `extract`.

        Returns:
            The text, and what was taken out of the page before, with counts.

        Raises:
            InputError: the selector cannot be used.
            UnsupportedMediaError: no extractor takes the page.
            MissingExtraError: the one that does needs a package that is not installed.
            FetchBusyError: too many pages are being read.
            FetchError: the page is too expensive, or a plugin failed on it.
        """
        answer = await self._answer(
            {
                "url": source.url,
                "media_type": source.media_type,
                "text": source.text,
                "data": base64.b64encode(source.data).decode("ascii"),
                "mode": mode,
                "selector": selector,
                "sanitizers": _described(self._sanitizers, source) if mode in SANITIZED else [],
                "extractors": _described(
                    [record for record in self._extractors if mode in record.modes], source
                ),
            }
        )
        for fault in answer["faults"]:
            self._log.warning("reading a page: %s", fault)
        if "refused" in answer:
            raise _refusal(answer)
        return _extracted(answer), {str(k): int(v) for k, v in answer["removed"].items()}

    async def aclose(self) -> None:
        """End the processes."""
        await self._pool.aclose()

    async def _answer(self, job: Mapping[str, Any]) -> Mapping[str, Any]:
        try:
            answer: Mapping[str, Any] = await self._pool.call(_RUN, job)
        except ProcessBusyError as error:
            raise FetchBusyError(
                "too many pages are being read at this moment", hint="try again in a moment"
            ) from error
        except ProcessStoppedError as error:
            raise FetchBusyError(
                "the server is shutting down", hint="try again when it runs again"
            ) from error
        except ProcessLimitError as error:
            raise FetchError(f"the page is too expensive to read: {error}", hint=_RAW) from error
        except ProcessDiedError as error:
            self._log.warning("reading a page ended the process that did it")
            raise FetchError(
                "the page cannot be read: it ended the process that tried", hint=_RAW
            ) from error
        except JobError as error:
            self._log.warning("reading a page failed: %s", error.kind)
            raise FetchError(f"the page cannot be read: {error.kind}", hint=_RAW) from error
        return answer


def _files(records: Sequence[_T]) -> dict[str, str | None]:
    """Modules to import before the first page; what needs an extra waits until it is needed."""
    names = [record.target.partition(":")[0] for record in records if record.extra is None]
    found = {name: getattr(sys.modules.get(name), "__file__", None) for name in names}
    return {name: None if file is None else str(file) for name, file in found.items()}


def _described(records: Sequence[_T], source: PageSource) -> list[Mapping[str, Any]]:
    return [
        {"name": record.name, "target": record.target, "extra": record.extra}
        for record in records
        if takes(record.media_types, source.media_type)
    ]


def takes(media_types: Sequence[str], media_type: str) -> bool:
    """Whether a record with such types takes a source of a type."""
    return any(
        media_type == each
        or (each.endswith("/") and media_type.startswith(each))
        or (each.startswith("+") and media_type.endswith(each))
        for each in media_types
    )


def _refusal(answer: Mapping[str, Any]) -> Exception:
    kind, message, hint = str(answer["refused"]), str(answer["message"]), answer["hint"]
    if kind == chain.EXTRA:
        return MissingExtraError(message, hint=hint)
    return chain.REFUSALS.get(kind, FetchError)(message, hint=hint)


def _extracted(answer: Mapping[str, Any]) -> Extracted:
    flags: Sequence[Any] = [flag for flag in answer["flags"] if flag in chain.FLAGS]
    return Extracted(
        text=str(answer["text"]),
        title=str(answer["title"]),
        matches=tuple(map(str, answer["matches"])),
        flags=frozenset(flags),
        notes=tuple(map(str, answer["notes"])),
    )
