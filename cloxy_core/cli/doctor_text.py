"""What `cloxy doctor` prints for people."""

import sys
import time
from collections.abc import Iterator

from cloxy_core.cli import output
from cloxy_core.cli.line import Line
from cloxy_core.runtime.wording import counted
from cloxy_core.services.doctor.findings import Examined, Problem, Report
from cloxy_core.services.doctor.repair import Work

_MARKS = {"ok": "ok", "note": "note", "warning": "warning", "error": "ERROR"}
_WIDTH = max(map(len, _MARKS.values()))
_INDENT = " " * (_WIDTH + 2)
_PAUSE_SECONDS = 0.1


def report_lines(report: Report, work: Work | None) -> Iterator[str]:
    """The report, a line for each part and some for each problem.

    Args:
        report: what was found.
        work: what a repair did before; None when it was only looked, and it is said how to mend.
    """
    for part in report.examined:
        yield from _part(part)
    yield ""
    yield _verdict(report, lost=work is not None and bool(work.warnings))
    if work is None and report.repairable:
        yield (
            "`cloxy doctor --repair` does what is said after `repair:`. Stop the server before; "
            "a copy of the database is kept."
        )


def work_lines(work: Work) -> Iterator[str]:
    """What a repair did, before the report of how things are now."""
    for words in work.done:
        yield f"done: {output.escape(words)}"
    for words in work.warnings:
        yield output.bold(f"LOST or open: {output.escape(words)}")
    if work.copy is not None:
        yield f"copy of the database from before: {output.escape(work.copy)}"
    if work.quarantine is not None:
        yield f"what was damaged is kept in {output.escape(work.quarantine)}"
    if not (work.done or work.warnings):
        yield "There was nothing to mend."
    yield ""


def _part(part: Examined) -> Iterator[str]:
    if part.summary:
        yield _line("ok" if part.severity in ("ok", "note") else " ", part.part, part.summary)
    for problem in part.problems:
        yield from _problem(part, problem)


def _problem(part: Examined, problem: Problem) -> Iterator[str]:
    yield _line(_MARKS[problem.severity], part.part, problem.message)
    for detail in problem.details:
        yield f"{_INDENT}  {output.escape(detail)}"
    if problem.repair:
        yield f"{_INDENT}repair: {output.escape(problem.repair)}"
    if problem.remedy:
        yield f"{_INDENT}what to do: {output.escape(problem.remedy)}"


def _line(mark: str, part: str, words: str) -> str:
    text = f"{mark:{_WIDTH}}  {output.escape(part)}: {output.escape(words)}"
    return output.bold(text) if mark == _MARKS["error"] else text


def _verdict(report: Report, *, lost: bool) -> str:
    counts = {
        severity: sum(problem.severity == severity for problem in report.problems)
        for severity in ("error", "warning")
    }
    found = ", ".join(counted(count, severity) for severity, count in counts.items() if count)
    if lost and not counts["error"]:
        # What is there is sound, which is not the same as that nothing is gone.
        found = f"{found}; something" if found else "Something"
        return f"{found} was lost or is open, see LOST above; what is there now is not damaged."
    if not found:
        return "All is well."
    return f"{found}." if counts["error"] else f"Nothing is damaged; {found}."


class ProgressLine(Line):
    """One line on standard error that says what is being done, where a person watches."""

    def __init__(self) -> None:
        super().__init__()
        self._shown = output.is_terminal(sys.stderr)
        self._next = 0.0

    def tell(self, text: str) -> None:
        """Show what is being done; not more often than can be read."""
        now = time.monotonic()
        if self._shown and now >= self._next:
            self._next = now + _PAUSE_SECONDS
            self.draw(output.escape(text))
