"""Who can reach the server: whether it asks for a key, and how it listens."""

from cloxy_core.core_settings import API_KEY, HOST, server_key
from cloxy_core.kernel.settings import Settings
from cloxy_core.services.doctor.findings import Examined, Problem
from cloxy_core.services.exposure import MINIMUM_KEY_LENGTH, why_unfit
from cloxy_hookspecs import ConfigError

PART = "access"


def examine_access(settings: Settings) -> Examined:
    """Whether a key is asked for, and whether it is good enough for where the server listens."""
    try:
        key = server_key(settings)
    except ConfigError as error:
        unusable = Problem(
            name="key-unusable", severity="error", message=error.message, remedy=error.hint or ""
        )
        return Examined(PART, "", (unusable,))
    host = settings[HOST]
    unfit = why_unfit(host, key)
    if unfit:
        refused = Problem(
            name="exposed",
            severity="error",
            message=f"the server will not start: it would listen on {host!r} {unfit}",
            remedy="run `cloxy key create`, or set CLOXY_HOST=127.0.0.1",
        )
        return Examined(PART, "", (refused,))
    if key is None:
        return Examined(PART, f"listens on {host}; no key", (_no_key(),))
    source = "a setting" if settings[API_KEY] else "server.key"
    short = () if len(key) >= MINIMUM_KEY_LENGTH else (_short(),)
    return Examined(PART, f"listens on {host}; the key of {source} is asked for", short)


def _no_key() -> Problem:
    return Problem(
        name="no-key",
        severity="note",
        message="no key is set: while the server runs, every account of this machine and every "
        "program in it can read and change the memory over the network port",
        remedy="on a machine that others use too, run `cloxy key create` and restart the server; "
        "commands and editors of this account find the key by themselves",
    )


def _short() -> Problem:
    return Problem(
        name="short-key",
        severity="warning",
        message=f"the key is shorter than {MINIMUM_KEY_LENGTH} characters, and can be guessed",
        remedy="run `cloxy key create` and remove CLOXY_API_KEY, or set a longer one",
    )
