"""What every client's file must look like, and where its format was read.

The addresses and dates are those of the pages from which the shapes here were written down.
"""

from dataclasses import dataclass

PROGRAM = "/opt/cloxy/bin/cloxy"
URL = "http://127.0.0.1:9055/mcp"


@dataclass(frozen=True)
class Sample:
    documentation: str
    looked_up: str
    fresh: str
    http: str | None
    existing: str
    merged: str
    broken: str
    broken_line: int


def mcp_servers(entry, container="mcpServers"):
    lines = entry.strip("\n").split("\n")
    inner = "\n".join("    " + line for line in lines)
    return f'{{\n  "{container}": {{\n{inner}\n  }}\n}}\n'


def json_existing(container):
    """An own style: tabs, comments, another server, a comma at the end or none."""
    return (
        "// my settings\n"
        "{\n"
        '\t"theme": "dark", // keep\n'
        f'\t"{container}": {{\n'
        "\t\t/* another one */\n"
        '\t\t"other": {"command": "npx", "args": ["-y"], "env": {"API_KEY": "abc"}} // mine\n'
        "\t},\n"
        '\t"last": [1, 2, ],\n'
        "}\n"
    )


def json_merged(container, entry):
    lines = entry.strip("\n").split("\n")
    text = "\n".join("\t\t" + line.replace("  ", "\t") for line in lines)
    return json_existing(container).replace(
        '{"API_KEY": "abc"}} // mine\n', '{"API_KEY": "abc"}}, // mine\n' + text + "\n"
    )


def json_sample(documentation, entry, http, container="mcpServers"):
    return Sample(
        documentation,
        "2026-11-30",
        mcp_servers(entry, container),
        None if http is None else mcp_servers(http, container),
        json_existing(container),
        json_merged(container, entry),
        f'{{\n  "a": 1,\n  "{container}": {{\n    "x": oops\n  }}\n}}\n',
        4,
    )


PLAIN = f'''
"cloxy": {{
  "command": "{PROGRAM}",
  "args": ["mcp"]
}}
'''
STDIO = f'''
"cloxy": {{
  "type": "stdio",
  "command": "{PROGRAM}",
  "args": ["mcp"]
}}
'''
LOCAL = f'''
"cloxy": {{
  "type": "local",
  "command": "{PROGRAM}",
  "args": ["mcp"],
  "tools": ["*"]
}}
'''
HTTP = f'''
"cloxy": {{
  "type": "http",
  "url": "{URL}"
}}
'''
HTTP_TOOLS = f'''
"cloxy": {{
  "type": "http",
  "url": "{URL}",
  "tools": ["*"]
}}
'''


def address(key):
    return f'"cloxy": {{\n  "{key}": "{URL}"\n}}\n'


CODEX = f'[mcp_servers.cloxy]\ncommand = "{PROGRAM}"\nargs = ["mcp"]\n'
CODEX_EXISTING = (
    '# mine\nmodel = "o9" # fast\n\n'
    '[mcp_servers.other]\ncommand = "npx"\nargs = [\n  "-y", # yes\n]\n'
)
CONTINUE_HEAD = "name: Cloxy\nversion: 0.0.1\nschema: v1\nmcpServers:\n"
CONTINUE_ITEM = (
    f'  - name: cloxy\n    type: stdio\n    command: "{PROGRAM}"\n    args:\n      - mcp\n'
)
CONTINUE_EXISTING = (
    CONTINUE_HEAD + "  # a comment\n  - name: other\n    command: npx\n    args:\n      - other\n"
)

SAMPLES = {
    "claude-code": json_sample("https://code.claude.com/docs/en/mcp", STDIO, HTTP),
    "claude-desktop": json_sample(
        "https://modelcontextprotocol.io/docs/develop/connect-local-servers", PLAIN, None
    ),
    "cursor": json_sample("https://cursor.com/docs/mcp", PLAIN, address("url")),
    "vscode": json_sample(
        "https://code.visualstudio.com/docs/agents/reference/mcp-configuration",
        STDIO,
        HTTP,
        "servers",
    ),
    "zed": json_sample("https://zed.dev/docs/ai/mcp", PLAIN, address("url"), "context_servers"),
    "continue": Sample(
        "https://docs.continue.dev/customize/deep-dives/mcp",
        "2026-11-30",
        CONTINUE_HEAD + CONTINUE_ITEM,
        CONTINUE_HEAD + f'  - name: cloxy\n    type: streamable-http\n    url: "{URL}"\n',
        CONTINUE_EXISTING,
        CONTINUE_EXISTING + CONTINUE_ITEM,
        "rules:\n  - be kind\n",
        1,
    ),
    "codex": Sample(
        "https://developers.openai.com/codex/mcp",
        "2026-11-30",
        CODEX,
        f'[mcp_servers.cloxy]\nurl = "{URL}"\n',
        CODEX_EXISTING,
        CODEX_EXISTING + "\n" + CODEX,
        'model = "o9"\n\n[mcp_servers\n',
        3,
    ),
    "gemini": json_sample("https://geminicli.com/docs/tools/mcp-server", PLAIN, address("httpUrl")),
    "cline": json_sample("https://docs.cline.bot/mcp/mcp-overview", PLAIN, None),
    "copilot": json_sample(
        "https://docs.github.com/en/copilot/how-tos/copilot-cli/customize-copilot/add-mcp-servers",
        LOCAL,
        HTTP_TOOLS,
    ),
    "windsurf": json_sample(
        "https://docs.devin.ai/desktop/cascade/mcp", PLAIN, address("serverUrl")
    ),
}
