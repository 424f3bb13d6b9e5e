"""The clients that Cloxy can be connected to."""

from pathlib import PurePath
from typing import Final

from cloxy_core.connect.client import Client, HttpShape
from cloxy_core.connect.entry import NAME
from cloxy_core.connect.errors import ConnectError
from cloxy_core.connect.formats import JsonFormat
from cloxy_core.connect.machine import Machine
from cloxy_core.connect.toml_format import TomlFormat
from cloxy_core.connect.yaml_block import YamlBlock

LOOKED_UP: Final = "2026-11-30"
# Windows gives an app from its store, or installed as one, a folder of its own.
_CLAUDE_PACKAGE: Final = "Claude_pzs8sxrjxfjjc"


def _claude_code(machine: Machine) -> tuple[PurePath, ...]:
    moved = machine.environ.get("CLAUDE_CONFIG_DIR", "").strip()
    return ((machine.path(moved) if moved else machine.home) / ".claude.json",)


def _claude_desktop(machine: Machine) -> tuple[PurePath, ...]:
    name = "claude_desktop_config.json"
    usual = machine.application_data / "Claude" / name
    if machine.platform != "win32":
        return (usual,)
    local = machine.folder("LOCALAPPDATA", "AppData", "Local")
    packaged = local / "Packages" / _CLAUDE_PACKAGE / "LocalCache" / "Roaming" / "Claude" / name
    return (packaged, usual)


def _zed(machine: Machine) -> PurePath:
    if machine.platform == "win32":
        return machine.application_data / "Zed"
    if machine.platform == "linux":
        return machine.application_data / "zed"
    return machine.home / ".config" / "zed"


def _cline(machine: Machine) -> tuple[PurePath, ...]:
    name = "cline_mcp_settings.json"
    given = machine.environ.get("CLINE_MCP_SETTINGS_PATH", "").strip()
    if given:
        return (machine.path(given),)
    if machine.environ.get("CLINE_DATA_DIR", "").strip():
        return (machine.folder("CLINE_DATA_DIR") / "settings" / name,)
    shared = machine.folder("CLINE_DIR", ".cline") / "data" / "settings" / name
    storage = _code(machine) / "globalStorage" / "saoudrizwan.claude-dev"
    return (shared, storage / "settings" / name)


def _code(machine: Machine) -> PurePath:
    return machine.application_data / "Code" / "User"


def _gemini(machine: Machine) -> PurePath:
    return machine.folder("GEMINI_CLI_HOME") / ".gemini"


def _windsurf(machine: Machine) -> PurePath:
    return machine.home / ".codeium" / "windsurf"


CLIENTS: Final[tuple[Client, ...]] = (
    Client(
        key="claude-code",
        title="Claude Code",
        aliases=("claude", "claudecode"),
        documentation="https://code.claude.com/docs/en/mcp",
        sources=("https://github.com/microsoft/apm/pull/2096",),
        looked_up=LOOKED_UP,
        format=JsonFormat("mcpServers", strict=True),
        user_files=_claude_code,
        signs=lambda m: (*_claude_code(m), m.folder("CLAUDE_CONFIG_DIR", ".claude")),
        programs=("claude",),
        project_file=".mcp.json",
        kind="stdio",
        http=HttpShape("url", "http"),
        private=True,
        next_step="start a new session of Claude Code",
        check="`claude mcp list`, or /mcp in a session",
    ),
    Client(
        key="claude-desktop",
        title="Claude Desktop",
        aliases=("claudedesktop",),
        documentation="https://modelcontextprotocol.io/docs/develop/connect-local-servers",
        sources=("https://github.com/anthropics/claude-code/issues/26073",),
        looked_up=LOOKED_UP,
        format=JsonFormat("mcpServers", strict=True),
        user_files=_claude_desktop,
        signs=lambda m: tuple(each.parent for each in _claude_desktop(m)),
        programs=(),
        fallback=-1,
        confirmed=frozenset({"darwin", "win32"}),
        next_step="quit Claude Desktop and start it again",
        check="Settings, Developer: cloxy is listed and running",
    ),
    Client(
        key="cursor",
        title="Cursor",
        documentation="https://cursor.com/docs/mcp",
        looked_up=LOOKED_UP,
        format=JsonFormat("mcpServers", strict=False),
        user_files=lambda m: (m.home / ".cursor" / "mcp.json",),
        signs=lambda m: (m.home / ".cursor",),
        programs=("cursor", "cursor-agent"),
        project_file=".cursor/mcp.json",
        http=HttpShape("url"),
        next_step="restart Cursor",
        check="Customize, MCPs: cloxy is listed and switched on",
    ),
    Client(
        key="vscode",
        title="VS Code",
        aliases=("vs-code", "code", "copilot-chat"),
        documentation="https://code.visualstudio.com/docs/agents/reference/mcp-configuration",
        sources=("https://code.visualstudio.com/docs/configure/settings",),
        looked_up=LOOKED_UP,
        format=JsonFormat("servers", strict=False),
        user_files=lambda m: (_code(m) / "mcp.json",),
        signs=lambda m: (_code(m),),
        programs=("code",),
        project_file=".vscode/mcp.json",
        kind="stdio",
        http=HttpShape("url", "http"),
        next_step="run `MCP: List Servers` in VS Code and start cloxy",
        check="`MCP: List Servers` in the command palette",
    ),
    Client(
        key="zed",
        title="Zed",
        documentation="https://zed.dev/docs/ai/mcp",
        sources=("https://zed.dev/docs/configuring-zed",),
        looked_up=LOOKED_UP,
        format=JsonFormat("context_servers", strict=False),
        user_files=lambda m: (_zed(m) / "settings.json",),
        signs=lambda m: (_zed(m),),
        programs=("zed", "zeditor"),
        confirmed=frozenset({"darwin", "linux"}),
        http=HttpShape("url"),
        next_step="nothing more to do, Zed reads its settings again by itself",
        check="the Agent Panel's settings: a green dot beside cloxy",
    ),
    Client(
        key="continue",
        title="Continue",
        documentation="https://docs.continue.dev/customize/deep-dives/mcp",
        sources=(
            "https://github.com/continuedev/continue/blob/main/core/config/loadLocalAssistants.ts",
            "https://github.com/continuedev/continue/issues/12254",
        ),
        looked_up=LOOKED_UP,
        format=YamlBlock(),
        user_files=lambda m: (
            m.folder("CONTINUE_GLOBAL_DIR", ".continue") / "mcpServers" / f"{NAME}.yaml",
        ),
        signs=lambda m: (m.folder("CONTINUE_GLOBAL_DIR", ".continue"),),
        programs=(),
        project_file=f".continue/mcpServers/{NAME}.yaml",
        kind="stdio",
        http=HttpShape("url", "streamable-http"),
        own_file=True,
        next_step="reload the editor's window; Continue uses tools in agent mode only",
        check="the tools button in agent mode",
    ),
    Client(
        key="codex",
        title="Codex",
        aliases=("codex-cli",),
        documentation="https://developers.openai.com/codex/mcp",
        looked_up=LOOKED_UP,
        format=TomlFormat("mcp_servers"),
        user_files=lambda m: (m.folder("CODEX_HOME", ".codex") / "config.toml",),
        signs=lambda m: (m.folder("CODEX_HOME", ".codex"),),
        programs=("codex",),
        project_file=".codex/config.toml",
        http=HttpShape("url"),
        private=True,
        next_step="start a new session of Codex",
        check="`codex mcp list`, or /mcp in a session",
    ),
    Client(
        key="gemini",
        title="Gemini CLI",
        aliases=("gemini-cli",),
        documentation="https://geminicli.com/docs/tools/mcp-server",
        sources=("https://geminicli.com/docs/reference/configuration",),
        looked_up=LOOKED_UP,
        format=JsonFormat("mcpServers", strict=False),
        user_files=lambda m: (_gemini(m) / "settings.json",),
        signs=lambda m: (_gemini(m),),
        programs=("gemini",),
        project_file=".gemini/settings.json",
        http=HttpShape("httpUrl"),
        private=True,
        next_step="restart Gemini CLI",
        check="`gemini mcp list`, or /mcp in a session",
    ),
    Client(
        key="cline",
        title="Cline",
        documentation="https://docs.cline.bot/mcp/mcp-overview",
        sources=("https://docs.cline.bot/cli/configuration",),
        looked_up=LOOKED_UP,
        format=JsonFormat("mcpServers", strict=True),
        user_files=_cline,
        signs=lambda m: (
            m.folder("CLINE_DIR", ".cline"),
            *(p.parent.parent for p in _cline(m)[1:]),
        ),
        programs=("cline",),
        private=True,
        next_step="nothing more to do, Cline notices the change",
        check="the MCP Servers icon, tab Configure",
    ),
    Client(
        key="copilot",
        title="Copilot CLI",
        aliases=("copilot-cli", "github-copilot"),
        documentation=(
            "https://docs.github.com/en/copilot/how-tos/copilot-cli/customize-copilot/add-mcp-servers"
        ),
        sources=("https://code.visualstudio.com/docs/agents/reference/mcp-configuration",),
        looked_up=LOOKED_UP,
        format=JsonFormat("mcpServers", strict=True),
        user_files=lambda m: (m.folder("COPILOT_HOME", ".copilot") / "mcp-config.json",),
        signs=lambda m: (m.folder("COPILOT_HOME", ".copilot"),),
        programs=("copilot",),
        project_file=".github/mcp.json",
        kind="local",
        extra={"tools": ["*"]},
        http=HttpShape("url", "http"),
        private=True,
        next_step="restart Copilot CLI",
        check="/mcp show in a session",
    ),
    Client(
        key="windsurf",
        title="Windsurf",
        aliases=("cascade", "devin-desktop"),
        documentation="https://docs.devin.ai/desktop/cascade/mcp",
        sources=("https://docs.windsurf.com/windsurf/cascade/mcp",),
        looked_up=LOOKED_UP,
        format=JsonFormat("mcpServers", strict=True),
        user_files=lambda m: (_windsurf(m) / "mcp_config.json",),
        signs=lambda m: (_windsurf(m),),
        programs=("windsurf",),
        http=HttpShape("serverUrl"),
        next_step="press the refresh button in Cascade's list of MCP servers",
        check="Cascade's list of MCP servers",
    ),
)


def client_named(name: str) -> Client:
    """A client by its name, an alias, or its title.

    Raises:
        ConnectError: there is none; the hint lists all.
    """
    found = find_client(name)
    if found is None:
        raise ConnectError(
            f"no client is called {name!r}",
            hint="choose from " + ", ".join(client.key for client in CLIENTS),
        )
    return found


def find_client(name: str) -> Client | None:
    """A client by its name, an alias, or its title; None when there is none."""
    wanted = name.strip().lower().replace(" ", "-").replace("_", "-")
    for client in CLIENTS:
        titles = (client.key, *client.aliases, client.title.lower().replace(" ", "-"))
        if wanted in titles:
            return client
    return None
