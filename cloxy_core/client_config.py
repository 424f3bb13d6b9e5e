"""Where the server is, for its clients: environment, `client.env`, `config.toml`, defaults."""

import os
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import ClassVar, TypeVar
from urllib.parse import urlsplit

from cloxy_core.kernel.parsing import (
    TextList,
    WholeNumber,
    parse_flag,
    parse_host,
    parse_secret,
    parse_url,
)

T = TypeVar("T")

DEFAULT_HOST = "127.0.0.1"
DEFAULT_PORT = 9055
_FOREIGN_NAMES = frozenset({"FASTEMBED_CACHE_PATH", "HF_TOKEN"})
_ANY_ADDRESS = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - the reverse of binding
_COMMENT = re.compile(r"\s+#")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class ClientError(Exception):
    """What went wrong between a client and its server.

    It is not a `CloxyError` because clients load none of the contract, which is slow to import;
    it has the same parts.

    Attributes:
        message: for people.
        code: stable machine-readable name; the server's own where it sent one.
        hint: what to do, if anything is known.
        status: HTTP status of the answer; None when there was none.
        body: the whole error body; None when there was none.
        exit_code: the exit code at the command line.
    """

    exit_code: ClassVar[int] = 1

    def __init__(
        self,
        message: str,
        *,
        code: str,
        hint: str | None = None,
        status: int | None = None,
        body: Mapping[str, object] | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.hint = hint
        self.status = status
        self.body = body


@dataclass(frozen=True, slots=True)
class ClientConfig:
    """An address, the key for it, and what is expected of who answers there.

    Attributes:
        url: base address without a slash at its end.
        api_key: key to send; None sends none, or that of the data directory to its own server.
        warnings: things about the configuration that a person should see.
        data_dir: data directory whose server must answer, which is asked to prove it; None where
            that cannot be asked: on another machine, or where it was switched off.
        autostart: whether an editor may start the server when none answers.
        toolsets: toolsets that an editor sees; empty for the server's own choice.
    """

    url: str
    api_key: str | None = None
    warnings: tuple[str, ...] = ()
    data_dir: Path | None = None
    autostart: bool = False
    toolsets: tuple[str, ...] = ()


def data_directory(environ: Mapping[str, str]) -> Path:
    """The data directory: CLOXY_DATA_DIR, or `~/.cloxy`.

    Raises:
        ClientError: the home directory cannot be determined.
    """
    try:
        return Path(environ.get("CLOXY_DATA_DIR") or "~/.cloxy").expanduser()
    except RuntimeError as error:
        raise ClientError(
            "the home directory is not known", code="config", hint="set CLOXY_DATA_DIR"
        ) from error


def resolve_client(environ: Mapping[str, str], data_dir: Path) -> ClientConfig:
    """Find the server's address and key.

    The environment comes first, then `client.env`, then `[server]` of `config.toml`.

    Raises:
        ClientError: a value cannot be used; the message names where it was set.
    """
    merged, warnings = client_environment(environ, data_dir)
    config = read_config(data_dir)
    server = _table(config, "server")
    url = _value("URL", merged, server, parse_url) or _local_url(merged, server)
    is_ours = is_loopback(url) and _flag("VERIFY_SERVER", merged, server)
    return ClientConfig(
        url=url,
        api_key=_value("API_KEY", merged, server, parse_secret),
        warnings=warnings,
        data_dir=data_dir.absolute() if is_ours else None,
        # Behind a tunnel or before a container it is not for us to start a server.
        autostart=is_ours and _flag("AUTOSTART", merged, server),
        toolsets=_value("MCP_TOOLSETS", merged, _table(config, "mcp"), TextList(), "mcp.toolsets")
        or (),
    )


def resolve_local(
    environ: Mapping[str, str], data_dir: Path, host: str | None = None, port: int | None = None
) -> ClientConfig:
    """The address and key of the server that this machine runs, whatever CLOXY_URL says.

    Args:
        environ: environment variables.
        data_dir: data directory.
        host: address that the server is told to listen on, instead of the setting.
        port: port that the server is told to listen on, instead of the setting.

    Raises:
        ClientError: a value cannot be used; the message names where it was set.
    """
    given = {} if host is None else {"CLOXY_HOST": host}
    given |= {} if port is None else {"CLOXY_PORT": str(port)}
    merged, warnings = client_environment({**environ, **given}, data_dir)
    server = _table(read_config(data_dir), "server")
    return ClientConfig(
        url=_local_url(merged, server),
        api_key=_value("API_KEY", merged, server, parse_secret),
        warnings=warnings,
        data_dir=data_dir.absolute(),
    )


def is_loopback(url: str) -> bool:
    """Whether an address is this machine's own, whatever network it is in."""
    host = (urlsplit(url).hostname or "").removesuffix(".")
    if host == "localhost":
        return True
    try:
        address = ip_address(host)
    except ValueError:
        return False
    return (getattr(address, "ipv4_mapped", None) or address).is_loopback


def _table(config: Mapping[str, object], name: str) -> dict[str, object]:
    found = config.get(name)
    return found if isinstance(found, dict) else {}


def _flag(name: str, environ: Mapping[str, str], table: Mapping[str, object]) -> bool:
    """A setting of `[server]` that is on unless it was switched off."""
    found = _value(name, environ, table, parse_flag)
    return True if found is None else found


def read_config(data_dir: Path) -> dict[str, object]:
    """The contents of `config.toml`; empty when there is none.

    Raises:
        ClientError: the file cannot be read or is not TOML.
    """
    path = data_dir / "config.toml"
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise ClientError(f"{path} cannot be read: {error}", code="config") from error


def client_environment(
    environ: Mapping[str, str], data_dir: Path
) -> tuple[dict[str, str], tuple[str, ...]]:
    """The environment with `client.env` added below it, and warnings about that file.

    A variable that is already set, even to nothing, is never replaced.

    Raises:
        ClientError: the file exists and cannot be read.
    """
    path = data_dir / "client.env"
    try:
        text = path.read_text(encoding="utf-8-sig")
        mode = path.stat().st_mode
    except FileNotFoundError:
        return dict(environ), ()
    except (OSError, UnicodeDecodeError) as error:
        raise ClientError(f"{path} cannot be read: {error}", code="config") from error
    values, warnings = _parse_client_env(text, path)
    if os.name != "nt" and mode & 0o077:
        warnings.append(f"{path} can be read by other users; run `chmod 600 {path}`")
    return {**values, **environ}, tuple(warnings)


def _parse_client_env(text: str, path: Path) -> tuple[dict[str, str], list[str]]:
    values: dict[str, str] = {}
    warnings = []
    for number, raw in enumerate(text.splitlines(), start=1):
        line = raw.strip().removeprefix("export ").lstrip()
        if not line or line.startswith("#"):
            continue
        name, equals, value = line.partition("=")
        name = name.strip()
        if not equals or not _NAME.fullmatch(name):
            warnings.append(f"line {number} of {path} is not NAME=VALUE and was ignored")
        elif name.startswith("CLOXY_") or name in _FOREIGN_NAMES:
            values[name] = _unquoted(value.strip())
        else:
            warnings.append(f"{name} in {path} was ignored: only CLOXY_* variables belong there")
    return values, warnings


def _unquoted(value: str) -> str:
    """The value without its quotes, and without a comment behind it."""
    if value[:1] in {'"', "'"}:
        end = value.find(value[0], 1)
        rest = value[end + 1 :].strip()
        if end > 0 and (not rest or rest.startswith("#")):
            return value[1:end]
        return value
    return _COMMENT.split(value, maxsplit=1)[0]


def _local_url(environ: Mapping[str, str], server: Mapping[str, object]) -> str:
    host = _value("HOST", environ, server, parse_host) or DEFAULT_HOST
    port = _value("PORT", environ, server, WholeNumber(1, 65_535)) or DEFAULT_PORT
    address = _ANY_ADDRESS.get(host, host)
    return f"http://[{address}]:{port}" if ":" in address else f"http://{address}:{port}"


def _value(
    name: str,
    environ: Mapping[str, str],
    table: Mapping[str, object],
    parse: Callable[[str], T],
    setting: str | None = None,
) -> T | None:
    """A value from its variable, else from a table of the file; None when neither has one.

    Args:
        name: the variable's name without its prefix.
        environ: environment variables.
        table: the table of the file that the setting is in.
        parse: makes the value of its text.
        setting: dotted name in the file; by default `server` and the variable's.

    Raises:
        ClientError: the value cannot be used.
    """
    variable = f"CLOXY_{name}"
    place, given = variable, environ.get(variable)
    if not given:
        section, _, key = (setting or f"server.{name.lower()}").partition(".")
        place, given = f"{key} under [{section}] in config.toml", _as_text(table.get(key), parse)
    if not given:
        return None
    try:
        return parse(given)
    except ValueError as error:
        shown = "" if name == "API_KEY" else f" {given!r}"
        raise ClientError(
            f"{place} has a value that cannot be used{shown}; it wants {error}", code="setting"
        ) from error


def _as_text(found: object, parse: object) -> str:
    """A value of the file as a variable would have it."""
    separator = getattr(parse, "separator", None)
    if isinstance(found, list) and isinstance(separator, str):
        return separator.join(map(str, found))
    return found if isinstance(found, str) else "" if found is None else repr(found)
