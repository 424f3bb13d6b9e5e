"""What stands for a picture that was attached to what a person wrote."""

import re
from urllib.parse import unquote

from cloxy_hookspecs.logs.json_values import Record, list_of, record_of
from cloxy_hookspecs.logs.pictures import NAME_LIMIT, bytes_of_base64, picture_mark

_DATA = re.compile(r"data:([A-Za-z0-9.+/-]{1,80})?(;base64)?,")
_SHOWN = 50


def pictures_of(record: Record) -> list[str]:
    """A placeholder for each picture of a message."""
    return [_mark(each) for each in list_of(record.get("images"))[:_SHOWN]]


def picture_of_block(block: Record) -> str:
    """A placeholder for a block that is a picture."""
    source = record_of(block.get("source")) or block
    media = source.get("media_type", source.get("mediaType"))
    data = source.get("data")
    if not isinstance(data, str):
        return _mark(source.get("url"))
    return _mark(f"data:{media if isinstance(media, str) else ''};base64,{data}")


def _mark(address: object) -> str:
    if not isinstance(address, str):
        return "[image: unknown]"
    data = _DATA.match(address)
    if data is None:
        name = re.split(r"[\\/]", unquote(address.partition("?")[0]))[-1][:NAME_LIMIT]
        name = " ".join(name.replace("[", "(").replace("]", ")").split())
        return f"[image: {name}]" if name and name.isprintable() else "[image: unknown]"
    body = address[data.end() :]
    raw = bytes_of_base64(body) if data[2] else body.encode("utf-8", "replace")
    return picture_mark(data[1] or "unknown type", raw)
