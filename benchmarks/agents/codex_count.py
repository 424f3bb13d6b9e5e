"""Counts what was said in rollouts of Codex, by other means than the plugin's.

Whole files are looked at, and all of them before any is counted: a file is counted by the form of
record that it has most of, a fork by the turns that its parent's file has, a copy without ids by
the words that it begins with as its parent's file does. Shares no code with the plugin.

    python benchmarks/agents/codex_count.py FOLDER
"""

import json
from collections import Counter
from pathlib import Path

from totals import main

OTHERS = (
    "<environment_context",
    "# AGENTS.md instructions",
    "<user_instructions",
    "<permissions instructions",
    "<skills_instructions",
    "<apps_instructions",
    "<recommended_plugins",
    "<multi_agent_mode",
    "<collaboration_mode",
    "<app-context",
    "<turn_aborted",
    "<skill",
    "<user_shell_command",
    "The following is the Codex agent history",
)

MATTERS = frozenset(
    {"type", "payload", "id", "role", "content", "text", "message", "item", "kind", "record_type"}
    | {"forked_from_id", "parent_thread_id", "turn_id", "content_item_kinds"}
    | {"internal_chat_message_metadata_passthrough", "images", "local_images", "image_url"}
)


def records(path):
    """Type, payload and kind of the lines that are JSON objects."""
    opened = path.read_bytes()
    if path.suffix == ".zst":
        from backports.zstd import decompress

        opened = decompress(opened)
    for raw in opened.split(b"\n"):
        try:
            line = json.loads(raw)
        except ValueError:
            continue
        if isinstance(line, dict):
            payload = line.get("payload")
            yield (line["type"], payload) if isinstance(payload, dict) else (None, line)


def words(content):
    """Texts and number of pictures of a content."""
    if isinstance(content, str):
        return [content], 0
    parts = [part for part in content or [] if isinstance(part, dict)]
    texts = [part["text"] for part in parts if isinstance(part.get("text"), str)]
    return texts, sum("image" in str(part.get("type")).lower() for part in parts)


def is_said(text):
    return bool(text.strip()) and not text.lstrip().startswith(OTHERS)


class Rollout:
    """What one file holds, by form of record; every message with the turn in which it stands."""

    def __init__(self, path):
        self.threads, self.turns = [], set()
        self.forked = False
        self.forms = {"item": [], "event": [], "completed": []}
        self.plans = set()
        turn = None
        for kind, payload in records(path):
            inner = payload.get("type")
            if kind == "session_meta" or (kind is None and "id" in payload and not inner):
                self.threads.append(payload.get("id"))
                self.forked |= bool(payload.get("forked_from_id")) and len(self.threads) == 1
            if kind == "turn_context" or inner == "task_started":
                turn = payload.get("turn_id") or turn
                self.turns.add(turn)
            if kind in ("response_item", None) and inner == "message":
                self._item(payload, turn)
            elif kind == "event_msg":
                self._event(payload, turn)
            elif kind == "compacted" and (payload.get("message") or "").strip():
                self.plans.add(payload["message"].strip())
        self.thread = self.threads[0] if self.threads else path.name

    def _item(self, payload, turn):
        texts, pictures = words(payload.get("content"))
        if payload.get("role") == "user":
            texts = [text for text in texts if is_said(text)]
            if texts or pictures:
                self.forms["item"].append(("user", "".join(texts), turn))
        elif payload.get("role") == "assistant":
            self._agent("item", "".join(texts), turn)

    def _event(self, payload, turn):
        kind, item = payload.get("type"), payload.get("item") or {}
        if kind == "user_message":
            if payload.get("kind", "plain") == "plain" and is_said(payload["message"]):
                self.forms["event"].append(("user", payload["message"], turn))
        elif kind == "agent_message":
            self._agent("event", payload["message"], turn)
        elif kind == "item_completed" and item.get("type") == "UserMessage":
            self.forms["completed"].append(("user", "".join(words(item["content"])[0]), turn))
        elif kind == "item_completed" and item.get("type") == "AgentMessage":
            self._agent("completed", "".join(words(item["content"])[0]), turn)
        elif kind == "item_completed" and item.get("type") == "Plan":
            self.plans.add(item["text"].strip())

    def _agent(self, form, text, turn):
        if text.strip():
            self.forms[form].append(("assistant", text, turn))

    def _but_plans(self, text):
        """A text without the plan in it, if the plan has a record of its own."""
        head, mark, rest = text.partition("<proposed_plan>")
        plan, _end, tail = rest.partition("</proposed_plan>")
        return head + tail if mark and plan.strip() in self.plans else text

    def said(self):
        """Messages in order, of each role by the fullest form; of a user only one that is clean."""
        found = []
        users = {form: [m for m in ms if m[0] == "user"] for form, ms in self.forms.items()}
        found += users["completed"] or users["event"] or users["item"]
        agents = [
            [m for m in ms if m[0] == "assistant" and self._but_plans(m[1]).strip()]
            for ms in self.forms.values()
        ]
        return found + max(agents, key=len)


def count(folder):
    """Numbers of messages by thread and role.

    Args:
        folder: with rollouts, at any depth.

    Returns:
        `{thread: {"user": n, "assistant": n, "summary": n}}`, threads without a word left out.
    """
    paths = sorted(Path(folder).rglob("rollout-*.jsonl*"))
    plain = [p for p in paths if p.suffix != ".zst" or p.with_suffix("") not in paths]
    rollouts = {rollout.thread: rollout for rollout in map(Rollout, plain)}
    totals = {}
    for thread, rollout in rollouts.items():
        said = rollout.said()
        parent = next(
            (rollouts[t] for t in rollout.threads[1:] if t in rollouts and t != thread), None
        )
        if parent is not None and rollout.forked:
            said = [message for message in said if message[2] not in parent.turns]
        elif parent is not None:
            said = beyond(said, parent.said())
        numbers = Counter(role for role, _text, _turn in said)
        if numbers or (rollout.plans and not rollout.forked):
            numbers["summary"] = len(rollout.plans)
            totals[thread] = dict(numbers)
    return totals


def beyond(said, before):
    """Messages of each role after those with which an older thread begins, too."""
    rest = []
    for role in ("user", "assistant"):
        mine = [message for message in said if message[0] == role]
        theirs = [message for message in before if message[0] == role]
        same = 0
        while same < min(len(mine), len(theirs)) and mine[same][1] == theirs[same][1]:
            same += 1
        rest += mine[same:]
    return rest


if __name__ == "__main__":
    main(count)
