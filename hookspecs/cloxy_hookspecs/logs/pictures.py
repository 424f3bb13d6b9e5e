"""What stands for pictures and other files that were attached to a message.

The same picture has the same mark, whatever agent it was given to.
"""

import binascii
import hashlib
from pathlib import PurePosixPath, PureWindowsPath

NAME_LIMIT = 120
"""Characters of the longest name or type in a mark."""

_DIGITS = 12
_PATH_LIMIT = 2048
_BASE64 = ";base64"


def picture_mark(kind: str, data: bytes) -> str:
    """What stands for a picture whose bytes are there.

    Args:
        kind: what it is called, mostly its media type.
        data: its bytes, of which a digest is told.
    """
    return f"[image: {kind}, sha256 {hashlib.sha256(data).hexdigest()[:_DIGITS]}]"


def bytes_of_base64(text: str) -> bytes:
    """The bytes that a text stands for; what is no base64 stands for itself."""
    raw = text.encode("utf-8", "replace")
    try:
        return binascii.a2b_base64(raw)
    except binascii.Error:
        return raw


def bytes_of_address(address: str) -> bytes:
    """The bytes in a `data:` address (RFC 2397); what is no base64 stands for itself."""
    head, _comma, body = address.partition(",")
    return bytes_of_base64(body) if head.endswith(_BASE64) else body.encode("utf-8", "replace")


def name_in_path(path: str) -> str:
    r"""The last part of a path of any system, `/` and `\\` alike, fit for a mark; or empty."""
    last = PureWindowsPath(PurePosixPath(path[-_PATH_LIMIT:]).name).name
    return "".join(each for each in last if each.isprintable())[:NAME_LIMIT]
