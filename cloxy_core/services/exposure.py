"""When the server may listen beyond this machine."""

from ipaddress import ip_address

from cloxy_hookspecs import ExposureError

MINIMUM_KEY_LENGTH = 16
_MINIMUM_DISTINCT = 8
_MINIMUM_REMAINDER = 8
_KEYBOARD_RUNS = (
    "0123456789" * 4,
    "0123456789abcdef" * 3,
    "abcdefghijklmnopqrstuvwxyz0123456789",
    "qwertyuiopasdfghjklzxcvbnm",
    "1234567890qwertyuiopasdfghjklzxcvbnm",
)
# Longest first, so that a word inside a longer one does not leave scraps of it behind.
_SAMPLE_WORDS = (
    "placeholder",
    "production",
    "generated",
    "changeme",
    "password",
    "replace",
    "example",
    "default",
    "testing",
    "change",
    "random",
    "secret",
    "sample",
    "string",
    "insert",
    "please",
    "server",
    "admin",
    "cloxy",
    "local",
    "super",
    "token",
    "value",
    "goes",
    "here",
    "long",
    "some",
    "test",
    "this",
    "with",
    "your",
    "api",
    "key",
    "put",
    "the",
    "me",
    "my",
    "to",
)
_HOW = (
    "make one with `cloxy key create`, or set CLOXY_API_KEY to at least 16 random characters; "
    "or set CLOXY_HOST=127.0.0.1 to stay on this machine"
)


def is_loopback(host: str) -> bool:
    """Tell whether an address to listen on is reachable from this machine only.

    Anything that is not plainly loopback counts as exposed: an empty host means every
    interface, and a name other than `localhost` may resolve to anything.

    Args:
        host: Address or name as configured; an IPv6 address may be in brackets.
    """
    if host.lower() == "localhost":
        return True
    try:
        return ip_address(host.removeprefix("[").removesuffix("]")).is_loopback
    except ValueError:
        return False


def is_sample_key(key: str) -> bool:
    """Tell whether a key looks copied from an example or typed along the keyboard.

    Args:
        key: The key as configured.
    """
    plain = "".join(character for character in key.lower() if character.isalnum())
    if len(set(plain)) < _MINIMUM_DISTINCT:
        return True
    remainder = plain
    for word in _SAMPLE_WORDS:
        remainder = remainder.replace(word, "")
    is_run = any(remainder in run for run in _KEYBOARD_RUNS)
    return is_run or len(remainder) < _MINIMUM_REMAINDER


def check_exposure(host: str, api_key: str | None) -> None:
    """Refuse to listen beyond this machine without a key worth the name.

    Args:
        host: Address or name to listen on.
        api_key: The configured key, or None.

    Raises:
        ExposureError: The address is not loopback and the key is missing, shorter than
            16 characters, or a well-known sample. The message never contains the key.
    """
    problem = why_unfit(host, api_key)
    if problem:
        raise ExposureError(f"refusing to listen on {host!r} {problem}", hint=_HOW)


def why_unfit(host: str, api_key: str | None) -> str | None:
    """What is wrong with a key for an address, in words that follow the address; None if nothing.

    Args:
        host: Address or name to listen on.
        api_key: The configured key, or None.
    """
    if is_loopback(host):
        return None
    if not api_key:
        return "without a key"
    if len(api_key) < MINIMUM_KEY_LENGTH:
        return f"with a key shorter than {MINIMUM_KEY_LENGTH} characters"
    return "with a sample key that anybody can guess" if is_sample_key(api_key) else None
