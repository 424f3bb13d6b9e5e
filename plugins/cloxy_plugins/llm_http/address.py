"""Where a server of models is."""

import re
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address
from typing import Final
from urllib.parse import urlsplit

from cloxy_hookspecs import ModelChoice

PORTS: Final = {"http": 80, "https": 443}
API_PATH: Final = "/v1"
_NAME = re.compile(r"[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?\.?")
_PATH = re.compile(r"[A-Za-z0-9._~!$&'()*+,;=:@%/-]*")


@dataclass(frozen=True, slots=True)
class Address:
    """An address of an API, taken apart.

    Attributes:
        scheme: `http` or `https`.
        host: name or IP address, lower case, without brackets.
        port: the port.
        path: what comes before the API's own paths, without a slash at its end: `/v1`.
    """

    scheme: str
    host: str
    port: int
    path: str

    @property
    def place(self) -> str:
        """Host and port, as a URL and the header have them."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def origin(self) -> str:
        """The server, without a path."""
        return f"{self.scheme}://{self.place}"

    @property
    def root(self) -> str:
        """Path under which a server has what is not of the OpenAI API."""
        return self.path.removesuffix(API_PATH)

    def __str__(self) -> str:
        return self.origin + self.path


def parse_address(text: str) -> Address:
    """Read a base URL; one without a path means the usual `/v1`.

    Raises:
        ValueError: it is none; says what is wanted.
    """
    text = text.strip()
    if "://" not in text:
        raise ValueError("an address with its scheme, as in http://localhost:11434/v1")
    parts = urlsplit(text)
    if parts.scheme not in PORTS:
        raise ValueError("an address that begins with http:// or https://")
    if "@" in parts.netloc:
        raise ValueError("an address without a name and password; a key goes in CLOXY_LLM_API_KEY")
    if parts.query or parts.fragment:
        raise ValueError("an address without ? and #")
    path = re.sub(r"/+$", "", parts.path)
    path = path.removesuffix("/chat/completions") or API_PATH
    if not _PATH.fullmatch(path):
        raise ValueError("an address without blanks and unusual characters")
    return Address(parts.scheme, _host(parts.hostname), parts.port or PORTS[parts.scheme], path)


def _host(host: str | None) -> str:
    if host and ":" in host:
        try:
            return str(IPv6Address(host))
        except ValueError as error:
            raise ValueError("an address whose host is a name or an IP address") from error
    if not host or not _NAME.fullmatch(host):
        raise ValueError("an address whose host is a name (in ASCII: xn--…) or an IP address")
    return host


def is_loopback(address: str) -> bool:
    """Whether what is sent to this IP address stays on the machine."""
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(found, IPv6Address):
        found = found.ipv4_mapped or found
    return found.is_loopback


def seems_local(host: str) -> bool:
    """Whether a host is this machine, as far as can be told without looking its name up."""
    return host.rstrip(".") == "localhost" or is_loopback(host)


def is_remote(host: str) -> bool:
    """Whether a host is an IP address of another machine; a name may be either."""
    try:
        ip_address(host)
    except ValueError:
        return False
    return not is_loopback(host)


@dataclass(frozen=True, slots=True)
class Target:
    """What is asked.

    Attributes:
        address: the server.
        model: which of its models; empty for its first.
        by: where that was set, for people.
    """

    address: Address
    model: str
    by: str


def target(base_url: Address | None, model: str, choice: ModelChoice | None) -> Target | None:
    """What is asked: what the settings say, else what `cloxy init` set up; None when neither does.

    Raises:
        ValueError: the address that was set up is none.
    """
    if base_url is not None:
        return Target(base_url, model, "CLOXY_LLM_BASE_URL")
    if choice is None or choice.format != "http":
        return None
    return Target(parse_address(choice.source), model or choice.model or "", "cloxy init")
