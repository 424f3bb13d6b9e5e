"""Requests of the shapes in which Claude Code sends them, written anew.

Shapes and field names are those of its public documentation and of what gateways report; the
texts are ours, as long as such texts are.
"""

import copy

HEADERS = {
    "accept": "application/json",
    "anthropic-beta": "claude-code-20250219,interleaved-thinking-2025-05-14,"
    "context-management-2025-06-27,prompt-caching-scope-2026-01-05",
    "anthropic-dangerous-direct-browser-access": "true",
    "anthropic-version": "2023-06-01",
    "content-type": "application/json",
    "user-agent": "claude-cli/2.1.300 (external, cli)",
    "x-app": "cli",
    "x-claude-code-session-id": "0b9d0f3e-5a8e-4a57-9c43-2f4f3b1c7d10",
    "x-stainless-lang": "js",
    "x-stainless-retry-count": "0",
    "x-stainless-timeout": "600",
}
PATH = "/v1/messages?beta=true"

CACHED = {"type": "ephemeral"}
_RULES = (
    "Work in small steps. Read a file before you change it. Run the tests of what you touched. "
    "Say in one line what you did. Never touch what you were not asked to touch. "
)
_WORDS = "Use this when it is the shortest way to what was asked. Paths are absolute. "


def tool(name, *fields, size=12, **more):
    return {
        "name": name,
        "description": f"{name}: " + _WORDS * size,
        "input_schema": {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": {field: {"type": "string", "description": _WORDS} for field in fields},
            "required": list(fields[:1]),
            "additionalProperties": False,
        },
        **more,
    }


TOOLS = [
    tool("Task", "prompt", "description", "subagent_type", size=60),
    tool("Bash", "command", "description", "timeout", size=120),
    tool("Glob", "pattern", "path"),
    tool("Grep", "pattern", "path", "glob", "output_mode", size=20),
    tool("Read", "file_path", "offset", "limit", size=20),
    tool("Edit", "file_path", "old_string", "new_string", size=20),
    tool("Write", "file_path", "content"),
    tool("NotebookEdit", "notebook_path", "new_source"),
    tool("WebFetch", "url", "prompt"),
    tool("WebSearch", "query"),
    tool("TodoWrite", "todos", size=90),
    tool("ExitPlanMode", "plan", size=20),
    tool("BashOutput", "bash_id"),
    tool("KillShell", "shell_id"),
    tool("Skill", "command", size=20),
    tool("mcp__cloxy__recall", "query", "top_k", eager_input_streaming=True),
    tool("mcp__cloxy__remember", "text", cache_control=CACHED),
]

SYSTEM = [
    {
        "type": "text",
        "text": "x-anthropic-billing-header: cc_version=2.1.300.a3f; cc_entrypoint=cli; cch=0;",
    },
    {"type": "text", "text": "You work in a terminal for a programmer.", "cache_control": CACHED},
    {"type": "text", "text": _RULES * 60, "cache_control": {**CACHED, "ttl": "1h"}},
]

REMINDER = (
    "<system-reminder>\nAs you answer, you can use the following context:\n# claudeMd\n"
    "The project's rules are in CLAUDE.md.\n# currentDate\nToday is 2026-11-30.\n"
    "</system-reminder>\n"
)
QUESTION = "Why does the zebra importer skip the last line?"

FILE = "     1\u2192for line in text.split('\\n')[:-1]:\n     2\u2192    yield line"
TODO = "<system-reminder>\nThe todo list is empty.\n</system-reminder>"

_COMMON = {
    "model": "claude-sonnet-5-5",
    "system": SYSTEM,
    "tools": TOOLS,
    "metadata": {"user_id": "user_0000_account__session_0b9d0f3e"},
    "max_tokens": 32_000,
    "thinking": {"type": "adaptive"},
    "context_management": {"edits": [{"type": "clear_thinking_20251015", "keep": "all"}]},
    "output_config": {"effort": "medium"},
    "stream": True,
}

FIRST = {
    **_COMMON,
    "messages": [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": REMINDER},
                {"type": "text", "text": QUESTION, "cache_control": CACHED},
            ],
        }
    ],
}


def _use(number, name, **given):
    return {"type": "tool_use", "id": f"toolu_01{number:022d}", "name": name, "input": given}


def _result(number, content, **more):
    return {
        "type": "tool_result",
        "tool_use_id": f"toolu_01{number:022d}",
        "content": content,
        **more,
    }


LOOP = {
    **_COMMON,
    "messages": [
        *FIRST["messages"],
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "Let me look.", "signature": "c2ln"},
                {"type": "text", "text": "I read the importer."},
                _use(1, "Read", file_path="/src/zebra.py"),
                _use(2, "Grep", pattern="splitlines", path="/src"),
            ],
        },
        {
            "role": "user",
            "content": [
                _result(1, FILE),
                _result(2, [{"type": "text", "text": "No matches found"}]),
                {"type": "text", "text": TODO},
            ],
        },
        {
            "role": "assistant",
            "content": [_use(3, "Bash", command="pytest -q", description="Test")],
        },
        {
            "role": "user",
            "content": [
                _result(3, "Exit code 1\n1 failed", is_error=True, cache_control=CACHED),
            ],
        },
    ],
}

QUOTA = {
    "model": "claude-haiku-5-5",
    "max_tokens": 1,
    "messages": [{"role": "user", "content": "quota"}],
    "metadata": {"user_id": "user_0000_account__session_0b9d0f3e"},
}

TITLE = {
    "model": "claude-haiku-5-5",
    "max_tokens": 32_000,
    "temperature": 1,
    "stream": True,
    "system": [{"type": "text", "text": "Name the conversation in at most six words, as JSON."}],
    "messages": [{"role": "user", "content": [{"type": "text", "text": QUESTION}]}],
    "tools": [],
    "output_config": {
        "format": {
            "type": "json_schema",
            "schema": {
                "type": "object",
                "properties": {"title": {"type": "string"}},
                "required": ["title"],
                "additionalProperties": False,
            },
        }
    },
}

WEB_SEARCH = {
    **_COMMON,
    "messages": [{"role": "user", "content": "Perform a web search for the query: zebra"}],
    "tools": [{"type": "web_search_20250305", "name": "web_search", "max_uses": 8}],
    "tool_choice": {"type": "tool", "name": "web_search"},
}

COMPACT = {
    **_COMMON,
    "messages": [
        *LOOP["messages"],
        {"role": "assistant", "content": [{"type": "text", "text": "The slice drops a line."}]},
        {
            "role": "user",
            "content": [{"type": "text", "text": "Sum up the conversation so far. Call no tool."}],
        },
    ],
}

COUNT = {
    "model": "claude-sonnet-5-5",
    "messages": [{"role": "user", "content": "foo"}],
    "tools": TOOLS,
}

ALL = {"first": FIRST, "loop": LOOP, "quota": QUOTA, "title": TITLE, "compact": COMPACT}


def fresh(body):
    """A copy that a test may change."""
    return copy.deepcopy(body)
