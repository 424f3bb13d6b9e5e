"""Compares what a source takes in with an independent count.

A folder of an agent's logs is read into a fresh data directory through the whole of Cloxy, and the
messages of each session that are stored there are compared with those that `AGENT_count.py` beside
this file counts, which shares no code with the plugin.

    python benchmarks/agents/check.py AGENT FOLDER [--plugin NAME] [--list]

`AGENT_count.py` has `count(folder)`, which returns `{session: {role: number}}`. It may also have
`environment(folder)`: variables of the environment with which the agent's sources find the folder
by themselves; without it, the folder is read as `cloxy ingest FOLDER` reads it.
"""

import argparse
import importlib
import os
import sys
from collections.abc import Mapping
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from scratch import scratch

from cloxy_core.testing.harness import App

Counts = dict[str, dict[str, int]]

STORED = """
    SELECT sessions.key, passages.role, count(DISTINCT passages.message_uid)
    FROM passages JOIN sessions ON sessions.id = passages.session_id
    GROUP BY sessions.key, passages.role
"""


def ingested(
    plugin: str, folder: Path, environment: Mapping[str, str] | None
) -> tuple[Counts, App]:
    """Stored messages by session and role, and the application that stored them."""
    place = scratch("check")
    home = place / "home"
    home.mkdir()
    os.environ.update({"HOME": str(home), "USERPROFILE": str(home), "XDG_CONFIG_HOME": ""})
    os.environ.update(environment or {})
    module = importlib.import_module(f"cloxy_plugins.{plugin}.plugin")
    settings = {"watch.dirs": "", "embed.provider": "none"}
    app = App(place / "cloxy", plugins={plugin: module}, settings=settings)
    app.start()
    ingest = app.engine.ingest
    if environment is None:
        report = app.do(ingest.run(folder, anywhere=True))
    else:
        report = app.do(ingest.run())
    print(f"{report.files_processed} items read, {report.messages_added} messages")
    for error in (*report.errors, *report.passed_over):
        print(f"  {error.file}: {error.error}")
    for uri in report.drift:
        print(f"  drift: {uri}")
    counts: Counts = {}
    for key, role, number in app.read(lambda c: c.exec_driver_sql(STORED).all()):
        counts.setdefault(key, {})[role] = number
    return counts, app


def told(app: App, agent_plugin: str) -> None:
    """What the sources of the plugin say of themselves."""
    for source in app.do(app.engine.catalogue.sources()):
        if source.plugin == agent_plugin or source.items:
            print(
                f"source {source.name}: {source.items} items, {source.messages} messages,"
                f" {source.bad_lines} bad lines, unknown {dict(source.unknown)},"
                f" {len(source.drift)} in drift, {len(source.failures)} failed"
            )


def differences(found: Counts, wanted: Counts) -> list[str]:
    """Sessions and roles whose numbers are not the same."""
    return [
        f"{key} {role}: ingested {got}, counted {want}"
        for key in sorted({*found, *wanted})
        for role in sorted({*found.get(key, {}), *wanted.get(key, {})})
        if (got := found.get(key, {}).get(role, 0)) != (want := wanted.get(key, {}).get(role, 0))
    ]


def totals(counts: Counts) -> dict[str, int]:
    """Numbers of all sessions by role."""
    total: dict[str, int] = {}
    for numbers in counts.values():
        for role, number in numbers.items():
            total[role] = total.get(role, 0) + number
    return dict(sorted(total.items()))


def main() -> int:
    """Compare one folder; 1 when something differs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("agent", help="as in AGENT_count.py")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--plugin", help="the plugin's folder, where it is not the agent's name")
    parser.add_argument("--list", action="store_true", help="print every session")
    given = parser.parse_args()
    folder = given.folder.resolve()
    counting = importlib.import_module(f"{given.agent}_count")
    environment = counting.environment(folder) if hasattr(counting, "environment") else None
    wanted: Counts = {key: dict(numbers) for key, numbers in counting.count(folder).items()}
    plugin = given.plugin or given.agent
    found, app = ingested(plugin, folder, environment)
    told(app, plugin)
    app.stop()
    if given.list:
        for key in sorted(found):
            print(f"  {key}: {found[key]}")
    print(f"ingested: {totals(found)} in {len(found)} sessions")
    print(f"counted:  {totals(wanted)} in {len(wanted)} sessions")
    lines = differences(found, wanted)
    for line in lines:
        print(f"  DIFFERS {line}")
    print("the same" if not lines else f"{len(lines)} differences")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
