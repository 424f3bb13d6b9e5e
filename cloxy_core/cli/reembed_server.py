"""`cloxy reembed` where a server runs: it does the work, and this shows how far it is."""

import time
from collections.abc import Mapping
from dataclasses import dataclass

from cloxy_core.cli import fields, output
from cloxy_core.cli.reembed_progress import FillProgress
from cloxy_core.cli.reembed_text import show_spaces
from cloxy_core.client import Client
from cloxy_core.client_config import ClientError
from cloxy_core.runtime.wording import counted

POLL_SECONDS = 1.0
INTERRUPTED = 130
NAMES = {
    "CLOXY_EMBED_PROVIDER": "embed.provider",
    "CLOXY_EMBED_MODEL": "embed.model",
    "CLOXY_EMBED_QUERY_PREFIX": "embed.query_prefix",
    "CLOXY_EMBED_PASSAGE_PREFIX": "embed.passage_prefix",
    "CLOXY_EMBED_DIM": "embed.dim",
}
"""Variables of this shell that the server may not have."""

_MAY_BE_EMPTY = frozenset({"CLOXY_EMBED_QUERY_PREFIX", "CLOXY_EMBED_PASSAGE_PREFIX"})
_WORDS = {
    "loading": "loading the model (a new one is downloaded first)",
    "indexing": "building the index of the new vectors",
    "switching": "going over to the new vectors",
}
_ENDED = frozenset({"done", "cancelled", "idle"})


@dataclass(frozen=True, slots=True)
class AtServer:
    """The command, asked of a running server.

    Attributes:
        client: of the server.
        as_json: whether answers are printed as JSON.
    """

    client: Client
    as_json: bool

    def run(self, action: str, environ: Mapping[str, str]) -> int:
        """Do what was asked; the exit code.

        Args:
            action: `start`, `status`, `cancel` or `drop_old`.
            environ: environment variables of this shell.

        Raises:
            ClientError: the server refused, or cannot be reached any more.
        """
        if action == "status":
            return self._status()
        if action == "cancel":
            return self._cancel()
        if action == "drop_old":
            return self._drop_old()
        return self._start(environ)

    def _start(self, environ: Mapping[str, str]) -> int:
        expected = {
            name: environ[variable]
            for variable, name in NAMES.items()
            if environ.get(variable) or (variable in _MAY_BE_EMPTY and variable in environ)
        }
        try:
            report = self.client.request("POST", "/reembed", {"expected": expected})
        except KeyboardInterrupt:
            return _left()  # the server may have taken it
        if fields.text(report, "state") in _ENDED:
            return self._nothing(report)
        run = fields.count(report, "run")
        with FillProgress() as progress:
            try:
                while not _is_over(report, run):
                    _draw(progress, report)
                    time.sleep(POLL_SECONDS)
                    report = self.client.request("GET", "/reembed")
            except KeyboardInterrupt:
                progress.clear()
                return _left()
            _draw(progress, report)
        return self._ended(report, run)

    def _nothing(self, report: Mapping[str, object]) -> int:
        if self.as_json:
            output.print_json(report)
        else:
            model = output.escape(fields.text(report, "model"))
            output.print_line(f"nothing to do: the vectors are of {model} already")
        return 0

    def _ended(self, report: Mapping[str, object], run: int) -> int:
        if self.as_json:
            output.print_json(report)
        if fields.count(report, "run") != run:
            raise ClientError(
                "the server was restarted meanwhile",
                code="restarted",
                hint="run `cloxy reembed` again: it goes on where it was",
            )
        if fields.text(report, "state") == "cancelled":
            output.print_line("it was cancelled; the former vectors stay in use", error=True)
            return 1
        if not self.as_json:
            count = fields.count(report, "done")
            took = fields.duration(fields.number(report, "seconds") or 0.0)
            output.print_line(f"{counted(count, 'passage')} embedded in {took}")
            show_spaces(fields.records(report, "spaces"))
        failed = fields.count(report, "failed")
        if failed:
            output.print_line(f"failed: {failed:,} passages; see `cloxy status`", error=True)
        return 1 if failed else 0

    def _status(self) -> int:
        report = self.client.request("GET", "/reembed")
        if self.as_json:
            output.print_json(report)
            return 0
        state, reason = fields.text(report, "state"), fields.text(report, "reason")
        if state in _ENDED:
            output.print_line("nothing is being embedded anew")
        else:
            done, total = fields.count(report, "done"), fields.count(report, "total")
            words = f"{state}: {done:,} of {total:,} passages with {fields.text(report, 'model')}"
            eta = fields.number(report, "eta_seconds")
            if eta is not None:
                words += f", about {fields.duration(eta)} left"
            output.print_line(output.escape(f"{words} ({reason})" if reason else words))
        show_spaces(fields.records(report, "spaces"))
        return 0

    def _cancel(self) -> int:
        report = self.client.request("DELETE", "/reembed")
        if self.as_json:
            output.print_json(report)
        elif report.get("cancelled") is True:
            output.print_line("cancelled; the server removes the half-made vectors")
        else:
            output.print_line("there was nothing to cancel")
        return 0

    def _drop_old(self) -> int:
        report = self.client.request("POST", "/reembed/drop_old")
        count = fields.count(report, "dropped")
        if self.as_json:
            output.print_json(report)
        elif count:
            output.print_line(f"the server removes the vectors of {count} former models")
        else:
            output.print_line("there are no vectors of former models")
        return 0


def _left() -> int:
    """Say what becomes of it when nobody waits for it any more; the exit code."""
    output.print_line(
        "The server goes on with it. `cloxy reembed --status` shows how far it is, and"
        " `cloxy reembed --cancel` stops it.",
        error=True,
    )
    return INTERRUPTED


def _is_over(report: Mapping[str, object], run: int) -> bool:
    # Of another run nothing is known: the server was restarted.
    return fields.text(report, "state") in _ENDED or fields.count(report, "run") != run


def _draw(progress: FillProgress, report: Mapping[str, object]) -> None:
    state, reason = fields.text(report, "state"), fields.text(report, "reason")
    if state in ("paused", "failed"):
        progress.say(f"{state}: {reason} (it is tried again; Ctrl-C leaves it to the server)")
    elif state in _WORDS:
        progress.say(_WORDS[state])
    else:
        done, total = fields.count(report, "done"), fields.count(report, "total")
        progress(done, total, fields.number(report, "rate_per_second"))
