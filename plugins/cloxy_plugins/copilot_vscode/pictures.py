"""What stands for a picture that was attached to a prompt."""

import binascii

from cloxy_hookspecs.logs.json_values import list_of, record_of
from cloxy_hookspecs.logs.pictures import NAME_LIMIT, picture_mark

_BYTE = 256


def pictures_of(request: dict[str, object]) -> list[str]:
    """A placeholder for each picture: its type and a digest where its bytes are there."""
    variables = list_of(record_of(request.get("variableData")).get("variables"))
    return [
        _mark(record_of(variable))
        for variable in variables
        if record_of(variable).get("kind") == "image" or record_of(variable).get("isImage") is True
    ]


def _mark(variable: dict[str, object]) -> str:
    data = _bytes_of(variable.get("value"))
    for key in ("mimeType", "name") if data else ("name", "mimeType"):
        name = variable.get(key)
        if isinstance(name, str) and name.strip() and name.isprintable():
            break
    else:
        name = "unknown"
    name = " ".join(name.replace("[", "(").replace("]", ")").split())[:NAME_LIMIT]
    if not data:
        return f"[image: {name}]"
    return picture_mark(name, data)


def _bytes_of(value: object) -> bytes | None:
    """The bytes of a value, in the forms in which JSON has had them."""
    if isinstance(value, dict):
        encoded = value.get("$base64", value.get("data"))
        if isinstance(encoded, str):
            return _decoded(encoded)
        numbers: list[object] = list_of(encoded) or list(value.values())
    else:
        numbers = list_of(value)
    found = [number for number in numbers if type(number) is int and 0 <= number < _BYTE]
    return bytes(found) if found and len(found) == len(numbers) else None


def _decoded(text: str) -> bytes | None:
    try:
        return binascii.a2b_base64(text.partition("base64,")[2] or text)
    except (binascii.Error, ValueError):
        return None
