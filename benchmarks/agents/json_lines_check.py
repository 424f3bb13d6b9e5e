"""Compares the generic source with an agent's own: the same logs, read by both.

A folder of an agent's logs is read twice into fresh data directories through the whole of Cloxy:
once by the agent's own plugin, once by a description of its records. The messages that people and
assistants said are compared session by session. A description is a few lines, so that it cannot
do all that a plugin does; what differs is listed.

    python benchmarks/agents/json_lines_check.py AGENT FOLDER [--list]
"""

import argparse
import importlib
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from check import STORED, differences, totals
from scratch import scratch

from cloxy_core.testing.harness import App

DESCRIPTIONS = {
    "claude_code": """
session = "sessionId"
id = "uuid"
role = "type"
text = ["message.content[type=text].text", "message.content"]
cwd = "cwd"
branch = "gitBranch"
model = "message.model"
session_title = ["customTitle", "aiTitle"]
subagent = "[isSidechain=true].agentId"
where = { type = ["user", "assistant"] }
drop_tags = ["system-reminder", "ide_opened_file", "ide_selection"]

[agents.tried.unless]
isMeta = true
isCompactSummary = true
isApiErrorMessage = true
"message.model" = "<synthetic>"
"message.content" = [
  "<command-*", "<local-command-*", "<task-notification*", "<bash-*", "Caveat: *",
  "[Request interrupted*",
]
"message.content[].text" = ["[Request interrupted*", "<task-notification*"]
""",
    "codex": """
session = "[type=session_meta].payload.id"
role = ["[type=response_item].payload.role", "[payload.type=user_message].payload.type"]
user = ["user_message"]
assistant = ["assistant"]
ignore = ["user", "developer", "system"]
text = ["[type=response_item].payload.content[].text", "payload.message"]
cwd = "[type=session_meta].payload.cwd"
branch = "[type=session_meta].payload.git.branch"
model = "[type=turn_context].payload.model"
where = { "payload.type" = ["user_message", "message"] }
unless = { "payload.message" = ["<environment_context*", "<user_instructions*"] }
""",
    "qwen_code": """
session = "sessionId"
id = "uuid"
role = "type"
text = ["systemPayload.displayText", "message.parts[thought!=true].text"]
cwd = "cwd"
model = "model"
where = { type = ["user", "assistant"] }
unless = { subtype = ["notification", "goal_runtime"] }
drop_tags = ["session_context", "hook_context", "system-reminder", "task-notification"]
""",
}


def stored(plugin, more, folder):
    """Messages of people and assistants by session, as a plugin stores them."""
    place = scratch("check")
    home = place / "home"
    home.mkdir()
    os.environ.update({"HOME": str(home), "USERPROFILE": str(home), "XDG_CONFIG_HOME": ""})
    module = importlib.import_module(f"cloxy_plugins.{plugin}.plugin")
    settings = {"watch.dirs": "", "embed.provider": "none", **more}
    app = App(place / "cloxy", plugins={plugin: module}, settings=settings)
    app.start()
    only = {record.name for record in module.cloxy_sources()} | {"tried"}
    service = app.engine.ingest
    service.readers = [each for each in service.readers if each.feed.plugin in only]
    service.others = []
    run = service.run() if plugin == "json_lines" else service.run(folder, anywhere=True)
    report = app.do(run)
    print(f"{plugin}: {report.files_processed} files, {report.messages_added} messages")
    for error in (*report.errors, *report.passed_over):
        print(f"  {error.file}: {error.error}")
    counts = {}
    for key, role, number in app.read(lambda c: c.exec_driver_sql(STORED).all()):
        if role in ("user", "assistant"):
            # A sub-agent of Claude Code is named by its file there, by its id in the records.
            counts.setdefault(key.replace("/agent-", "/"), {})[role] = number
    app.stop()
    return counts


def main():
    """Compare one folder; 1 when something differs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("agent", choices=sorted(DESCRIPTIONS))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--list", action="store_true", help="print every session")
    given = parser.parse_args()
    folder = given.folder.resolve()
    described = scratch("check") / "json_lines.toml"
    head = f'[agents.tried]\npaths = ["{folder}/**/*.jsonl"]\n'
    described.write_text(head + DESCRIPTIONS[given.agent])
    found = stored("json_lines", {"json_lines.file": str(described)}, folder)
    wanted = stored(given.agent, {}, folder)
    print(f"by description: {totals(found)} in {len(found)} sessions")
    print(f"by its plugin:  {totals(wanted)} in {len(wanted)} sessions")
    lines = differences(found, wanted)
    for line in lines if given.list else lines[:10]:
        print(f"  DIFFERS {line.replace('ingested', 'described').replace('counted', 'plugin')}")
    print("the same" if not lines else f"{len(lines)} differences")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
