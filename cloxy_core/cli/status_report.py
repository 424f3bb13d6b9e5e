"""What `cloxy status` found out, and what of it is wrong."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from cloxy_core.cli import fields, output
from cloxy_core.client_config import ClientError


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One check of the server: `ok`, `warning`, `error` or `unchecked`, and its words."""

    name: str
    state: str
    message: str


@dataclass(frozen=True, slots=True)
class StatusReport:
    """Three answers of one server, and the failures among them by path."""

    url: str
    health: Mapping[str, object]
    stats: Mapping[str, object]
    ingest: Mapping[str, object]
    failures: Mapping[str, ClientError]

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
        return list(dict.fromkeys(str(warning) for warning in found))

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
            "healthy": not self.problems(),
            "problems": self.problems(),
            "health": self.health,
            "memory_stats": self.stats,
            "ingest_status": self.ingest,
        }
