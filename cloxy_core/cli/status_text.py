"""`cloxy status` in words."""

from collections.abc import Iterator, Mapping

from cloxy_core.cli import fields, output
from cloxy_core.cli.reembed_text import space_line
from cloxy_core.cli.status_report import StatusReport

_MOST_LISTED = 20
_FEW_FOLDERS = 3


def status_lines(report: StatusReport) -> Iterator[str]:
    """The lines to print, already safe for a terminal."""
    yield output.bold(_headline(report))
    yield from output.table(
        [
            *_server_rows(report),
            *_memory_rows(report.stats, report.health),
            *_meaning_rows(fields.record(report.health, "embedding")),
            *_model_rows(fields.record(report.health, "llm")),
            *_watcher_rows(report.ingest, report.health),
            *_store_rows(report.health, report.stats),
        ]
    )
    yield from _check_lines(report)
    yield from _listed("warnings", report.warnings())
    yield from _listed("files with records but no message (format drift)", report.drift())


def _headline(report: StatusReport) -> str:
    version = fields.text(report.health, "version") or "of unknown version"
    parts = [fields.text(report.health, "status") or "health unknown"]
    if report.health.get("ready") is False:
        parts.append("not ready yet")
    uptime = fields.number(report.health, "uptime")
    if uptime is not None:
        parts.append(f"up {fields.duration(uptime)}")
    if fields.text(report.health, "pid"):
        parts.append(f"process {fields.text(report.health, 'pid')}")
    return output.escape(f"Cloxy {version} at {report.url}: {', '.join(parts)}")


def _server_rows(report: StatusReport) -> Iterator[tuple[str, str]]:
    """Where it runs, who runs it, and who may ask it."""
    logs = fields.text(report.health, "logs")
    if logs:
        yield "logs", logs
    if report.service is not None:
        yield "service", report.service.in_words(report.pid())
    auth = fields.text(report.health, "auth")
    if auth:
        yield "key", "needed" if auth == "enabled" else "none (`cloxy key create` makes one)"


def _memory_rows(
    stats: Mapping[str, object], health: Mapping[str, object]
) -> Iterator[tuple[str, str]]:
    total = fields.number(stats, "total_memories")
    total = fields.number(health, "memories") if total is None else total
    yield "memories", "unknown" if total is None else f"{int(total):,}"
    sources = fields.record(stats, "sources")
    if sources:
        yield "by source", _counts(sources)
    for name, label in (
        ("keyword_index_size", "keyword index"),
        ("vector_index_size", "vector index"),
    ):
        size = fields.number(stats, name)
        if size is not None:
            yield label, f"{int(size):,} entries"
    redactions = fields.record(stats, "redactions")
    if "redactions" in stats:
        yield "redacted", _counts(redactions) if redactions else "no secrets so far"


def _meaning_rows(embedding: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """How far the vectors are, and the model that makes them."""
    if not embedding:
        return
    model, reason = fields.text(embedding, "model"), fields.text(embedding, "reason")
    state = fields.text(embedding, "state") or "unknown"
    yield "meaning", ": ".join(part for part in (state, reason or model) if part)
    if not model:
        return
    if reason:
        yield "embed model", model
    done, backlog = fields.count(embedding, "embedded"), fields.count(embedding, "backlog")
    parts = [f"{done:,} passages embedded", f"{backlog:,} to go"]
    rate, eta = fields.number(embedding, "rate_per_second"), fields.number(embedding, "eta_seconds")
    if backlog and rate:
        parts.append(f"{rate:.1f} a second")
    if backlog and eta is not None:
        parts.append(f"about {fields.duration(eta)} left")
    if fields.count(embedding, "failed"):
        parts.append(f"{fields.count(embedding, 'failed'):,} set aside")
    yield "vectors", ", ".join(parts)
    spaces = list(fields.records(embedding, "spaces"))
    if len(spaces) > 1:
        yield from (("vectors of", space_line(space)) for space in spaces)


def _model_rows(llm: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """Who answers in chats, and whether that is somebody else's machine."""
    if not llm:
        return
    trouble, name = fields.text(llm, "trouble"), fields.text(llm, "name")
    if trouble and name == "none":
        yield "chat model", trouble
        return
    parts = [fields.text(llm, "model") or "no model named", f"by {name}", fields.text(llm, "place")]
    if "loaded" in llm and isinstance(llm["loaded"], bool):
        parts.append("loaded" if llm["loaded"] else "not loaded")
    running, waiting = fields.count(llm, "running"), fields.count(llm, "waiting")
    if running or waiting:
        parts.append(f"{running:,} running, {waiting:,} waiting")
    yield "chat model", ", ".join(parts)
    if trouble:
        yield "chat trouble", trouble
    if llm.get("remote") is True:
        sent = fields.count(llm, "sent_away")
        yield "CHATS LEAVE", f"this machine, to {fields.text(llm, 'place')}: {sent:,} so far"


def _watcher_rows(
    ingest: Mapping[str, object], health: Mapping[str, object]
) -> Iterator[tuple[str, str]]:
    watcher = ingest or fields.record(health, "watcher")
    if not watcher:
        yield "watcher", "unknown"
        return
    parts = ["running" if watcher.get("running") is True else "off"]
    if watcher.get("scanning") is True:
        done, of = fields.count(watcher, "files_this_scan"), fields.count(watcher, "files_total")
        parts.append(f"reading file {done:,} of {of:,}")
    parts.append(f"{fields.count(watcher, 'files_tracked'):,} files known")
    if fields.text(watcher, "last_scan_at"):
        parts.append(f"last pass {_moment(watcher.get('last_scan_at'))}")
    if "events" in watcher:
        parts.append("file events work" if watcher["events"] else "no file events, only the sweep")
    yield "watcher", ", ".join(parts)
    yield from _folders(watcher)
    if fields.text(watcher, "last_error"):
        yield "last error", fields.text(watcher, "last_error")


def _folders(watcher: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """Folders that are watched; of those that do not exist only the number, unless all are few."""
    folders = [str(folder) for folder in fields.items(watcher, "dirs")]
    missing = {str(folder) for folder in fields.items(watcher, "dirs_missing")}
    few = len(folders) <= _FEW_FOLDERS
    for folder in folders:
        if few or folder not in missing:
            yield "folder", folder + (" (does not exist)" if folder in missing else "")
    if missing and not few:
        yield "not found", f"{len(missing)} places of agents; `cloxy sources` names the agents"


def _store_rows(
    health: Mapping[str, object], stats: Mapping[str, object]
) -> Iterator[tuple[str, str]]:
    store = fields.record(health, "store")
    path = fields.text(stats, "db_path")
    if path and "path" not in store:
        yield "store", path
    for name, value in store.items():
        if name.endswith("bytes") and isinstance(value, int):
            words = name.removesuffix("bytes").replace("_", " ").strip()
            yield f"store {words or 'size'}", fields.size(value)
        else:
            shown = _counts(value) if isinstance(value, dict) else _plain(value)
            yield f"store {name.replace('_', ' ')}", shown


def _check_lines(report: StatusReport) -> Iterator[str]:
    checks = list(report.checks())
    yield "checks" if checks else "checks: none has run, so nothing is known to be sound"
    yield from output.table(
        [(check.state, check.name, check.message) for check in checks], indent="  "
    )


def _listed(title: str, lines: list[str]) -> Iterator[str]:
    if lines:
        yield title
        yield from (f"  {output.escape(line)}" for line in lines[:_MOST_LISTED])
    if len(lines) > _MOST_LISTED:
        yield f"  and {len(lines) - _MOST_LISTED:,} more (--json shows all)"


def _counts(values: Mapping[str, object]) -> str:
    return ", ".join(f"{name} {_plain(value)}" for name, value in values.items())


def _plain(value: object) -> str:
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "unknown"}[value]
    return f"{value:,}" if isinstance(value, int) else str(value)


def _moment(value: object) -> str:
    """An instant, which servers give as ISO text or as seconds since the epoch."""
    if isinstance(value, int | float):
        seconds = value / 1000 if value > 1e11 else value
        return fields.local_time_of(seconds)
    return fields.local_time(str(value))
