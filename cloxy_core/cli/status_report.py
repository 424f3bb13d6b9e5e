"""What `cloxy status` found out, and what of it is wrong."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from cloxy_core import __version__
from cloxy_core.cli import fields, output
from cloxy_core.cli.status_service import ServiceState
from cloxy_core.client_config import ClientError


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One check of the server: `ok`, `warning`, `error` or `unchecked`, and its words."""

    name: str
    state: str
    message: str


@dataclass(frozen=True, slots=True)
class StatusReport:
    """Three answers of one server, and the failures among them by path.

    Attributes:
        url: where it was asked.
        health: answer of `/health`.
        stats: answer of `/memory_stats`.
        ingest: answer of `/ingest_status`.
        failures: what went wrong, by path.
        service: the service of the data directory; None when it is not asked for, since the
            server may be another machine's.
    """

    url: str
    health: Mapping[str, object]
    stats: Mapping[str, object]
    ingest: Mapping[str, object]
    failures: Mapping[str, ClientError]
    service: ServiceState | None = None

    def pid(self) -> int | None:
        """The server's process; None when it does not tell."""
        found = self.health.get("pid")
        return found if isinstance(found, int) else None

    def checks(self) -> Iterator[CheckResult]:
        """Results of the checks; what says neither good nor bad is unchecked."""
        for check in fields.records(self.health, "checks"):
            state = (fields.text(check, "severity") or fields.text(check, "status")).lower()
            known = state in {"ok", "warning", "error"}
            message = fields.text(check, "message") or fields.text(check, "detail")
            yield CheckResult(
                fields.text(check, "name") or "check", state if known else "unchecked", message
            )

    def warnings(self) -> list[str]:
        """Warnings of the server and of the watcher, each once."""
        found = fields.items(self.health, "warnings") + fields.items(self.ingest, "warnings")
        return [*self._outdated(), *dict.fromkeys(str(warning) for warning in found)]

    def _outdated(self) -> list[str]:
        """That the program was exchanged under a running server of this machine."""
        version = fields.text(self.health, "version")
        if self.service is None or version in {"", __version__}:
            return []
        return [
            f"the server runs version {version} and this is {__version__}: restart it "
            "(`cloxy stop`, then `cloxy start -d`)"
        ]

    def drift(self) -> list[str]:
        """Files that hold records but yielded no message."""
        last = fields.record(self.ingest, "last_result")
        found = fields.items(self.ingest, "drift") or fields.items(last, "drift")
        return list(dict.fromkeys(str(file) for file in found))

    def problems(self) -> list[str]:
        """Why the server is not well; empty when it is."""
        found = [f"{path}: {output.in_words(error)}" for path, error in self.failures.items()]
        stated = fields.text(self.health, "status")
        errors = [check for check in self.checks() if check.state == "error"]
        if self.health and stated.upper() != "OK":
            cause = fields.text(self.health, "cause") or fields.text(self.health, "detail")
            found.append(f"the server says {stated or 'nothing'}{f': {cause}' if cause else ''}")
        found += [f"{check.name}: {check.message}" for check in errors]
        return found

    def as_json(self) -> dict[str, object]:
        """Everything, for programs."""
        return {
            "url": self.url,
            "state": "running",
            "healthy": not self.problems(),
            "problems": self.problems(),
            "pid": self.pid(),
            "logs": fields.text(self.health, "logs") or None,
            "service": None if self.service is None else self.service.as_json(self.pid()),
            "health": self.health,
            "memory_stats": self.stats,
            "ingest_status": self.ingest,
        }
