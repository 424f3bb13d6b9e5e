"""The core's own settings, and what follows directly from them."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cloxy_core import __version__
from cloxy_core.identity import KEY_FILE, read_key
from cloxy_core.kernel.config_file import FILE_NAME, read_config
from cloxy_core.kernel.parsing import (
    Amount,
    HostList,
    OneOf,
    PairList,
    PathList,
    Seconds,
    TextList,
    WholeNumber,
    parse_flag,
    parse_header,
    parse_host,
    parse_path,
    parse_secret,
    parse_text,
    parse_url,
)
from cloxy_core.kernel.plugin_state import PluginChoice
from cloxy_core.kernel.registry import RecordSwitches
from cloxy_core.kernel.settings import Settings
from cloxy_hookspecs.errors import ConfigError
from cloxy_hookspecs.providers.vectors import (
    EMBED_MODEL,
    EMBED_PASSAGE_PREFIX,
    EMBED_QUERY_PREFIX,
)
from cloxy_hookspecs.types.settings import Setting

MODEL_FILE = "config.json"

DATA_DIR: Setting[Path | None] = Setting(
    name="data.dir",
    env="CLOXY_DATA_DIR",
    default=None,
    parse=parse_path,
    help="The data directory; by default ~/.cloxy. Cannot be set in the file that lies in it.",
)
HOST: Setting[str] = Setting(
    name="server.host",
    env="CLOXY_HOST",
    default="127.0.0.1",
    parse=parse_host,
    help="Address to listen on. Beyond this machine a key is needed.",
)
PORT: Setting[int] = Setting(
    name="server.port",
    env="CLOXY_PORT",
    default=9055,
    parse=WholeNumber(0, 65_535),
    help="Port to listen on; 0 takes a free one.",
)
URL: Setting[str | None] = Setting(
    name="server.url",
    env="CLOXY_URL",
    default=None,
    parse=parse_url,
    help="Where commands look for the server; by default this machine at server.port.",
)
API_KEY: Setting[str | None] = Setting(
    name="server.api_key",
    env="CLOXY_API_KEY",
    default=None,
    parse=parse_secret,
    help="Key that every request must bring; empty for none.",
    secret=True,
)
VERIFY_SERVER: Setting[bool] = Setting(
    name="server.verify_server",
    env="CLOXY_VERIFY_SERVER",
    default=True,
    parse=parse_flag,
    help="Whether commands make sure that a server here is ours; off for a tunnel or a container.",
)
AUTOSTART: Setting[bool] = Setting(
    name="server.autostart",
    env="CLOXY_AUTOSTART",
    default=True,
    parse=parse_flag,
    help="Whether `cloxy mcp` starts the server in the background when none runs here.",
)
ALLOWED_HOSTS: Setting[tuple[str, ...]] = Setting(
    name="server.allowed_hosts",
    env="CLOXY_ALLOWED_HOSTS",
    default=(),
    parse=HostList(),
    help="Further names that the server answers to: name or name:port, separated by commas.",
)
WATCH: Setting[bool] = Setting(
    name="watch.enabled",
    env="CLOXY_WATCH",
    default=True,
    parse=parse_flag,
    help="Whether session logs are read while the server runs.",
    empty_is_value=True,
)
WATCH_DIRS: Setting[tuple[Path, ...]] = Setting(
    name="watch.dirs",
    env="CLOXY_WATCH_DIRS",
    default=(),
    parse=PathList(),
    help="Folders with session logs; by default where each agent writes them.",
)
WATCH_INTERVAL: Setting[float] = Setting(
    name="watch.interval",
    env="CLOXY_WATCH_INTERVAL",
    default=5.0,
    parse=Seconds(),
    help="Least seconds between two looks at all folders; events wake the watcher in between.",
)
WATCH_SWEEP: Setting[float] = Setting(
    name="watch.sweep",
    default=60.0,
    parse=Seconds(),
    help="Most seconds between two looks at all folders, however much a look costs.",
)
WATCH_EVENTS: Setting[bool] = Setting(
    name="watch.events",
    env="CLOXY_WATCH_EVENTS",
    default=True,
    parse=parse_flag,
    help="Whether file events wake the watcher; off where a file system gives none, or too many.",
)
FUSER: Setting[str] = Setting(
    name="recall.fuser",
    default="weighted",
    parse=parse_text,
    help="What makes one list of the results of several channels.",
)
RERANK: Setting[bool] = Setting(
    name="recall.rerank",
    env="CLOXY_RERANK",
    default=False,
    parse=parse_flag,
    help="Whether a reranker reads the best results again, where the asker does not say.",
    empty_is_value=True,
)
RERANKER: Setting[str] = Setting(
    name="recall.reranker",
    default="cross-encoder",
    parse=parse_text,
    help="What reads the best results again when that is wanted; none for nothing.",
)
EMBED_PROVIDER: Setting[str] = Setting(
    name="embed.provider",
    default="minilm",
    parse=parse_text,
    help="What turns text into vectors; none for keyword search alone.",
)
EMBED_DIM: Setting[int] = Setting(
    name="embed.dim",
    env="CLOXY_EMBED_DIM",
    default=0,
    parse=WholeNumber(0, 65_536),
    help="Length of a vector, to be checked against the model's; 0 for no check.",
)
EMBED_ON_BATTERY: Setting[bool] = Setting(
    name="embed.on_battery",
    default=False,
    parse=parse_flag,
    help="Whether passages are embedded while the machine runs on battery.",
)
EMBED_MAX_LOAD: Setting[float] = Setting(
    name="embed.max_load",
    default=0.0,
    parse=Amount(1_000.0),
    help="Load average a core above which no passage is embedded; 0 for no limit.",
)
PLUGINS_DISABLED: Setting[tuple[str, ...]] = Setting(
    name="plugins.disabled",
    env="CLOXY_PLUGINS_DISABLED",
    default=(),
    parse=TextList(),
    help="Plugins that are not loaded.",
)
PLUGINS_ONLY: Setting[tuple[str, ...]] = Setting(
    name="plugins.only",
    env="CLOXY_PLUGINS",
    default=(),
    parse=TextList(),
    help="The only plugins that are loaded, beside the required ones; empty for all.",
)
PLUGINS_PIN: Setting[Mapping[str, str]] = Setting(
    name="plugins.pin",
    default={},
    parse=PairList(),
    help="name=package, for a name that several packages offer.",
)
PLUGINS_DIR: Setting[Path | None] = Setting(
    name="plugins.dir",
    env="CLOXY_PLUGINS_DIR",
    default=None,
    parse=parse_path,
    help="Folder of one-file plugins, which run with your rights; by default none.",
)
PROVIDERS_DISABLED: Setting[tuple[str, ...]] = Setting(
    name="providers.disabled",
    default=(),
    parse=TextList(),
    help="Single parts of plugins that are off: name, or seat.name.",
)
PROVIDERS_PREFER: Setting[Mapping[str, str]] = Setting(
    name="providers.prefer",
    default={},
    parse=PairList(),
    help="key=name, where parts of several plugins have the same key.",
)
USER_AGENT: Setting[str] = Setting(
    name="web.user_agent",
    env="CLOXY_USER_AGENT",
    default=f"Cloxy/{__version__} (reads single pages that a person asks for)",
    parse=parse_header,
    help="What servers of pages are told about who asks.",
)
FETCH_DEADLINE: Setting[float] = Setting(
    name="web.deadline",
    env="CLOXY_FETCH_DEADLINE",
    default=60.0,
    parse=Seconds(),
    help="Seconds that reading a page may take, from the lookup of its name to its last byte.",
)
ROBOTS: Setting[bool] = Setting(
    name="web.robots",
    env="CLOXY_ROBOTS",
    default=False,
    parse=parse_flag,
    help="Whether robots.txt is asked before a page is read; off, since a person asks for each.",
    empty_is_value=True,
)
MCP_TOOLSETS: Setting[tuple[str, ...]] = Setting(
    name="mcp.toolsets",
    env="CLOXY_MCP_TOOLSETS",
    default=(),
    parse=TextList(),
    help="Toolsets that `cloxy mcp` asks the server for; empty for the server's own choice.",
)
LLM_CHAT: Setting[str] = Setting(
    name="llm.chat",
    env="CLOXY_LLM_CHAT",
    default="auto",
    parse=parse_text,
    help="Back-end that answers in chats: its name; auto for what is set up; none for nothing.",
)
LLM_EXTRACT: Setting[str] = Setting(
    name="llm.extract",
    default="none",
    parse=parse_text,
    help="Back-end of a language model that finds facts in what is kept; none for nothing.",
)
LLM_REFLECT: Setting[str] = Setting(
    name="llm.reflect",
    default="none",
    parse=parse_text,
    help="Back-end of a language model that sums up what is kept; none for nothing.",
)
LLM_RERANK: Setting[str] = Setting(
    name="llm.rerank",
    default="none",
    parse=parse_text,
    help="Back-end of a language model that reads the best results again; none for nothing.",
)
LLM_CONFIG: Setting[Path | None] = Setting(
    name="llm.config",
    env="CLOXY_CONFIG",
    default=None,
    parse=parse_path,
    help="File in which `cloxy init` writes the model; by default <data>/config.json.",
)
LLM_EAGER: Setting[bool] = Setting(
    name="llm.eager",
    env="CLOXY_EAGER_LLM",
    default=False,
    parse=parse_flag,
    help="Whether the model is loaded when the server starts, not at the first request.",
    empty_is_value=True,
)
LLM_IDLE: Setting[float] = Setting(
    name="llm.idle",
    default=600.0,
    parse=Amount(31_536_000.0),
    help="Seconds without a request after which a model is unloaded; 0 for never.",
)
LLM_QUEUE: Setting[int] = Setting(
    name="llm.queue",
    default=4,
    parse=WholeNumber(0, 10_000),
    help="Requests that may wait for a model while it answers others.",
)
LLM_WAIT: Setting[float] = Setting(
    name="llm.wait",
    default=60.0,
    parse=Seconds(),
    help="Most seconds that a request waits for its turn.",
)
LLM_TIMEOUT: Setting[float] = Setting(
    name="llm.timeout",
    default=600.0,
    parse=Seconds(),
    help="Most seconds that one answer of a model may take.",
)
LLM_FIRST_PIECE: Setting[float] = Setting(
    name="llm.first_piece",
    default=300.0,
    parse=Seconds(),
    help="Most seconds until the first piece of an answer, loading the model included.",
)
LLM_THREADS: Setting[int] = Setting(
    name="llm.threads",
    default=0,
    parse=WholeNumber(0, 1_024),
    help="Processor threads of a model that runs here; 0 for all but one.",
)
LOG_LEVEL: Setting[str] = Setting(
    name="log.level",
    default="info",
    parse=OneOf(("debug", "info", "warning", "error")),
    help="How much is written to the log.",
)

CORE_SETTINGS: tuple[Setting[Any], ...] = (
    DATA_DIR,
    HOST,
    PORT,
    URL,
    API_KEY,
    VERIFY_SERVER,
    AUTOSTART,
    ALLOWED_HOSTS,
    WATCH,
    WATCH_DIRS,
    WATCH_INTERVAL,
    WATCH_SWEEP,
    WATCH_EVENTS,
    FUSER,
    RERANK,
    RERANKER,
    EMBED_PROVIDER,
    EMBED_MODEL,
    EMBED_QUERY_PREFIX,
    EMBED_PASSAGE_PREFIX,
    EMBED_DIM,
    EMBED_ON_BATTERY,
    EMBED_MAX_LOAD,
    PLUGINS_DISABLED,
    PLUGINS_ONLY,
    PLUGINS_PIN,
    PLUGINS_DIR,
    PROVIDERS_DISABLED,
    PROVIDERS_PREFER,
    USER_AGENT,
    FETCH_DEADLINE,
    ROBOTS,
    MCP_TOOLSETS,
    LLM_CHAT,
    LLM_EXTRACT,
    LLM_REFLECT,
    LLM_RERANK,
    LLM_CONFIG,
    LLM_EAGER,
    LLM_IDLE,
    LLM_QUEUE,
    LLM_WAIT,
    LLM_TIMEOUT,
    LLM_FIRST_PIECE,
    LLM_THREADS,
    LOG_LEVEL,
)


def load_settings(
    environment: Mapping[str, str], command_line: Mapping[str, str] | None = None
) -> Settings:
    """The core's settings from all layers, the file of the data directory included.

    Args:
        environment: environment variables.
        command_line: texts by dotted name; empty texts are not set.

    Raises:
        SettingError: the file cannot be read or is not TOML, or the data directory is unusable.
    """
    before = Settings((DATA_DIR,), environment=environment, command_line=command_line)
    return Settings(
        CORE_SETTINGS,
        file=read_config(data_directory(before) / FILE_NAME),
        environment=environment,
        command_line=command_line,
        not_in_file=(DATA_DIR.name,),
    )


def data_directory(settings: Settings) -> Path:
    """The data directory, absolute; it need not exist yet."""
    return settings[DATA_DIR] or parse_path("~/.cloxy")


def server_key(settings: Settings) -> str | None:
    """The key that requests must bring: the setting, else what `cloxy key create` wrote.

    Raises:
        ConfigError: there is a key file, and no usable key in it; an open server instead would be
            a surprise.
    """
    if settings[API_KEY]:
        return settings[API_KEY]
    directory = data_directory(settings)
    path = directory / KEY_FILE
    hint = "make a new one with `cloxy key create --force`, or remove it with `cloxy key remove`"
    try:
        key = read_key(directory)
        if key is not None:
            return parse_secret(key)
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror or error}", hint=hint) from error
    except ValueError as error:
        raise ConfigError(f"{path} holds no usable key; it wants {error}", hint=hint) from error
    if os.path.lexists(path):
        raise ConfigError(f"{path} is empty", hint=hint)
    return None


def plugin_choice(settings: Settings) -> PluginChoice:
    """Which plugins the settings ask for."""
    return PluginChoice.of(
        disabled=settings[PLUGINS_DISABLED],
        only=settings[PLUGINS_ONLY],
        pins=settings[PLUGINS_PIN],
    )


def record_switches(settings: Settings) -> RecordSwitches:
    """What the settings decide about single records of plugins."""
    return RecordSwitches(frozenset(settings[PROVIDERS_DISABLED]), settings[PROVIDERS_PREFER])
